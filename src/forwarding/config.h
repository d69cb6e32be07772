// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "packet/clock.h"
#include "wire/ipv4.h"

namespace tributary::forwarding {

struct Prefix {
  wire::Ipv4Address network;
  std::uint8_t length = 0;  // bits
};

// An address of an interface and the prefix that is directly reachable through it.
struct InterfaceAddress {
  wire::Ipv4Address address;
  std::uint8_t length = 0;  // bits
};

// Egress queue of a port.
struct QueueConfig {
  std::uint64_t rate_bps = 0;                  // on the line, overhead included; 0: not shaped
  std::uint32_t capacity_bytes = 1024 * 1024;  // frames that wait; beyond it the tail is dropped
  std::uint32_t ecn_threshold_packets = 85;    // mark ECT packets that find more waiting; 0: never
};

// What a lab cable does to packets. Probabilities are per packet, 0 to 1.
struct ImpairmentConfig {
  double loss = 0;
  double duplicate = 0;
  double reorder = 0;  // held back until `reorder_gap` later packets have passed
  double corrupt = 0;  // one random bit flipped
  Duration delay{};
  Duration jitter{};  // uniform, added to delay
  std::uint64_t seed = 1;
  std::uint32_t reorder_gap = 3;

  bool any() const {
    return loss > 0 || duplicate > 0 || reorder > 0 || corrupt > 0 || delay > Duration{} ||
           jitter > Duration{};
  }
};

}  // namespace tributary::forwarding
