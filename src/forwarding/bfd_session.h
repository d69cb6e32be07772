// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "forwarding/config.h"
#include "packet/clock.h"
#include "wire/bfd.h"

namespace tributary::forwarding {

// This is one BFD session (RFC 5880) in asynchronous mode and active role, without authentication,
// demand mode and echo. It knows no addresses and no sockets: it is handed packets and the time,
// and says what is to be sent.
class BfdSession {
 public:
  struct Counters {
    std::uint64_t received = 0;
    std::uint64_t sent = 0;
    std::uint64_t failures = 0;  // how often a session that was up failed
  };

  // `discriminator` is not 0 and that of no other session; `seed` is of the jitter.
  BfdSession(const BfdConfig& config, std::uint32_t discriminator, std::uint64_t seed);

  // Takes a packet of this session that parse_bfd() passed.
  void receive(const wire::BfdHeader& packet, Time now);
  // Notices that the neighbour has been silent for the detection time.
  void expire(Time now);
  // Returns what is to be sent now; it is to be asked until there is nothing.
  std::optional<wire::BfdHeader> poll(Time now);
  // Counts what poll() gave as sent: without a link or a buffer it is not.
  void count_sent() { ++counters_.sent; }
  // Returns when expire() or poll() has something to do.
  Time deadline() const;

  void configure(const BfdConfig& config);
  // Tells the neighbour that silence will be no failure.
  void disable();

  // Tells the neighbour, while the session is up, that something behind us is cut off (RFC 5880,
  // 6.8.17).
  void set_cut_off(bool cut_off);
  // Tells it, likewise, that a queue behind us is filling up; being cut off takes precedence.
  void set_crowded(bool crowded);
  // These say whether the neighbour says the same of itself.
  bool neighbour_cut_off() const;
  bool neighbour_crowded() const;
  // Cuts short the slow timer of a session that is not up.
  void hurry();

  // Returns false if the session was up and has failed since. A neighbour that never spoke, or that
  // says that it is to be left alone (AdminDown), has not failed (RFC 5882, 3.2 and 4.1).
  bool alive() const { return !failed_; }

  std::uint32_t discriminator() const { return discriminator_; }
  std::uint32_t remote_discriminator() const { return remote_discriminator_; }
  wire::BfdState state() const { return state_; }
  wire::BfdState remote_state() const { return remote_state_; }
  wire::BfdDiagnostic diagnostic() const { return diagnostic_; }
  // Returns the time between two packets of ours, before jitter. Zero: the neighbour wants none.
  Duration transmit_interval() const;
  // Returns zero until the neighbour has spoken.
  Duration detection_time() const;
  const Counters& counters() const { return counters_; }

 private:
  void tell_at_once();
  void enter(wire::BfdState state, wire::BfdDiagnostic diagnostic, Time now);
  void fail(wire::BfdDiagnostic diagnostic, Time now);
  void follow(wire::BfdState remote, Time now);
  void end_poll();
  void hear(const wire::BfdHeader& packet, Time now);
  void schedule(Time now);
  Duration desired_min_tx() const;
  bool may_transmit() const;
  wire::BfdHeader packet(std::uint8_t flags) const;

  BfdConfig config_;
  // These stay in force until the neighbour has confirmed a change (RFC 5880, 6.8.3).
  Duration interval_in_force_;
  Duration required_in_force_;
  std::uint32_t discriminator_;
  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;

  wire::BfdState state_ = wire::BfdState::down;
  wire::BfdDiagnostic diagnostic_ = wire::BfdDiagnostic::none;
  bool failed_ = false;
  bool cut_off_ = false;
  bool crowded_ = false;
  bool polling_ = false;        // until a packet with the Final bit comes
  bool final_pending_ = false;  // the neighbour polled

  wire::BfdState remote_state_ = wire::BfdState::down;
  wire::BfdDiagnostic remote_diagnostic_ = wire::BfdDiagnostic::none;
  std::uint32_t remote_discriminator_ = 0;
  bool remote_demand_ = false;
  std::uint8_t remote_multiplier_ = 0;  // 0: it never spoke
  Duration remote_min_tx_{};
  Duration remote_min_rx_ = std::chrono::microseconds(1);

  Time transmit_at_{};
  // No packet goes before this time, news included: two neighbours that answer each other's old
  // news without a pause may do so for ever.
  Time not_before_{};
  Time detect_at_ = never;
  bool looked_again_ = false;
  Counters counters_;
};

}  // namespace tributary::forwarding
