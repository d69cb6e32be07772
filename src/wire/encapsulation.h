// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tributary::wire {

// What carries the packets of a reduction: UDP over IPv4, or Ethernet frames alone.
enum class Encapsulation : std::uint8_t { udp, ethernet };

}  // namespace tributary::wire
