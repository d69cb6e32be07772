// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "packet/clock.h"
#include "traffic/histogram.h"
#include "traffic/rate.h"
#include "traffic/traffic.h"

namespace tributary::traffic {

struct TrialPlan {
  Rate rate;
  Duration warm_up{};
  Duration duration = std::chrono::seconds(10);
  std::uint64_t packets = 0;  // sent of its own accord, after which it ends early; 0: no limit
  // The trial waits so long, at most, for what is under way at the end.
  Duration drain = std::chrono::seconds(2);
};

// A TrialResult is what came of a trial.
struct TrialResult {
  Rate rate;           // the rate that was asked for
  double seconds = 0;  // of sending
  Counters counters;
  Histogram latency;
  std::vector<Figure> figures;
  std::uint64_t wrong = 0;  // since the start of the program
  bool cut_short = false;   // by stop()

  double packets_per_second() const { return per_second(counters.packets); }
  double line_bits_per_second() const { return 8 * per_second(counters.line_bytes); }
  double done_per_second() const { return per_second(counters.done); }
  std::uint64_t lost() const {
    return counters.begun > counters.done ? counters.begun - counters.done : 0;
  }
  double loss() const {
    return counters.begun == 0 ? 0
                               : static_cast<double>(lost()) / static_cast<double>(counters.begun);
  }
  // Returns the share of the rate that was reached; 1 without a limit.
  double reached() const;

 private:
  double per_second(std::uint64_t count) const {
    return seconds > 0 ? static_cast<double>(count) / seconds : 0;
  }
};

// A Trial sends one kind of traffic at one rate: a warm-up that does not count, the measurement,
// and a pause in which what is under way arrives.
class Trial {
 public:
  enum class Phase : std::uint8_t { warm_up, measure, drain, done };

  Trial(Traffic& traffic, const TrialPlan& plan, Time now);

  // Does one round: sends up to `most` packets.
  void run(std::size_t most, Time now, Outbox& out);
  // Ends the measurement, or the pause if it has come to that.
  void stop(Time now);

  Phase phase() const { return phase_; }
  Time deadline() const;
  // The result is complete when the trial is done; before that it is what is known by now.
  TrialResult result(Time now) const;

 private:
  void begin_measurement(Time now);
  void begin_drain(Time now);
  bool is_over(Time now) const;

  Traffic& traffic_;
  TrialPlan plan_;
  Pacer pacer_;
  Phase phase_ = Phase::warm_up;
  Time began_;  // when the phase began
  double seconds_ = 0;
  bool cut_short_ = false;
};

}  // namespace tributary::traffic
