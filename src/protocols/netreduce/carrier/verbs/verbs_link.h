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
    arrived,      // of the rank before, with so many bytes
    acknowledged  // by the next rank
  };
  Kind kind = Kind::arrived;
  std::uint32_t message = 0;
  std::uint32_t bytes = 0;
};

struct RdmaPlace {
  std::string device;                  // as 'rdma link' calls it
  wire::Ipv4Address local;             // of the interface that it belongs to
  std::chrono::nanoseconds timeout{};  // then what is not acknowledged is sent again
};

// As often as a device sends again, in a row, before it gives the other side up. More is for ever
// with some devices.
inline constexpr std::uint8_t rdma_retries = 6;

// The shortest timeout with which another rank may be away for so long: meanwhile nothing is
// acknowledged. Within limits.
constexpr std::chrono::nanoseconds rdma_timeout_for(std::chrono::nanoseconds absence) {
  // Below that, a host that is only slow is asked again before it could answer.
  constexpr std::chrono::nanoseconds least = std::chrono::seconds(1);
  // The longest of a device (4.096 us x 2^n) below 20 s. A packet that is lost with none behind it
  // costs that, and up to four times as much with some devices: longer deadlines are no reason to
  // wait for minutes.
  constexpr std::chrono::nanoseconds most(4096LL << 22);
  return std::clamp(absence / (rdma_retries + 1), least, most);
}

// After how long a packet that was lost with none behind it has been sent again at the latest.
constexpr std::chrono::nanoseconds rdma_repetition_max(std::chrono::nanoseconds timeout) {
  return 4 * timeout;
}

// A link whose Reliable Connections are those of an RDMA device: of a network adapter, or Linux's
// Soft-RoCE. Its slots are memory that the device reads and writes by itself.
class VerbsLink : public Link {
 public:
  // What the neighbours have to know before they connect.
  virtual LinkEnd end() const = 0;
  virtual Result<void> connect(const LinkNeighbour& next, const LinkNeighbour& before) = 0;

  // What happened since the last call, in order. Waits until something has, but no longer than
  // `until`. Valid until the next call.
  virtual Result<std::span<const LinkEvent>> wait(Time until) = 0;
};

// Fails also where this library was built without libibverbs.
Result<std::unique_ptr<VerbsLink>> open_verbs_link(const RdmaPlace& place,
                                                   const NetReducePlan& plan);

}  // namespace tributary::host
