// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>

#include "host/error.h"
#include "protocols/netreduce/carrier/verbs/device.h"
#include "protocols/netreduce/carrier/verbs/resources.h"
#include "wire/ipv4.h"

namespace tributary::host::verbs {

// How a device writes a path MTU: the least that is not below it.
ibv_mtu mtu_code(std::uint32_t bytes);

// Of a Reliable Connection, not connected yet, with room for so many requests each way.
Result<QueuePair> make_queue_pair(const Device& device, ibv_pd& domain, ibv_cq& completions,
                                  std::uint32_t requests);

// One direction of a connection: what the other end is called, and where each side begins to
// count.
struct Opposite {
  wire::Ipv4Address address;
  std::uint32_t queue_pair = 0;
  std::uint32_t its_psn = 0;
  std::uint32_t my_psn = 0;
};

struct Path {
  std::uint32_t mtu = 0;
  std::chrono::nanoseconds timeout{};  // then what is not acknowledged is sent again
  std::uint8_t retries = 0;            // in a row
};

Result<void> connect(const Device& device, ibv_qp& queue_pair, const Opposite& opposite,
                     const Path& path);

}  // namespace tributary::host::verbs
