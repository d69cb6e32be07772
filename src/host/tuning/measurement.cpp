// SPDX-License-Identifier: BSD-3-Clause
#include "host/tuning/measurement.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <vector>

#include "host/call.h"
#include "host/probe.h"
#include "host/ring/sizes.h"
#include "host/text.h"
#include "host/tuning/parameters.h"
#include "host/tuning/plan.h"
#include "host/tuning/trials.h"

namespace tributary::host::tuning {
namespace {

using Times = std::array<std::int64_t, repetitions>;  // ns

// Has what came of a trial.
struct Outcome {
  Times times{};
  std::int64_t failed = 0;  // ranks for which the carrier has
};

// Reduces numbers over the ring, which works in any case.
template <std::size_t count>
Result<void> agree(Ring& ring, std::array<std::int64_t, count>& numbers, wire::Operator op,
                   const Deadline& until) {
  auto* const bytes = std::as_writable_bytes(std::span(numbers)).data();
  return ring.allreduce({bytes, bytes, count, wire::ElementType::i64, op}, until);
}

class Rank {
 public:
  Rank(Runner& carrier, Ring& ring, const Deadline& until)
      : carrier_(carrier), ring_(ring), until_(until) {}

  // Returns how long a rank was in each repetition, in the mean of all ranks. The longest time
  // would be wrong: of ranks that come one after the other the first one waits for the last one,
  // which then is ahead as much in the next call, so that each call would count what is between
  // them.
  //
  // A rank for which the carrier fails counts what is left of the trial, as the others may have
  // begun it. A ring that fails cannot be used any more: that is the end of everything.
  Result<Outcome> carry_out(const Trial& trial) {
    std::array<std::int64_t, repetitions + 1> told{};  // the times, and whether the carrier failed
    ring_.double_up_to(trial.means == Means::doubling ? std::numeric_limits<std::size_t>::max()
                                                      : 0);
    vector_.resize(trial.bytes / sizeof(float));
    const auto latest = deadline_of_attempt(until_);
    Result<void> done;
    for (std::size_t i = 0; i < repetitions && done; ++i) {
      const auto began = Clock::now();
      done = trial.means == Means::carrier ? carry(latest) : ring_.allreduce(sum().buffers, until_);
      told[i] = std::chrono::nanoseconds(Clock::now() - began).count();
    }
    ring_.double_up_to(doubling_bytes_max);
    if (!done) {
      return tl::make_unexpected(done.error());
    }
    told[repetitions] = failure_.empty() ? 0 : 1;
    return agree(ring_, told, wire::Operator::sum, until_).map([&] {
      Outcome outcome;
      std::transform(told.begin(), told.end() - 1, outcome.times.begin(),
                     [&](std::int64_t time) { return time / carrier_.job().world_size(); });
      outcome.failed = told[repetitions];
      return outcome;
    });
  }
  // Returns why this rank's carrier failed; empty: it did not.
  const std::string& failure() const { return failure_; }

 private:
  Call sum() {
    auto* const bytes = std::as_writable_bytes(std::span(vector_)).data();
    Call call;
    call.buffers = {bytes, bytes, vector_.size(), wire::ElementType::f32, wire::Operator::sum};
    return call;
  }
  Result<void> carry(const Deadline& latest) {
    if (!failure_.empty()) {
      carrier_.skip(sum());
    } else if (const auto done = carrier_.run(sum(), latest); !done) {
      failure_ = done.error().message;
    }
    return {};
  }

  Runner& carrier_;
  Ring& ring_;
  Deadline until_;
  std::string failure_;
  std::vector<float> vector_{};
};

}  // namespace

bool may_double(const CommunicatorOptions& options) {
  return Values(options.parameters, parameters).on("doubling");
}

Duration time_allowed(const CommunicatorOptions& options) {
  const Values values(options.parameters, parameters);
  return values.on("tune") && may_double(options) ? values.duration("tune_time") : Duration{};
}

Result<Measurement> measure(Runner& carrier, Ring& ring, Duration allowed, const Deadline& until) {
  std::array<std::int64_t, 1> least{std::chrono::nanoseconds(allowed).count()};
  if (auto agreed = agree(ring, least, wire::Operator::min, until); !agreed) {
    return tl::make_unexpected(agreed.error());
  }
  const auto world_size = carrier.job().world_size();
  Trials trials(world_size, std::chrono::nanoseconds(least[0]));
  Rank rank(carrier, ring, until);
  while (const auto trial = trials.next()) {
    auto outcome = rank.carry_out(*trial);
    if (!outcome) {
      return tl::make_unexpected(outcome.error());
    }
    auto& times = outcome->times;
    if (outcome->failed != 0) {
      const auto ranks = of(static_cast<std::uint32_t>(outcome->failed), world_size);
      return Measurement{
          {}, {}, "it failed for " + ranks + (rank.failure().empty() ? "" : ": " + rank.failure())};
    }
    std::ranges::sort(times);
    const auto total = std::accumulate(times.begin(), times.end(), std::int64_t{0});
    trials.note(*trial, std::chrono::nanoseconds(total),
                std::chrono::nanoseconds(times[repetitions / 2]));
  }
  return Measurement{trials.costs(), trials.taken()};
}

std::string Measurement::text(std::string_view carrier) const {
  std::map<std::size_t, std::string> by_size;
  for (const auto means : {Means::carrier, Means::doubling, Means::ring}) {
    for (const auto& [bytes, time] : costs.measured(means)) {
      auto& part = by_size[bytes];
      part += (part.empty() ? "" : ", ") + std::string(name(means, carrier)) + " " +
              milliseconds_text(time);
    }
  }
  std::string text;
  for (const auto& [bytes, part] : by_size) {
    text += (text.empty() ? "" : "; ") + size_text(bytes) + ": " + part;
  }
  return text;
}

}  // namespace tributary::host::tuning
