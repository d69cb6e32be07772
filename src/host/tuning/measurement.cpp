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
#include "host/ring/sizes.h"
#include "host/text.h"
#include "host/tuning/parameters.h"
#include "host/tuning/plan.h"
#include "host/tuning/trials.h"

namespace tributary::host::tuning {
namespace {

using Times = std::array<std::int64_t, repetitions>;  // ns

// Over the ring, which works in any case.
template <std::size_t count>
Result<void> agree(Ring& ring, std::array<std::int64_t, count>& numbers, wire::Operator op,
                   Time until) {
  auto* const bytes = std::as_writable_bytes(std::span(numbers)).data();
  return ring.allreduce({bytes, bytes, count, wire::ElementType::i64, op}, until);
}

class Rank {
 public:
  Rank(Runner& carrier, Ring& ring, Time until) : carrier_(carrier), ring_(ring), until_(until) {}

  // How long a rank was in each repetition, in the mean of all ranks. Not the longest one: of ranks
  // that come one after the other the first one waits for the last one, which then is ahead as
  // much in the next call. So each call would count what is between them.
  Result<Times> times_of(const Trial& trial) {
    Times times{};
    ring_.double_up_to(trial.means == Means::doubling ? std::numeric_limits<std::size_t>::max()
                                                      : 0);
    vector_.resize(trial.bytes / sizeof(float));
    Result<void> done;
    for (auto time = times.begin(); time != times.end() && done; ++time) {
      const auto began = Clock::now();
      done = reduce(trial.means);
      *time = std::chrono::nanoseconds(Clock::now() - began).count();
    }
    ring_.double_up_to(doubling_bytes_max);
    return done.and_then([&] { return agree(ring_, times, wire::Operator::sum, until_); }).map([&] {
      for (auto& time : times) {
        time /= carrier_.job().world_size();
      }
      return times;
    });
  }

 private:
  Result<void> reduce(Means means) {
    auto* const bytes = std::as_writable_bytes(std::span(vector_)).data();
    Call call;
    call.buffers = {bytes, bytes, vector_.size(), wire::ElementType::f32, wire::Operator::sum};
    return means == Means::carrier ? carrier_.run(call, until_)
                                   : ring_.allreduce(call.buffers, until_);
  }

  Runner& carrier_;
  Ring& ring_;
  Time until_;
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

Result<Measurement> measure(Runner& carrier, Ring& ring, Duration allowed, Time until) {
  std::array<std::int64_t, 1> least{std::chrono::nanoseconds(allowed).count()};
  if (auto agreed = agree(ring, least, wire::Operator::min, until); !agreed) {
    return tl::make_unexpected(agreed.error());
  }
  Trials trials(carrier.job().world_size(), std::chrono::nanoseconds(least[0]));
  Rank rank(carrier, ring, until);
  while (const auto trial = trials.next()) {
    auto times = rank.times_of(*trial);
    if (!times) {
      return tl::make_unexpected(times.error());
    }
    std::ranges::sort(*times);
    const auto total = std::accumulate(times->begin(), times->end(), std::int64_t{0});
    trials.note(*trial, std::chrono::nanoseconds(total),
                std::chrono::nanoseconds((*times)[repetitions / 2]));
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
