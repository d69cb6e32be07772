// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/trial.h"

#include <algorithm>

namespace tributary::traffic {
namespace {}  // namespace

double TrialResult::reached() const {
  if (rate.is_unlimited()) {
    return 1;
  }
  const bool packets = rate.unit == Rate::Unit::packets;
  return (packets ? packets_per_second() : line_bits_per_second()) / rate.per_second;
}

Trial::Trial(Traffic& traffic, const TrialPlan& plan, Time now)
    : traffic_(traffic), plan_(plan), began_(now) {
  pacer_.start(plan_.rate, now);
  traffic_.begin_epoch();
  if (plan_.warm_up == Duration::zero()) {
    begin_measurement(now);
  }
}

void Trial::begin_measurement(Time now) {
  phase_ = Phase::measure;
  began_ = now;
  traffic_.begin_epoch();
}

void Trial::begin_drain(Time now) {
  phase_ = Phase::drain;
  seconds_ = in_seconds(now - began_);
  began_ = now;
  traffic_.close();
}

bool Trial::is_over(Time now) const {
  const bool sent_all = plan_.packets != 0 && traffic_.counters().packets >= plan_.packets;
  return now - began_ >= plan_.duration || sent_all;
}

void Trial::run(std::size_t most, Time now, Outbox& out) {
  if (phase_ == Phase::warm_up && now - began_ >= plan_.warm_up) {
    begin_measurement(now);
  }
  if (phase_ == Phase::measure && is_over(now)) {
    begin_drain(now);
  }
  if (phase_ == Phase::drain && (traffic_.under_way() == 0 || now - began_ >= plan_.drain)) {
    phase_ = Phase::done;
  }
  if (phase_ == Phase::done) {
    return;
  }
  if (phase_ == Phase::measure && plan_.packets != 0) {
    most = std::min<std::size_t>(most, plan_.packets - traffic_.counters().packets);
  }
  pacer_.refresh(now);
  traffic_.send(most, now, pacer_, out);
}

void Trial::stop(Time now) {
  if (phase_ == Phase::warm_up) {
    begin_measurement(now);
  }
  if (phase_ == Phase::drain) {
    plan_.drain = Duration::zero();
  }
  if (phase_ == Phase::measure) {
    begin_drain(now);
  }
  cut_short_ = true;
}

Time Trial::deadline() const {
  if (phase_ == Phase::done) {
    return never;
  }
  const auto length = phase_ == Phase::warm_up   ? plan_.warm_up
                      : phase_ == Phase::measure ? plan_.duration
                                                 : plan_.drain;
  return phase_ == Phase::drain ? began_ + length : std::min(began_ + length, pacer_.deadline());
}

TrialResult Trial::result(Time now) const {
  TrialResult result;
  result.rate = plan_.rate;
  result.seconds =
      phase_ == Phase::warm_up || phase_ == Phase::measure ? in_seconds(now - began_) : seconds_;
  result.counters = traffic_.counters();
  result.latency = traffic_.latency();
  result.figures = traffic_.figures();
  result.wrong = traffic_.wrong();
  result.cut_short = cut_short_;
  return result;
}

}  // namespace tributary::traffic
