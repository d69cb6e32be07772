// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "engine/frame.h"
#include "packet/packet.h"
#include "switch/parts.h"

namespace tributary::switching {

// A packet of the stage goes with what was found out about it: its headers, the engine that claims
// it, if any, and the way that it will take if the router forwards it.
struct Accepted {
  PacketPtr packet;
  engine::Frame frame;
  Aggregation::Slot* slot = nullptr;
  const forwarding::Way* way = nullptr;
  std::uint8_t noted = 0;  // what to note for the owner of the block, if it is another core; else 0
};

// Admission takes the first look at what came in and decides who is to have it. It drops what
// nobody may have, and gives an engine what is surely for it.
class Admission : public Parts {
 protected:
  using Parts::Parts;

  void drop(PacketPtr packet, DropReason reason) {
    outlet_.drop(std::move(packet), reason, Account::received);
  }

  // Takes the tags off the packets that arrived, and drops those that go no further. Returns how
  // many are left.
  [[gnu::noinline]] std::size_t enter_vlans(std::span<PacketPtr> arrived) {
    std::size_t left = 0;
    for (auto& each : arrived) {
      auto packet = std::move(each);
      if (const auto reason = bridge_.vlans().enter(*packet)) {
        drop(std::move(packet), *reason);
      } else {
        arrived[left++] = std::move(packet);
      }
    }
    return left;
  }

  // Brings packets of IPv6 into the form that their engines know.
  [[gnu::noinline]] void enter_embedded(std::span<PacketPtr> arrived) const {
    for (auto& packet : arrived) {
      embedding_.enter(*packet);
    }
  }

  // Drops the packet, gives it to its engine, or finds out what FrameWays::accept() needs to know
  // of it.
  [[gnu::always_inline]] void admit(PacketPtr&& arrived, Accepted& accepted) {
    auto& [packet, frame, slot, way, noted] = accepted;
    packet = std::move(arrived);
    if (!recognise(accepted)) {
      return drop(std::move(packet), DropReason::truncated);
    }
    way = nullptr;
    const auto ingress = packet->ingress;
    if (ingress >= interfaces_.count() || !interfaces_.port(ingress).up) {
      return drop(std::move(packet), DropReason::port_down);
    }
    if (frame.ethernet->source.is_group()) {
      return drop(std::move(packet), DropReason::source_group_mac);
    }
    if (interfaces_.port(ingress).bridged()) {
      bridge_.prefetch(*packet, *frame.ethernet);
      if (slot != nullptr && !bridge_.vlans().is_own(*packet)) {
        disclaim(accepted);
      }
    } else if (slot != nullptr && is_for_engine(accepted)) {
      aggregate(accepted);
    } else if (frame.ipv4 != nullptr) {
      way = &router_.prepare(frame.ipv4->destination);
    }
  }
  // The lane expected to send this packet, until it looked closer.
  [[gnu::noinline]] void admit_late(PacketPtr&& arrived, Accepted& accepted) {
    admit(std::move(arrived), accepted);
  }

  // Engines see only packets that are intact: a damaged IP header would misdirect the sum.
  void aggregate(Accepted& accepted) {
    auto& [packet, frame, slot, way, noted] = accepted;
    if (frame.ipv4 != nullptr && !has_right_ip_checksum(frame)) {
      drop(std::move(packet), DropReason::ip_checksum);
    } else if (frame.ipv4 != nullptr && is_misdirected(*frame.ipv4, slot->kind->protocol)) {
      drop(std::move(packet), DropReason::ip_martian);
    } else if (noted != 0) {
      packet->noted = noted;  // for the owner, should it be passed on
      slot->elsewhere.push_back({std::move(packet), frame});
    } else {
      slot->burst.push_back({std::move(packet), frame});
    }
  }

  bool speaks_ipv6(const engine::Frame& frame, PortIndex interface) const {
    return frame.ethernet->type.value() == wire::ethertype::ipv6 &&
           interfaces_.address6(interface).has_value();
  }

 private:
  // Leaves a packet to the bridge.
  [[gnu::noinline]] void disclaim(Accepted& accepted) const {
    accepted.slot = nullptr;
    if (accepted.packet->over_ipv6) {  // another core knew the VLANs of before
      embedding_.leave(*accepted.packet);
      accepted.frame = engine::parse_frame(*accepted.packet);
    }
  }
  // Takes over what the core that received the packet has noted. It is not inline, as nothing is
  // noted where one core does all.
  [[gnu::noinline]] void recall(Accepted& accepted) {
    auto& [packet, frame, slot, way, noted] = accepted;
    frame = engine::noted_frame(*packet);
    slot = aggregation_.claimed_by(engine::noted_claim(*packet));
    if ((packet->noted & engine::noted::elsewhere) != 0) {
      noted = static_cast<std::uint8_t>(packet->noted & ~engine::noted::elsewhere);
    }
    packet->noted = 0;                           // it will not be true for long
    if (slot == nullptr && packet->over_ipv6) {  // the engine was taken away meanwhile
      embedding_.leave(*packet);
      frame = engine::parse_frame(*packet);
    }
  }

  // Finds the headers and the engine that claims the frame. Returns false if there is not even an
  // Ethernet header.
  [[gnu::always_inline]] bool recognise(Accepted& accepted) {
    auto& [packet, frame, slot, way, noted] = accepted;
    noted = 0;
    if (packet->noted != 0) {
      recall(accepted);
      return true;
    }
    frame = engine::parse_frame(*packet);
    if (frame.ethernet == nullptr) {
      return false;
    }
    slot = aggregation_.claimed_by(frame);
    return true;
  }

  // A frame to the group of a tree is for the switch, whose places in trees were set up beforehand.
  static bool is_to_group(const engine::Frame& frame, const engine::Protocol& protocol) {
    return protocol.to_groups && frame.ethernet->destination.is_group();
  }
  static bool is_misdirected(const wire::Ipv4Header& ip, const engine::Protocol& protocol) {
    return protocol.to_groups ? !ip.source.is_routable_unicast() || !ip.destination.is_multicast()
                              : is_unroutable(ip);
  }
  // Of the frames that an engine claims, a routed port takes those that are for the switch on the
  // link layer, over the versions of IP that it routes.
  bool is_for_engine(const Accepted& accepted) const {
    const auto& [packet, frame, slot, way, noted] = accepted;
    const auto& ethernet = *frame.ethernet;
    return (ethernet.destination == interfaces_.mac(packet->ingress) &&
            (frame.ipv4 != nullptr || speaks_ipv6(frame, packet->ingress))) ||
           ethernet.type.value() == slot->kind->protocol.ethertype ||
           is_to_group(frame, slot->kind->protocol);
  }
};

}  // namespace tributary::switching
