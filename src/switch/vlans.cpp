// SPDX-License-Identifier: BSD-3-Clause
#include "switch/vlans.h"

#include <algorithm>

#include "forwarding/codepoint.h"
#include "switch/tags.h"
#include "wire/ethernet.h"

namespace tributary::switching {
namespace {

constexpr std::uint16_t with_priority(std::uint8_t priority, std::uint16_t control) {
  constexpr unsigned below = (1u << wire::vlan_priority_shift) - 1;
  return static_cast<std::uint16_t>(priority << wire::vlan_priority_shift | (control & below));
}

bool is_lossless(const forwarding::TrafficClass& one) {
  return one.pfc_priority.has_value();
}

}  // namespace

Vlans::Vlans(const SwitchConfig& config)
    : on_(has_vlans(config)), own_(on_ ? config.bridge_vlan : std::uint16_t{0}) {
  if (std::ranges::any_of(config.classes, is_lossless)) {
    priorities_ = forwarding::priorities_of(config.classes);
  }
  for (const auto& port : config.ports) {
    auto& facts = ports_.emplace_back();
    facts.is_bridged = !port.is_routed();
    facts.takes_tags = !port.vlan.tagged.empty();
    facts.untagged = port.vlan.untagged;
    facts.carried.set(port.vlan.untagged, !on_ || port.vlan.untagged != 0);
    for (const auto& range : port.vlan.tagged.ranges) {
      for (std::uint32_t vid = range.first; vid <= range.last; ++vid) {
        facts.carried.set(vid);
      }
    }
  }
}

std::optional<DropReason> Vlans::enter(Packet& frame) const {
  if (frame.vlan != 0 || frame.ingress >= ports_.size() || !ports_[frame.ingress].is_bridged) {
    return std::nullopt;
  }
  const auto& port = ports_[frame.ingress];
  wire::Cursor cursor(frame.bytes());
  const auto* header = cursor.take<wire::EthernetHeader>();
  if (header == nullptr || wire::is_reserved_group(header->destination)) {
    return std::nullopt;
  }
  const bool is_tagged = has_tag(*header);
  const auto* tag = is_tagged ? cursor.take<wire::VlanTag>() : nullptr;
  if (is_tagged && tag == nullptr) {
    return DropReason::truncated;
  }
  auto control = is_tagged ? tag->control.value() : std::uint16_t{0};
  if (const auto vid = wire::vid_of(control); vid != 0) {
    if (!port.takes_tags || !port.carried[vid]) {
      return DropReason::vlan_not_allowed;
    }
  } else if (port.untagged == 0) {
    return DropReason::vlan_untagged;
  } else {
    control = static_cast<std::uint16_t>(control | port.untagged);
  }
  if (is_tagged) {
    take_off_tag(frame);
  }
  frame.noted = 0;
  frame.vlan = control;
  return std::nullopt;
}

void Vlans::put_into(Packet& frame, std::uint16_t vid) {
  frame.vlan = with_priority(forwarding::priority_of(frame), vid);
}

// Behind two tags nobody sees the codepoint, and the queue takes it for 0. A tag that was trusted
// is known all the same.
std::uint16_t Vlans::control_of(const Packet& frame, bool is_nested) const {
  if (!priorities_) {
    return frame.vlan;
  }
  const auto marking = is_nested ? frame.marking : forwarding::marking_of(frame);
  const auto priority = (*priorities_)[marking];
  return priority == forwarding::no_priority ? frame.vlan : with_priority(priority, frame.vlan);
}

std::optional<DropReason> Vlans::leave(Packet& frame, PortIndex to) const {
  if (wire::vid_of(frame.vlan) == 0) {  // the frame begins here
    put_into(frame, own_);
  }
  const auto vid = wire::vid_of(frame.vlan);
  const auto& port = ports_[to];
  if (vid == 0 || !port.carried[vid]) {
    return DropReason::vlan_not_allowed;
  }
  wire::Cursor cursor(frame.bytes());
  const auto* header = cursor.take<wire::EthernetHeader>();
  if (header == nullptr) {
    return DropReason::truncated;
  }
  if (vid != port.untagged) {
    if (frame.offset < sizeof(wire::VlanTag)) {
      return DropReason::no_buffer;
    }
    put_on_tag(frame, control_of(frame, has_tag(*header)));
  } else if (has_tag(*header)) {
    return DropReason::vlan_nested;
  }
  frame.vlan = 0;
  return std::nullopt;
}

}  // namespace tributary::switching
