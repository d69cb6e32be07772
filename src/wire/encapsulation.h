// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tributary::wire {

// The packets of a reduction are carried by UDP over IPv4, or by Ethernet frames alone.
enum class Encapsulation : std::uint8_t { udp, ethernet };

}  // namespace tributary::wire
