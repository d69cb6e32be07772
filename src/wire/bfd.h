// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "wire/cursor.h"
#include "wire/endian.h"

namespace tributary::wire {

// These are BFD control packets (RFC 5880, 4.1) over UDP, single hop (RFC 5881).
inline constexpr std::uint16_t bfd_port = 3784;
inline constexpr std::uint8_t bfd_ttl = 255;  // sent so, and required: nobody is further than a hop
inline constexpr std::uint16_t bfd_source_port_first = 49152;

enum class BfdState : std::uint8_t { admin_down = 0, down = 1, init = 2, up = 3 };

enum class BfdDiagnostic : std::uint8_t {
  none = 0,
  detection_expired = 1,
  neighbour_down = 3,
  concatenated_path_down = 6,  // the session is up, but something behind it is cut off
  administratively_down = 7,
  // The RFC reserves this number, and we use it: the session is up, but a queue behind it is
  // filling up. To others it is a reason that they do not know.
  crowded = 31,
};

// This is the mandatory section of RFC 5880, 4.1.
struct [[gnu::packed]] BfdHeader {
  static constexpr std::uint8_t version = 1;
  static constexpr std::uint8_t poll = 0x20;
  static constexpr std::uint8_t final = 0x10;
  static constexpr std::uint8_t authentication = 0x04;
  static constexpr std::uint8_t demand = 0x02;
  static constexpr std::uint8_t multipoint = 0x01;

  std::uint8_t version_diagnostic = version << 5;
  std::uint8_t state_flags = 0;
  std::uint8_t detect_multiplier = 0;
  std::uint8_t length = 24;
  be32 my_discriminator;
  be32 your_discriminator;
  be32 desired_min_tx_us;
  be32 required_min_rx_us;
  be32 required_min_echo_rx_us;

  constexpr BfdDiagnostic diagnostic() const {
    return static_cast<BfdDiagnostic>(version_diagnostic & 0x1f);
  }
  constexpr BfdState state() const { return static_cast<BfdState>(state_flags >> 6); }
  constexpr bool has(std::uint8_t flag) const { return (state_flags & flag) != 0; }
};
static_assert(sizeof(BfdHeader) == 24 && alignof(BfdHeader) == 1);

// Returns the header of a UDP payload that passes the checks of RFC 5880, 6.8.6 that need no
// session, or null. Authentication is not in use here, so that a packet with it is refused.
const BfdHeader* parse_bfd(Bytes payload);

}  // namespace tributary::wire
