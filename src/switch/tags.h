// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>

#include "packet/packet.h"
#include "wire/cursor.h"
#include "wire/ethernet.h"
#include "wire/vlan.h"

namespace tributary::switching {

inline constexpr std::size_t addresses_bytes = 2 * sizeof(wire::MacAddress);

inline bool has_tag(const wire::EthernetHeader& header) {
  return header.type.value() == wire::ethertype::vlan;
}

// A frame without its tag may be too short for a line, and not every device sees to that.
inline void pad(Packet& frame) {
  const auto length = frame.length;
  if (length < wire::ethernet_min_frame_bytes &&
      frame.tailroom() >= wire::ethernet_min_frame_bytes - length) {
    std::memset(frame.data() + length, 0, wire::ethernet_min_frame_bytes - length);
    frame.length = wire::ethernet_min_frame_bytes;
  }
}

// Takes the outer tag off, which the frame has.
inline void take_off_tag(Packet& frame) {
  constexpr auto bytes = sizeof(wire::VlanTag);
  auto* start = frame.data();
  std::memmove(start + bytes, start, addresses_bytes);
  frame.narrow_to(bytes, frame.length - bytes);
  pad(frame);
}

// Puts a tag on. The frame has headroom for it.
inline void put_on_tag(Packet& frame, std::uint16_t control) {
  constexpr auto bytes = sizeof(wire::VlanTag);
  frame.offset = static_cast<std::uint16_t>(frame.offset - bytes);
  frame.length += static_cast<std::uint32_t>(bytes);
  auto* start = frame.data();
  std::memmove(start, start + bytes, addresses_bytes);
  auto& header = *reinterpret_cast<wire::TaggedHeader*>(start);
  header.ethernet.type = wire::ethertype::vlan;
  header.tag.control = control;  // the frame's type stays where it was
}

// This tag was taken off a frame, which had so many bytes with it.
struct PriorityTag {
  std::uint16_t control;
  std::uint32_t frame_bytes;
};

// Takes a tag off that says a priority only (VID 0; IEEE 802.1Q), so that the frame is of the VLAN
// that its port has for frames without tags. Returns no value if there is no such tag. A frame for
// the port itself (01:80:c2:00:00:0x) keeps it; so does one of which the bridge has taken a tag off
// before (Packet::vlan).
inline std::optional<PriorityTag> take_off_priority_tag(Packet& frame) {
  const auto* header = wire::Cursor(frame.bytes()).take<wire::TaggedHeader>();
  if (frame.vlan != 0 || header == nullptr || !has_tag(header->ethernet) ||
      wire::is_reserved_group(header->ethernet.destination)) {
    return std::nullopt;
  }
  const PriorityTag tag{header->tag.control.value(), frame.length};
  if (wire::vid_of(tag.control) != 0) {
    return std::nullopt;
  }
  take_off_tag(frame);
  return tag;
}

// Makes the frame what it was before its tag was taken off.
inline void put_back(Packet& frame, const PriorityTag& tag) {
  put_on_tag(frame, tag.control);
  frame.length = tag.frame_bytes;
}

}  // namespace tributary::switching
