// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "host/clock.h"
#include "host/outbox.h"
#include "host/roce/packets.h"
#include "host/roce/statistics.h"
#include "host/roce/tuning.h"
#include "host/rtt_estimator.h"
#include "wire/cursor.h"
#include "wire/roce.h"

namespace tributary::host::roce {

// One RDMA WRITE with immediate.
struct Write {
  wire::Bytes bytes;          // not empty; unchanged until it is acknowledged
  std::uint64_t address = 0;  // at the other end
  std::uint32_t key = 0;      // rkey
  std::uint32_t immediate = 0;
};

// The sending end of a Reliable Connection: cuts WRITEs into packets, and sends all from the first
// that is missing again (go-back-N), when the other end says which that is or a timer runs out.
// After either, and after a congestion notification, fewer packets are sent ahead of
// acknowledgements; then more and more again.
class Requester {
 public:
  Requester(const Path& path, std::uint32_t first_psn, std::uint32_t mtu, const Tuning& tuning)
      : path_(path), first_psn_(first_psn), mtu_(mtu), tuning_(tuning), rtt_(tuning.rto) {}

  // At most 2^23 packets are outstanding.
  void post(const Write& write);
  void poll(Outbox& outbox, Time now);
  void take(const Reply& reply, Time now);
  void take_congestion_notification(Time now);

  Time deadline() const;
  void expire(Time now);

  // Returns how many WRITEs, counted from the first, are acknowledged.
  std::uint64_t acknowledged() const { return completed_; }
  std::uint64_t packets_acknowledged() const { return acknowledged_; }
  bool idle() const { return acknowledged_ == end_ || failure_; }
  // Once it has failed, nothing is sent any more.
  const std::optional<std::string>& failure() const { return failure_; }
  const Path& path() const { return path_; }
  const RoceStatistics& statistics() const { return statistics_; }

 private:
  // Packets are counted from the first of the connection; PSNs are that modulo 2^24.
  struct Posted {
    Write write;
    std::uint64_t first = 0;
    std::uint64_t packets = 0;
  };

  std::uint32_t psn_of(std::uint64_t packet) const {
    return wire::psn_add(first_psn_, static_cast<std::uint32_t>(packet & wire::psn_mask));
  }
  const Posted& posted_with(std::uint64_t packet) const;
  void send_next(Outbox& outbox, Time now);
  bool asks_for_acknowledgement(const Posted& posted) const;
  void advance_to(std::uint64_t packet, Time now);
  Duration patience() const;
  void go_back(Time now);
  void slow_down(std::uint32_t on_the_way, Time now);
  void refused(std::uint8_t syndrome);

  Path path_;
  std::uint32_t first_psn_;
  std::uint32_t mtu_;
  Tuning tuning_;
  RttEstimator rtt_;

  std::deque<Posted> posted_;       // not acknowledged, or not whole
  std::uint64_t completed_ = 0;     // WRITEs before these
  std::uint64_t acknowledged_ = 0;  // packets, as are the next three
  std::uint64_t next_ = 0;
  std::uint64_t sent_ = 0;  // behind the last that was ever sent
  std::uint64_t end_ = 0;   // behind the last that was posted

  static constexpr std::uint32_t limit_max = 1 << 16;
  std::uint32_t limit_ = limit_max;  // packets ahead of acknowledgements
  std::uint32_t threshold_ = limit_max;
  std::uint32_t credit_ = 0;  // packets acknowledged since limit_ last grew by one step
  Time slowed_down_at_{};
  Time timer_from_{};
  Time paused_until_{};                 // by a receiver that was not ready
  unsigned expirations_ = 0;            // since the last progress
  std::optional<std::uint64_t> timed_;  // the packet whose round trip is measured
  Time timed_at_{};

  std::optional<std::string> failure_;
  RoceStatistics statistics_;
};

}  // namespace tributary::host::roce
