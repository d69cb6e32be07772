// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>

#include "host/error.h"
#include "protocols/netreduce/carrier/verbs/device.h"
#include "protocols/netreduce/carrier/verbs/resources.h"
#include "wire/ipv4.h"

namespace tributary::host::verbs {

// Returns a device's code for the least path MTU that is not below `bytes`.
ibv_mtu mtu_code(std::uint32_t bytes);

// Makes the queue pair of a Reliable Connection, with room for so many requests each way. It is to
// be cleared before it is connected.
Result<QueuePair> make_queue_pair(const Device& device, ibv_pd& domain, ibv_cq& completions,
                                  std::uint32_t requests);

// Takes a queue pair out of its connection, and out of any error, and forgets all its requests.
// Receives can be posted, and it can be connected.
Result<void> clear(const Device& device, ibv_qp& queue_pair);

// Describes the other end of a connection: what it is called, and where each side begins to count.
struct Opposite {
  wire::Ipv4Address address;
  std::uint32_t queue_pair = 0;
  std::uint32_t its_psn = 0;
  std::uint32_t my_psn = 0;
};

struct Path {
  std::uint32_t mtu = 0;
  std::chrono::nanoseconds timeout{};  // after that long, unacknowledged packets are sent again
  std::uint8_t retries = 0;            // in a row
  std::uint8_t tos = 0;
};

Result<void> connect(const Device& device, ibv_qp& queue_pair, const Opposite& opposite,
                     const Path& path);

}  // namespace tributary::host::verbs
