// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/bfd_session.h"

#include <algorithm>

#include "wire/key.h"

namespace tributary::forwarding {
namespace {

using wire::BfdDiagnostic;
using wire::BfdHeader;
using wire::BfdState;

// A session that is not up sends no faster (RFC 5880, 6.8.3).
constexpr Duration slow_interval = std::chrono::seconds(1);
// Answers to polls, and news, go "as soon as practicable" (6.8.7), however long the interval is.
constexpr Duration pause_max = std::chrono::milliseconds(2);

Duration from_us(const wire::be32& us) {
  return std::chrono::microseconds(us.value());
}
std::uint32_t to_us(Duration duration) {
  return static_cast<std::uint32_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(duration).count());
}

}  // namespace

BfdSession::BfdSession(const BfdConfig& config, std::uint32_t discriminator, std::uint64_t seed)
    : config_(config),
      interval_in_force_(config.interval),
      required_in_force_(config.interval),
      discriminator_(discriminator),
      seed_(seed) {}

// The order is that of the text (RFC 5880, 6.8.6).
void BfdSession::receive(const BfdHeader& packet, Time now) {
  ++counters_.received;
  if (packet.has(BfdHeader::final)) {
    end_poll();
  }
  hear(packet, now);
  if (state_ == BfdState::admin_down) {
    return;
  }
  follow(packet.state(), now);
  final_pending_ = final_pending_ || packet.has(BfdHeader::poll);
  // A neighbour that may be sent to faster, or again, is not kept waiting for the old timer.
  if (may_transmit()) {
    transmit_at_ = std::min(transmit_at_, now + transmit_interval());
  }
}

void BfdSession::hear(const BfdHeader& packet, Time now) {
  remote_discriminator_ = packet.my_discriminator.value();
  remote_state_ = packet.state();
  remote_diagnostic_ = packet.diagnostic();
  remote_demand_ = packet.has(BfdHeader::demand);
  remote_min_rx_ = from_us(packet.required_min_rx_us);
  remote_min_tx_ = from_us(packet.desired_min_tx_us);
  remote_multiplier_ = packet.detect_multiplier;
  detect_at_ = now + detection_time();
  looked_again_ = false;
}

// This is the state machine of RFC 5880, 6.2.
void BfdSession::follow(BfdState remote, Time now) {
  if (remote == BfdState::admin_down) {
    if (state_ != BfdState::down) {
      enter(BfdState::down, BfdDiagnostic::neighbour_down, now);
    }
    failed_ = false;
  } else if (state_ == BfdState::up) {
    if (remote == BfdState::down) {
      fail(BfdDiagnostic::neighbour_down, now);
    }
  } else if (remote == BfdState::init || (remote == BfdState::up && state_ == BfdState::init)) {
    enter(BfdState::up, BfdDiagnostic::none, now);
    failed_ = false;
  } else if (remote == BfdState::down && state_ == BfdState::down) {
    enter(BfdState::init, diagnostic_, now);
  }
}

void BfdSession::fail(BfdDiagnostic diagnostic, Time now) {
  if (state_ == BfdState::up) {
    failed_ = true;
    ++counters_.failures;
  }
  enter(BfdState::down, diagnostic, now);
}

// The neighbour is told at once (RFC 5880, 6.8.7). Becoming up makes our interval shorter, which is
// a change of parameters and so needs a poll; while not up there is nothing to poll for.
void BfdSession::enter(BfdState state, BfdDiagnostic diagnostic, Time now) {
  state_ = state;
  diagnostic_ = diagnostic;
  interval_in_force_ = config_.interval;
  required_in_force_ = config_.interval;
  polling_ = state == BfdState::up && config_.interval < slow_interval;
  transmit_at_ = now;
}

void BfdSession::end_poll() {
  polling_ = false;
  interval_in_force_ = config_.interval;
  required_in_force_ = config_.interval;
}

// A core that was kept from its CPU finds the detection time over, and the packets that should have
// stopped it still in the device's ring. So a core that looks late looks once more before it
// believes it.
void BfdSession::expire(Time now) {
  if (now < detect_at_) {
    return;
  }
  const auto patience = detection_time() / 4;
  if (!looked_again_ && now - detect_at_ > patience) {
    looked_again_ = true;
    detect_at_ = now + patience;
    return;
  }
  detect_at_ = never;
  remote_discriminator_ = 0;
  remote_state_ = BfdState::down;
  remote_demand_ = false;
  if (state_ == BfdState::init || state_ == BfdState::up) {
    fail(BfdDiagnostic::detection_expired, now);
  }
}

std::optional<BfdHeader> BfdSession::poll(Time now) {
  const bool due = now >= transmit_at_ && may_transmit();
  if (now < not_before_ || (!final_pending_ && !due)) {
    return std::nullopt;
  }
  not_before_ = now + std::min(config_.interval / 10, pause_max);
  if (due) {
    schedule(now);
  }
  const auto flags = final_pending_ ? BfdHeader::final : polling_ ? BfdHeader::poll : 0;
  final_pending_ = false;
  return packet(static_cast<std::uint8_t>(flags));
}

// Packets go 0 to 25 % earlier than the interval, so that neighbours do not fall into step; with a
// multiplier of one they go at least 10 % earlier (RFC 5880, 6.8.7).
void BfdSession::schedule(Time now) {
  const auto interval = transmit_interval();
  const auto earlier_min = config_.multiplier == 1 ? interval / 10 : Duration{};
  const auto span = (interval / 4 - earlier_min).count() + 1;
  const auto draw = wire::mix_key(++drawn_, seed_) % static_cast<std::uint64_t>(span);
  transmit_at_ = now + interval - earlier_min - Duration(static_cast<Duration::rep>(draw));
}

BfdHeader BfdSession::packet(std::uint8_t flags) const {
  BfdHeader header;
  const auto diagnostic = state_ == BfdState::up && cut_off_ ? BfdDiagnostic::concatenated_path_down
                          : state_ == BfdState::up && crowded_ ? BfdDiagnostic::crowded
                                                               : diagnostic_;
  header.version_diagnostic =
      static_cast<std::uint8_t>(header.version_diagnostic | static_cast<std::uint8_t>(diagnostic));
  header.state_flags = static_cast<std::uint8_t>((static_cast<unsigned>(state_) << 6) | flags);
  header.detect_multiplier = config_.multiplier;
  header.my_discriminator = discriminator_;
  header.your_discriminator = remote_discriminator_;
  header.desired_min_tx_us = to_us(desired_min_tx());
  header.required_min_rx_us = to_us(config_.interval);
  return header;
}

Duration BfdSession::desired_min_tx() const {
  return state_ == BfdState::up ? config_.interval : std::max(config_.interval, slow_interval);
}

Duration BfdSession::transmit_interval() const {
  if (remote_min_rx_ == Duration{}) {
    return {};
  }
  const auto own = state_ == BfdState::up ? interval_in_force_ : desired_min_tx();
  return std::max(own, remote_min_rx_);
}

// A neighbour in demand mode wants to hear from us only when it, or we, ask (RFC 5880, 6.6).
bool BfdSession::may_transmit() const {
  const bool demanded =
      remote_demand_ && state_ == BfdState::up && remote_state_ == BfdState::up && !polling_;
  return remote_min_rx_ > Duration{} && !demanded;
}

Duration BfdSession::detection_time() const {
  return remote_multiplier_ * std::max(required_in_force_, remote_min_tx_);
}

Time BfdSession::deadline() const {
  const auto due = final_pending_ ? Time{} : may_transmit() ? transmit_at_ : never;
  return std::min(detect_at_, std::max(not_before_, due));
}

void BfdSession::configure(const BfdConfig& config) {
  const bool changed = config.interval != config_.interval;
  config_ = config;
  if (!changed) {
    return;
  }
  // What makes our interval shorter or theirs longer holds at once; the other way round, it holds
  // when the poll is answered.
  const bool up = state_ == BfdState::up;
  interval_in_force_ = up ? std::min(interval_in_force_, config.interval) : config.interval;
  required_in_force_ = up ? std::max(required_in_force_, config.interval) : config.interval;
  polling_ = up;
  transmit_at_ = Time{};
}

void BfdSession::set_cut_off(bool cut_off) {
  if (cut_off != cut_off_) {
    cut_off_ = cut_off;
    tell_at_once();
  }
}

void BfdSession::set_crowded(bool crowded) {
  if (crowded != crowded_) {
    crowded_ = crowded;
    tell_at_once();
  }
}

// Only a session that is up says these, and others send no more than a packet a second (RFC 5880,
// section 6.8.3).
void BfdSession::tell_at_once() {
  if (state_ == BfdState::up) {
    transmit_at_ = Time{};
  }
}

bool BfdSession::neighbour_crowded() const {
  return state_ == BfdState::up && remote_diagnostic_ == BfdDiagnostic::crowded;
}

bool BfdSession::neighbour_cut_off() const {
  return state_ == BfdState::up && remote_diagnostic_ == BfdDiagnostic::concatenated_path_down;
}

void BfdSession::hurry() {
  if (state_ != BfdState::up) {
    transmit_at_ = Time{};
  }
}

void BfdSession::disable() {
  enter(BfdState::admin_down, BfdDiagnostic::administratively_down, Time{});
  failed_ = false;
}

}  // namespace tributary::forwarding
