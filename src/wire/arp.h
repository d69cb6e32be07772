// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "wire/endian.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"

namespace tributary::wire {

// RFC 826, for IPv4 over Ethernet.
struct [[gnu::packed]] ArpHeader {
  static constexpr std::uint16_t request = 1;
  static constexpr std::uint16_t reply = 2;

  be16 hardware_type{1};
  be16 protocol_type{ethertype::ipv4};
  std::uint8_t hardware_length = 6;
  std::uint8_t protocol_length = 4;
  be16 operation;
  MacAddress sender_mac;
  Ipv4Address sender_address;
  MacAddress target_mac;
  Ipv4Address target_address;

  constexpr bool is_ethernet_ipv4() const {
    return hardware_type.value() == 1 && protocol_type.value() == ethertype::ipv4 &&
           hardware_length == 6 && protocol_length == 4;
  }
};
static_assert(sizeof(ArpHeader) == 28 && alignof(ArpHeader) == 1);

}  // namespace tributary::wire
