// SPDX-License-Identifier: BSD-3-Clause
#include "host/selection.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace tributary::host {
namespace {

constexpr std::uint32_t probe_blocks_max = 64;
// Long enough for some lost packets; a network that drops all of Canary's is not waited for longer,
// and the exchange of what was seen needs time, too.
constexpr auto probe_patience = std::chrono::seconds(5);
constexpr int probe_share = 2;  // of the time there is

constexpr auto advice =
    "put [switch.canary] into the configuration of a switch on the paths between the hosts, and "
    "see that the switches take UDP ports 17000 to 17255 and packets as large as the hosts' MTU "
    "(TRIBUTARY_MTU), and that none of them has a [[switch.canary.job]] that leaves out a port of "
    "this job ('tributaryctl drops': canary_not_allowed)";

constexpr auto tree_advice =
    "see that TRIBUTARY_JOB and TRIBUTARY_TREES are those of 'tributaryctl fabric show', that "
    "every "
    "rank is behind its own port of the trees, and that the switches take packets as large as the "
    "hosts' MTU (TRIBUTARY_MTU)";

constexpr auto netreduce_advice =
    "see that the switch between the ranks has a [[switch.netreduce.ring]] with this `id`, the "
    "same "
    "`window`, `message_packets` and `mtu`, and as `members` the addresses of the ranks in their "
    "order ('tributaryctl drops': netreduce_...)";

// An allreduce of so many bytes; of 0, a barrier.
Result<void> reduce(Runner& runner, std::size_t bytes, Time until) {
  std::vector<std::byte> vector(bytes);
  Call call;
  call.collective = bytes == 0 ? Collective::barrier : Collective::allreduce;
  call.buffers = {vector.data(), vector.data(), vector.size(), wire::ElementType::i8,
                  wire::Operator::sum};
  return runner.run(call, until);
}

// The vectors, in bytes, one after the other.
using Probe = std::vector<std::size_t>;

Result<void> run(const Probe& probe, Runner& runner, Time until) {
  const auto now = Clock::now();
  const auto patience = std::min<Duration>(probe_patience, (until - now) / probe_share);
  Result<void> done;
  for (auto bytes = probe.begin(); bytes != probe.end() && done; ++bytes) {
    done = reduce(runner, *bytes, now + patience);
  }
  return done;
}

std::string who(const CommunicatorOptions& options, std::uint32_t job) {
  return "job " + std::to_string(job) + ", " + std::to_string(options.world_size) + " ranks: ";
}

std::string of(std::uint32_t some, std::uint32_t all) {
  return std::to_string(some) + " of " + std::to_string(all) + " ranks";
}

Result<Choice> without_switches(const CommunicatorOptions& options, const std::string& start,
                                const std::string& why) {
  if (options.fallback == Fallback::error) {
    return fail(Error::Code::network,
                start + why + ", and the fallback to the hosts is switched off; " + advice +
                    ", or allow the fallback "
                    "(TRIBUTARY_FALLBACK=allow)");
  }
  if (options.algorithm == Algorithm::canary) {
    return Choice{
        Algorithm::canary,
        start + "canary without switches, the leaders reduce alone: " + why + "; " + advice, false};
  }
  return Choice{Algorithm::ring, start + "ring, the hosts reduce alone: " + why + "; " + advice,
                false};
}

// Reduces vectors, and tells each other over the ring what came of it and what was seen.
template <typename Seen>
Result<Observation> look(Runner& runner, Ring& ring, const Probe& probe, Time until, Seen seen) {
  // Over a network that loses packets some ranks meet seconds later than others.
  if (auto together = ring.barrier(until); !together) {
    return tl::make_unexpected(together.error());
  }
  const auto probed = run(probe, runner, until);
  std::array<std::int64_t, 2> told{probed ? 0 : 1, seen() ? 1 : 0};
  auto* const bytes = std::as_writable_bytes(std::span(told)).data();
  const Buffers buffers{bytes, bytes, told.size(), wire::ElementType::i64, wire::Operator::sum};
  if (auto exchanged = ring.allreduce(buffers, until); !exchanged) {
    return tl::make_unexpected(exchanged.error());
  }
  Observation observation;
  observation.ranks = runner.job().world_size();
  observation.failed = static_cast<std::uint32_t>(told[0]);
  observation.summed = static_cast<std::uint32_t>(told[1]);
  observation.reason = probed ? "" : probed.error().message;
  return observation;
}

}  // namespace

Result<Observation> observe(const CanaryCollectives& machine, Driver& driver, Ring& ring,
                            Time until) {
  const auto& job = driver.job();
  const auto blocks = std::size_t{std::min(job.world_size(), probe_blocks_max)};
  return look(driver, ring, {blocks * job.payload_bytes}, until, [&] {
    return driver.with_machine([&] { return machine.statistics().switch_sums_seen != 0; });
  });
}

Result<Observation> observe_trees(const PanamaCollectives& machine, Driver& driver, Ring& ring,
                                  Time until) {
  const auto trees = machine.plan().trees.size();
  return look(driver, ring, {trees * driver.job().payload_bytes}, until, [] { return true; });
}

Result<Observation> observe_netreduce(const NetReducePlan& plan, Runner& runner, Ring& ring,
                                      Time until) {
  return look(runner, ring, {0, plan.element_bytes()}, until, [] { return true; });
}

Result<Choice> choose(const CommunicatorOptions& options, std::uint32_t job,
                      const Observation& observation) {
  const auto start = who(options, job);
  if (observation.failed != 0) {
    auto why = "Canary's packets do not pass for " + of(observation.failed, observation.ranks);
    why += observation.reason.empty() ? "" : " (" + observation.reason + ")";
    if (options.algorithm == Algorithm::canary && options.fallback == Fallback::allow) {
      return fail(Error::Code::network, start + why + "; " + advice +
                                            ", or let the ring be used "
                                            "(TRIBUTARY_ALGORITHM=auto)");
    }
    return without_switches(options, start, why);
  }
  if (observation.summed == 0) {
    return without_switches(options, start, "no switch between the ranks aggregates");
  }
  return Choice{Algorithm::canary,
                start + "canary, switches reduce on the way (seen by " +
                    of(observation.summed, observation.ranks) + ")",
                true};
}

Result<Choice> choose_trees(const CommunicatorOptions& options, const PanamaCollectives& machine,
                            const Observation& observation) {
  const auto start = who(options, machine.job().id);
  const auto& plan = machine.plan();
  if (observation.failed != 0) {
    auto why = "the aggregation trees do not answer " + of(observation.failed, observation.ranks);
    why += observation.reason.empty() ? "" : " (" + observation.reason + ")";
    if (options.fallback == Fallback::error) {
      return fail(Error::Code::network,
                  start + why + ", and the fallback to the hosts is switched off; " + tree_advice);
    }
    return Choice{Algorithm::ring,
                  start + "ring, the hosts reduce alone: " + why + "; " + tree_advice, false};
  }
  auto notice = start + "panama over " + std::to_string(plan.trees.size()) +
                (plan.trees.size() == 1 ? " tree" : " trees");
  notice += plan.congestion_control ? "" : ", without congestion control";
  if (plan.quorum < observation.ranks) {
    notice += ", a sum needs " + of(plan.quorum, observation.ranks);
  }
  return Choice{Algorithm::panama, notice, true};
}

Result<Choice> choose_netreduce(const CommunicatorOptions& options, std::uint32_t job,
                                const Observation& observation, bool mixed) {
  const auto start = who(options, job);
  const auto which = "ring " + std::to_string(*options.netreduce_ring);
  if (observation.failed != 0) {
    auto why = which + " of NetReduce does not answer " + of(observation.failed, observation.ranks);
    why += observation.reason.empty() ? "" : " (" + observation.reason + ")";
    if (options.fallback == Fallback::error) {
      return fail(
          Error::Code::network,
          start + why + ", and the fallback to the hosts is switched off; " + netreduce_advice);
    }
    return Choice{Algorithm::ring,
                  start + "ring, the hosts reduce alone: " + why + "; " + netreduce_advice, false};
  }
  const auto how = options.rdma_device.empty() ? ", endpoints in software"
                                               : ", RDMA device " + options.rdma_device;
  const auto caution = mixed
                           ? "; the ring is mixed: endpoints in software miss 2^-16 of the errors "
                             "in packets of RDMA devices, so sums are not certain"
                           : "";
  return Choice{Algorithm::netreduce, start + "netreduce over " + which + how + caution, true};
}

Choice choose_ring(const CommunicatorOptions& options, std::uint32_t job) {
  return {options.algorithm,
          who(options, job) + std::string(name(options.algorithm)) +
              ", the hosts reduce alone: as asked for",
          false};
}

}  // namespace tributary::host
