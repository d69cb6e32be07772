// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "host/communicator_options.h"
#include "host/parameter.h"

namespace tributary::host {

// Protocols have this parameter whose packets may be in any traffic class.
inline constexpr Parameter dscp_parameter{
    .name = "dscp",
    .otherwise = "0",
    .help =
        "the DiffServ codepoint that packets have, by UDP: in which traffic class switches put "
        "them, which keep it",
    .option = "--dscp",
    .most = 63};

// Returns the TOS of packets with that codepoint, below which ECN says how they take marks.
inline std::uint8_t tos_of(const CommunicatorOptions& options, std::uint8_t ecn) {
  constexpr unsigned ecn_bits = 2;
  const auto dscp = Values(options.parameters, {&dscp_parameter, 1}).number("dscp");
  return static_cast<std::uint8_t>(dscp << ecn_bits | ecn);
}

}  // namespace tributary::host
