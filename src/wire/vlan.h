// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/cursor.h"
#include "wire/endian.h"
#include "wire/ethernet.h"

namespace tributary::wire {

// A VlanTag stands between the EtherType of tags and the frame's own type (IEEE 802.1Q, clause
// 9.6).
struct [[gnu::packed]] VlanTag {
  be16 control;
  be16 type;
};
static_assert(sizeof(VlanTag) == 4 && alignof(VlanTag) == 1);

// This is an Ethernet header with a tag.
struct [[gnu::packed]] TaggedHeader {
  EthernetHeader ethernet;  // its type is ethertype::vlan
  VlanTag tag;
};
static_assert(sizeof(TaggedHeader) == 18);

// A tag's control field has the priority (3 bits), drop eligible (1 bit), and the VLAN identifier.
inline constexpr std::uint16_t vid_mask = 0x0fff;
inline constexpr unsigned vlan_priority_shift = 13;
inline constexpr std::uint16_t vid_max = 4094;  // 4095 is reserved; 0: a priority and no VLAN
inline constexpr std::size_t vids = 4096;

constexpr std::uint16_t vid_of(std::uint16_t control) {
  return control & vid_mask;
}

// Takes the Ethernet header, and the tag behind it where it has one. Returns the type of what
// follows, or 0 where the headers are not whole.
template <typename Byte>
constexpr std::uint16_t take_link_headers(BasicCursor<Byte>& cursor) {
  const auto* ethernet = cursor.template take<EthernetHeader>();
  if (ethernet == nullptr) {
    return 0;
  }
  if (ethernet->type.value() != ethertype::vlan) {
    return ethernet->type.value();
  }
  const auto* tag = cursor.template take<VlanTag>();
  return tag != nullptr ? tag->type.value() : std::uint16_t{0};
}

}  // namespace tributary::wire
