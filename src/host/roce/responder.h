// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "host/clock.h"
#include "host/outbox.h"
#include "host/roce/packets.h"
#include "host/roce/statistics.h"
#include "host/roce/tuning.h"
#include "wire/cursor.h"
#include "wire/roce.h"

namespace tributary::host::roce {

// Memory that the other end may write to.
struct Region {
  wire::MutableBytes bytes;
  std::uint64_t address = 0;
  std::uint32_t key = 0;
};

// A WRITE that is whole.
struct Written {
  std::uint32_t immediate = 0;
  std::uint32_t bytes = 0;
};

// The receiving end of a Reliable Connection, for RDMA WRITE with immediate: takes packets in order
// only, acknowledges when asked, once for all that came together, says once what is missing, and
// acknowledges again what comes again.
class Responder {
 public:
  Responder(const Path& path, std::uint32_t first_psn, std::uint32_t mtu, const Region& region,
            const Tuning& tuning)
      : path_(path), mtu_(mtu), region_(region), tuning_(tuning), expected_(first_psn) {}

  // Takes a packet of this connection with the right ICRC. `marked`: a congested switch has marked
  // it (ECN).
  void take(const wire::RoceView& packet, bool marked, Time now);
  void poll(Outbox& outbox);

  // Returns the next WRITE that is whole, in their order, if there is one.
  std::optional<Written> next_written();

  const Path& path() const { return path_; }
  const RoceStatistics& statistics() const { return statistics_; }

 private:
  struct Message {
    std::uint64_t offset = 0;  // in the region
    std::uint32_t length = 0;
    std::uint32_t received = 0;
  };

  void accept(const wire::RoceView& packet);
  bool begin(const wire::RoceView& packet);
  bool fits(const wire::RoceView& packet) const;
  void refuse(std::uint8_t syndrome);
  void answer(Outbox& outbox, std::uint32_t psn, std::uint8_t syndrome);

  Path path_;
  std::uint32_t mtu_;
  Region region_;
  Tuning tuning_;

  std::uint32_t expected_;  // PSN
  std::uint32_t messages_ = 0;
  std::optional<Message> open_;  // until its last packet
  std::deque<Written> written_;

  bool acknowledge_ = false;         // an acknowledgement is due
  bool complained_ = false;          // about what is missing now
  std::optional<std::uint8_t> nak_;  // a negative acknowledgement of this syndrome is due
  bool notify_ = false;              // a notification of congestion is due
  Time notified_at_{};
  bool refuses_ = false;  // for ever
  RoceStatistics statistics_;
};

}  // namespace tributary::host::roce
