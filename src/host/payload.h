// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "wire/ipv4.h"
#include "wire/transport.h"

namespace tributary::host {

inline constexpr std::uint32_t udp_headers_bytes =
    sizeof(wire::Ipv4Header) + sizeof(wire::UdpHeader);

inline constexpr std::uint32_t payload_granule = 32;

// Returns how many bytes of elements fit into one packet behind its headers: a multiple of 32, so
// that no element, of 16 bytes at most, is cut.
constexpr std::uint32_t payload_bytes_behind(std::uint32_t headers_bytes, std::uint32_t mtu) {
  return mtu < headers_bytes ? 0 : (mtu - headers_bytes) / payload_granule * payload_granule;
}

}  // namespace tributary::host
