// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <utility>

#include "switch/admission.h"
#include "switch/tags.h"
#include "wire/pause.h"

namespace tributary::switching {

// FrameWays sends the frames that were admitted on their ways, in their order: on the bridge, to an
// engine, to the router, or to the tables of neighbours.
class FrameWays : public Admission {
 protected:
  using Admission::Admission;

  void accept(Accepted& accepted, Time now) {
    std::optional<PriorityTag> tag;
    if (has_tag(*accepted.frame.ethernet)) [[unlikely]] {
      tag = look_behind_tag(accepted);
      if (!accepted.packet) {
        return;  // an engine has it
      }
    }
    if (interfaces_.port(accepted.packet->ingress).bridged()) {
      accept_bridged(accepted, tag, now);
    } else {
      accept_routed(accepted, now);
    }
  }

 private:
  // To those who are meant by it, a frame with a priority tag is one without a tag. Returns the tag
  // if it is off.
  [[gnu::noinline]] std::optional<PriorityTag> look_behind_tag(Accepted& accepted) {
    const auto tag = take_off_priority_tag(*accepted.packet);
    if (tag) {
      auto packet = std::move(accepted.packet);
      if (embedding_.on()) {
        embedding_.enter(*packet);
      }
      admit_late(std::move(packet), accepted);
    }
    return tag;
  }

  // A bridge without VLANs passes priority tags on: `tag` is one that is off as long as it is not
  // clear whether the frame is for the switch.
  void accept_bridged(Accepted& accepted, std::optional<PriorityTag> tag, Time now) {
    auto& [packet, frame, slot, way, noted] = accepted;
    const auto ingress = packet->ingress;
    const auto& destination = frame.ethernet->destination;
    const bool is_arp = frame.ethernet->type.value() == wire::ethertype::arp;
    const bool is_control = frame.ethernet->type.value() == wire::ethertype::mac_control;
    if (is_control || wire::is_reserved_group(destination)) {
      if (wire::is_mac_control(*frame.ethernet)) {
        outlet_.absorb_control(std::move(packet));
      } else {
        drop(std::move(packet), DropReason::bridge_reserved);
      }
      return;
    }
    if (!bridge_.learn(*packet, frame.ethernet->source, now)) {
      return drop(std::move(packet), DropReason::bridge_port_security);
    }
    if (slot != nullptr) {
      aggregate(accepted);
      return;
    }
    const auto to = bridge_.find(*packet, destination, now);
    const bool ours = to == forwarding::bridge_interface;
    const auto interface = interfaces_.interface_of(*packet);
    const bool is_known = interface != no_port;
    const auto* arp =
        is_arp && is_known ? Neighbours::parse(*frame.ethernet, frame.payload) : nullptr;
    if (arp != nullptr && neighbours_.receive(*packet, *arp, interface, now)) {
      bridge_.count_routed(*packet, interface);
      outlet_.absorb(std::move(packet));
    } else if (destination.is_group() && is_known && speaks_ipv6(frame, interface) &&
               router6_.hear(*packet, interface, now)) {
      bridge_.count_routed(*packet, interface);
      outlet_.absorb(std::move(packet));
    } else if (!ours) {
      if (tag) {
        put_back(*packet, *tag);
      }
      bridge_.forward(std::move(packet), ingress, to, Account::received);
    } else if (!is_known) {
      drop(std::move(packet), DropReason::local_unserved);
    } else if (is_arp) {
      drop(std::move(packet),
           arp == nullptr ? DropReason::arp_malformed : DropReason::local_unserved);
    } else {
      bridge_.count_routed(*packet, interface);
      route(accepted, interface, now);
    }
  }

  void accept_routed(Accepted& accepted, Time now) {
    auto& [packet, frame, slot, way, noted] = accepted;
    const auto ingress = packet->ingress;
    const auto& destination = frame.ethernet->destination;
    const bool ours = destination == interfaces_.mac(ingress);
    if (!ours && !destination.is_group()) {
      drop(std::move(packet), DropReason::other_mac);
    } else if (!ours && wire::is_mac_control(*frame.ethernet)) {
      outlet_.absorb_control(std::move(packet));
    } else if (frame.ethernet->type.value() != wire::ethertype::arp) {
      route(accepted, ingress, now);
    } else if (const auto* arp = Neighbours::parse(*frame.ethernet, frame.payload);
               arp == nullptr) {
      drop(std::move(packet), DropReason::arp_malformed);
    } else {
      neighbours_.receive(*packet, *arp, ingress, now);
      outlet_.absorb(std::move(packet));
    }
  }

  // Takes what is for the switch on the link layer, or for a group, and is not ARP.
  void route(Accepted& accepted, PortIndex interface, Time now) {
    auto& [packet, frame, slot, way, noted] = accepted;
    if (speaks_ipv6(frame, interface)) {
      router6_.receive(std::move(packet), interface, now);
    } else {
      router_.receive(std::move(packet), frame, interface, way, now);
    }
  }
};

}  // namespace tributary::switching
