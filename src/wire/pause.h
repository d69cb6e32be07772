// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "wire/cursor.h"
#include "wire/endian.h"
#include "wire/ethernet.h"

namespace tributary::wire {

// MAC control frames go from one end of a link to the other, and no bridge forwards them: PAUSE
// (IEEE 802.3, annex 31B) and priority flow control (annex 31D, IEEE 802.1Qbb).
inline constexpr MacAddress mac_control_group{{0x01, 0x80, 0xc2, 0x00, 0x00, 0x01}};
inline constexpr std::size_t priority_classes = 8;
inline constexpr std::uint8_t all_classes = 0xff;
// Pauses are counted in the time that so many bits take on the line.
inline constexpr std::uint64_t pause_quantum_bits = 512;

struct [[gnu::packed]] PauseHeader {
  static constexpr std::uint16_t opcode_pause = 0x0001;

  be16 opcode{opcode_pause};
  be16 quanta;
};
static_assert(sizeof(PauseHeader) == 4 && alignof(PauseHeader) == 1);

struct [[gnu::packed]] PriorityPauseHeader {
  static constexpr std::uint16_t opcode_priority_pause = 0x0101;

  be16 opcode{opcode_priority_pause};
  be16 enabled;  // bit c: `quanta[c]` is valid
  be16 quanta[priority_classes];
};
static_assert(sizeof(PriorityPauseHeader) == 20 && alignof(PriorityPauseHeader) == 1);

// A Pause is the content of such a frame: for how many quanta each of `classes` is to be silent,
// from now on; 0 ends a pause.
struct Pause {
  bool by_class = false;
  std::uint8_t classes = 0;
  std::array<std::uint16_t, priority_classes> quanta{};

  bool speaks_of(std::size_t priority) const { return ((classes >> priority) & 1) != 0; }
};

// Returns whether a frame with this header, any MAC control frame, is for the other end of its link
// only.
constexpr bool is_mac_control(const EthernetHeader& ethernet) {
  return ethernet.type.value() == ethertype::mac_control &&
         ethernet.destination == mac_control_group;
}

// Returns no value if this is not a MAC control frame, or its opcode is not one of these two.
std::optional<Pause> parse_pause(Bytes frame);

// This is a whole frame, of the least length that Ethernet carries.
using PauseFrame = std::array<std::byte, ethernet_min_frame_bytes>;
PauseFrame make_pause(const MacAddress& source, const Pause& pause);

}  // namespace tributary::wire
