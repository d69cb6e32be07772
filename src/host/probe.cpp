// SPDX-License-Identifier: BSD-3-Clause
#include "host/probe.h"

#include <algorithm>
#include <array>
#include <span>

namespace tributary::host {
namespace {

constexpr int probe_share = 2;
// A rank that gave up, and then waited for the others for more than this share of its patience,
// gave up before they began.
constexpr int late_share = 4;

Result<void> reduce(Runner& runner, std::size_t bytes, const Deadline& until) {
  std::vector<std::byte> vector(bytes);
  Call call;
  call.collective = bytes == 0 ? Collective::barrier : Collective::allreduce;
  call.buffers = {vector.data(), vector.data(), vector.size(), wire::ElementType::i8,
                  wire::Operator::sum};
  return runner.run(call, until);
}

// Adds up over all ranks what each of them tells.
Result<std::array<std::int64_t, 2>> sums_of(Ring& ring, std::array<std::int64_t, 2> told,
                                            const Deadline& until) {
  auto* const bytes = std::as_writable_bytes(std::span(told)).data();
  const Buffers buffers{bytes, bytes, told.size(), wire::ElementType::i64, wire::Operator::sum};
  return ring.allreduce(buffers, until).map([&] { return told; });
}

Result<Observation> observe_once(Runner& runner, Ring& ring, const Attempt& attempt,
                                 const Deadline& until, const Watch& watch) {
  const auto prepared = watch.prepare();
  if (auto together = ring.barrier(until); !together) {
    return tl::make_unexpected(together.error());
  }
  const auto tried =
      prepared ? attempt(runner, deadline_of_attempt(until, watch.patience)) : prepared;
  const auto ended = Clock::now();
  const auto told = sums_of(ring, {tried ? 0 : 1, watch.seen() ? 1 : 0}, until);
  if (!told) {
    return tl::make_unexpected(told.error());
  }
  Observation observation;
  observation.ranks = runner.job().world_size();
  observation.failed = static_cast<std::uint32_t>(told->at(0));
  observation.summed = static_cast<std::uint32_t>(told->at(1));
  observation.reason = tried ? "" : tried.error().message;
  if (observation.failed == 0) {
    return observation;
  }
  const bool missed = !tried && Clock::now() - ended > watch.patience / late_share;
  return sums_of(ring, {missed ? 1 : 0, 0}, until).map([&](const auto& sums) {
    observation.missed = static_cast<std::uint32_t>(sums[0]);
    return observation;
  });
}

}  // namespace

Result<void> reduce_all(const Probe& probe, Runner& runner, const Deadline& until) {
  Result<void> done;
  for (auto bytes = probe.begin(); bytes != probe.end() && done; ++bytes) {
    done = reduce(runner, *bytes, until);
  }
  return done;
}

Deadline deadline_of_attempt(const Deadline& until, Duration patience) {
  const auto now = Clock::now();
  return until.no_later_than(now + (until.due() - now) / probe_share).impatient(patience);
}

Result<Observation> observe(Runner& runner, Ring& ring, const Attempt& attempt,
                            const Deadline& until, const Watch& watch) {
  Result<Observation> observed;
  bool again = true;
  for (int tried = 0; tried < probe_attempts_max && again; ++tried) {
    observed = observe_once(runner, ring, attempt, until, watch);
    again = observed && observed->failed != 0 && observed->missed != 0;
  }
  return observed;
}

Result<Observation> look(Runner& runner, Ring& ring, const Probe& probe, const Deadline& until,
                         const Watch& watch) {
  const auto attempt = [&probe](Runner& with, const Deadline& latest) {
    return reduce_all(probe, with, latest);
  };
  return observe(runner, ring, attempt, until, watch);
}

std::string who(const CommunicatorOptions& options, std::uint32_t job) {
  return "job " + std::to_string(job) + ", " + std::to_string(options.world_size) + " ranks: ";
}

std::string of(std::uint32_t some, std::uint32_t all) {
  return std::to_string(some) + " of " + std::to_string(all) + " ranks";
}

std::string why_not(const std::string& what, const Observation& observation) {
  return what + " " + of(observation.failed, observation.ranks) +
         (observation.reason.empty() ? "" : " (" + observation.reason + ")");
}

std::string in_smaller_packets(std::uint32_t bytes) {
  return "; in packets of " + std::to_string(bytes) +
         " bytes, as larger ones do not pass: a link on the way has a smaller MTU than the hosts";
}

Result<Choice> fall_back(const CommunicatorOptions& options, const std::string& start,
                         const std::string& why, const std::string& advice) {
  if (options.fallback == Fallback::error) {
    return fail(Error::Code::network,
                start + why + ", and the fallback to the hosts is switched off; " + advice);
  }
  return Choice{"ring", start + "ring, the hosts reduce alone: " + why + "; " + advice, why};
}

Choice choose_ring(const CommunicatorOptions& options, std::uint32_t job) {
  return {options.algorithm,
          who(options, job) + options.algorithm + ", the hosts reduce alone: as asked for"};
}

}  // namespace tributary::host
