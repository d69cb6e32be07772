// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "host/clock.h"
#include "host/error.h"
#include "protocols/netreduce/host/link.h"
#include "protocols/netreduce/host/plan.h"
#include "wire/ipv4.h"

namespace tributary::host {

struct LinkEvent {
  enum class Kind : std::uint8_t {
    arrived,      // `bytes` of the rank before
    acknowledged  // by the next rank
  };
  Kind kind = Kind::arrived;
  std::uint32_t message = 0;
  std::uint32_t bytes = 0;
};

struct RdmaPlace {
  std::string device;                  // as 'rdma link' calls it
  wire::Ipv4Address local;             // of the interface that it belongs to
  std::uint8_t tos = 0;                // of its packets
  std::chrono::nanoseconds timeout{};  // after that long, unacknowledged packets are sent again
};

// A device sends again that often, in a row, before it gives the other side up. With some devices a
// larger number means for ever.
inline constexpr std::uint8_t rdma_retries = 6;

// Returns the shortest timeout, within limits, with which another rank may be away for `absence`,
// while nothing is acknowledged.
constexpr std::chrono::nanoseconds rdma_timeout_for(std::chrono::nanoseconds absence) {
  // A shorter timeout would ask a host again that is only slow, before it could answer.
  constexpr std::chrono::nanoseconds least = std::chrono::seconds(1);
  // This is the longest timeout of a device (4.096 us x 2^n) below 20 s. A lost packet with none
  // behind it costs that time, and up to four times as much with some devices: longer deadlines are
  // no reason to wait for minutes.
  constexpr std::chrono::nanoseconds most(4096LL << 22);
  return std::clamp(absence / (rdma_retries + 1), least, most);
}

// Returns the time within which a packet that was lost with none behind it has been sent again.
constexpr std::chrono::nanoseconds rdma_repetition_max(std::chrono::nanoseconds timeout) {
  return 4 * timeout;
}

// The Reliable Connections of this link are those of an RDMA device, either a network adapter or
// Linux's Soft-RoCE. Its slots are memory that the device reads and writes by itself.
class VerbsLink : public Link {
 public:
  // Returns what the neighbours have to know before they connect.
  virtual LinkEnd end() const = 0;
  // Connects for a run as planned, in whose packets no more fits than in those with which the link
  // was opened. What is left of the run before is forgotten.
  virtual Result<void> connect(const NetReducePlan& plan, const LinkNeighbour& next,
                               const LinkNeighbour& before) = 0;

  // Returns what happened since the last call, in order. Waits until something has, but no longer
  // than `until`. The events are valid until the next call.
  virtual Result<std::span<const LinkEvent>> wait(Time until) = 0;
};

// Opens a link at `place`. It also fails where this library was built without libibverbs.
Result<std::unique_ptr<VerbsLink>> open_verbs_link(const RdmaPlace& place,
                                                   const NetReducePlan& plan);

}  // namespace tributary::host
