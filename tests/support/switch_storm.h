// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "forwarding/port.h"
#include "packet/list.h"
#include "packet/translation.h"
#include "protocols/canary/engine/config.h"
#include "protocols/flare/engine/config.h"
#include "support/storm_frames.h"
#include "switch/owners.h"
#include "switch/switch.h"

namespace tributary::test {

// A SwitchStorm drives a switch of two cores that bridges, routes and aggregates with whatever a
// string of bytes says: valid and damaged frames, over IPv4 and IPv6, time, ports that go down,
// reconfiguration, and when a core looks at what the other one has for it. What leaves waits in the
// ports' queues, of traffic classes or without. It aborts if an account does not balance after a
// step or if a packet is missing at the end. The fuzzer and the unit tests use it.
class SwitchStorm : StormFrames {
 public:
  using StormFrames::StormFrames;

  // Happened counts how many packets and sums a core got from the other one, what left for groups
  // of trees over IPv6, and what waited in the queues of classes.
  struct Happened {
    std::uint64_t packets = 0;
    std::uint64_t sums = 0;
    std::uint64_t over_ipv6 = 0;
    std::uint64_t classed = 0;
  };

  Happened run() {
    // A reload does not change this.
    if ((byte() & 1) != 0) {
      config_.embedding_prefix = prefix;
      owners_ = switching::Owners(config_, cores);
    }
    for (unsigned core = 0; core < cores; ++core) {
      cores_[core].device =
          std::make_unique<switching::Switch>(config_, switching::CoreShare{core, cores}, pool_);
    }
    while (!is_over()) {
      step();
      send_waiting();
      for (const auto& core : cores_) {
        check(core.device->ledger().balanced());
      }
    }
    for (const auto& core : cores_) {
      const auto sizes = core.device->table_sizes();
      check(core.device->fdb(now_).size() <= config_.fdb_capacity + config_.ports.size() + 2);
      check(sizes.arp <= config_.arp_capacity + config_.arp.size());
      check(sizes.neighbours6 <= config_.arp_capacity + config_.neighbours6.size());
    }
    cores_ = {};
    ports_.clear();
    check(pool_.outstanding() == 0);
    return happened_;
  }

 private:
  static constexpr unsigned cores = 2;
  static constexpr std::uint64_t line_bps = 1'000'000;

  // A Core has its share of the switch, and what the other one has for it.
  struct Core {
    std::unique_ptr<switching::Switch> device;
    PacketList table_updates;
    PacketList packets;
    PacketList sums;
  };

  static void check(bool holds) {
    if (!holds) {
      std::abort();
    }
  }

  static switching::SwitchConfig make_config() {
    switching::SwitchConfig config;
    config.id = 3;
    config.address = Ip(10, 0, 255, 1);
    config.bridge_address = forwarding::InterfaceAddress{Ip(10, 0, 0, 254), 24};
    config.fdb_capacity = 8;
    config.fdb_ageing = std::chrono::seconds(4);
    config.arp_timeout = std::chrono::seconds(4);
    config.arp_capacity = 8;
    config.table_seed = 1;  // the same bytes have the same effects
    config.ports.resize(ports);
    for (PortIndex i = 0; i < ports; ++i) {
      config.ports[i].name = std::string(1, static_cast<char>('a' + i));
      config.ports[i].mac = mac(static_cast<std::uint8_t>(i), 0xee);
    }
    config.ports[2].address = forwarding::InterfaceAddress{Ip(10, 0, 2, 1), 24};
    config.ports[3].address = forwarding::InterfaceAddress{Ip(10, 0, 3, 1), 30};
    config.ports[3].mtu = 576;
    config.routes = {{{Ip(), 0}, {Ip(10, 0, 2, 2), Ip(10, 0, 3, 2)}}};
    config.bridge_address6 = forwarding::InterfaceAddress6{ip6(0, 1), 64};
    config.bridge_advertise6 = true;
    config.ports[2].advertise6 = true;
    config.ports[2].address6 = forwarding::InterfaceAddress6{ip6(2, 1), 64};
    config.ports[3].address6 = forwarding::InterfaceAddress6{ip6(3, 1), 126};
    config.routes6 = {{{Ip6(), 0}, {ip6(2, 2), ip6(3, 2)}}};
    config.neighbours6 = {{ip6(3, 2), mac(32)}};
    config.fdb = {{mac(5), "b"}};
    config.arp = {{Ip(10, 0, 3, 2), mac(32)}};
    config.protocols.emplace<canary::CanaryConfig>({});
    config.protocols.get<canary::CanaryConfig>().descriptors = 4;
    config.protocols.get<canary::CanaryConfig>().hash_seed = 1;
    config.protocols.emplace<flare::FlareConfig>().trees = {tree_of(1), tree_of(2)};
    return config;
  }

  // VLANs are off, or there is an access port beside a trunk, or two trunks of which one has a VLAN
  // without a tag.
  void set_vlans(unsigned choice) {
    auto& first = config_.ports[0].vlan;
    auto& second = config_.ports[1].vlan;
    first = {};
    second = {};
    config_.bridge_vlan = 0;
    config_.vlans.clear();
    if (choice == 0) {
      return;
    }
    first.untagged = 10;
    second.tagged.ranges = {{10, 10}, {20, 20}};
    if (choice > 1) {
      first.tagged.ranges = {{20, 20}};
      config_.bridge_vlan = choice == 2 ? 10 : 20;
      const std::uint16_t other = choice == 2 ? 20 : 10;
      config_.vlans = {{other, forwarding::InterfaceAddress{Ip(10, 0, 20, 1), 24},
                        forwarding::InterfaceAddress6{ip6(20, 1), 64}, true}};
    }
  }

  // There is one queue for all of a port's frames, or a shaped port has a strict class, one with a
  // rate of its own, and one for all other frames.
  void set_classes(bool on) {
    config_.classes.clear();
    if (on) {
      config_.classes = {
          {.name = "urgent", .codepoints = {forwarding::Codepoint{46}}, .strict = true},
          {.name = "sums",
           .codepoints = {forwarding::Codepoint{0}},
           .weight = 3,
           .rate_bps = line_bps / 2,
           .ecn_threshold_packets = 1,
           .ecn_ramp_packets = 2},
          {.name = "rest"}};
    }
    for (PortIndex i = 0; i < ports; ++i) {
      auto& queue = config_.ports[i].queue;
      queue.classes = config_.classes;
      queue.rate_bps = on ? line_bps : 0;
      queue.capacity_bytes = on ? 2048 : forwarding::QueueConfig().capacity_bytes;
      ports_[i].reconfigure(config_.ports[i]);
    }
  }

  bool has_room() { return pool_.outstanding() + 3 < packets; }

  // A packet that one core has read is for it, or for the other one.
  void sort(PacketPtr packet, PortIndex ingress, unsigned here, PacketList& burst) {
    packet->ingress = ingress;
    const auto owner = owners_.core_of(*packet, here);
    (owner == here ? burst : cores_[owner].packets).push(std::move(packet));
  }

  void receive(unsigned here) {
    PacketList burst;
    for (auto count = 1 + byte() % 3; count > 0 && has_room(); --count) {
      auto packet = frame();
      if (packet) {
        if (const auto over_ipv6 = byte(); (over_ipv6 & 1) != 0 && is_udp_over_ipv4(*packet)) {
          become_ipv6(*packet, prefix);
        }
        damage(*packet);
        const auto ingress = byte();
        for (auto tags = ingress >> 6; tags > 0; --tags) {
          packet = in_vlan(std::move(packet));
        }
        sort(std::move(packet), ingress % (ports + 1), here, burst);
      }
    }
    receive(here, std::move(burst));
  }
  // The contributions are whole ones of Flare, so many that blocks are complete now and then.
  void contribute(unsigned here) {
    PacketList burst;
    for (auto count = 1 + byte() % 8; count > 0 && has_room(); --count) {
      auto packet = flare();
      if (config_.embedding_prefix && (byte() & 1) != 0) {
        become_ipv6(*packet, prefix);
      }
      sort(std::move(packet), byte() % ports, here, burst);
    }
    receive(here, std::move(burst));
  }
  void receive(unsigned core, PacketList burst) {
    switching::Output out;
    cores_[core].device->receive(std::move(burst), now_, out);
    settle(core, std::move(out));
  }

  // A core looks at what the other one has for it.
  void take_over(unsigned number) {
    auto& core = cores_[number];
    while (const auto update = core.table_updates.pop()) {
      core.device->learn(*update, now_);
    }
    happened_.packets += core.packets.size();
    receive(number, std::move(core.packets));
    happened_.sums += core.sums.size();
    switching::Output out;
    core.device->merge(std::move(core.sums), now_, out);
    settle(number, std::move(out));
  }

  void settle(unsigned from, switching::Output out) {
    out.departures.drain([this](std::uint32_t egress, PacketList run) {
      check(egress < ports);
      while (auto packet = run.pop()) {
        check(packet->egress == egress && packet->length >= sizeof(wire::EthernetHeader));
        check(!packet->over_ipv6);
        happened_.over_ipv6 += is_to_group_over_ipv6(*packet) ? 1 : 0;
        ports_[egress].enqueue(std::move(packet), now_);
      }
    });
    auto& other = cores_[1 - from];
    other.table_updates.append(std::move(out.table_updates));
    out.passed_on.drain([&](std::uint32_t core, PacketList run) {
      check(core == 1 - from);
      other.packets.append(std::move(run));
    });
    out.partial_sums.drain([&](std::uint32_t core, PacketList run) {
      check(core == 1 - from);
      other.sums.append(std::move(run));
    });
  }

  void send_waiting() {
    for (auto& port : ports_) {
      PacketList leaving;
      port.dequeue(now_, leaving, packets);
      const auto counted = port.counters();
      happened_.classed += port.class_rows().empty() ? 0 : leaving.size();
      check(counted.tx_offered == counted.tx_packets + counted.queue_tail_dropped +
                                      counted.link_down_dropped + port.queue_packets());
    }
  }

  void expire() {
    for (unsigned core = 0; core < cores; ++core) {
      switching::Output out;
      cores_[core].device->expire(now_, out);
      settle(core, std::move(out));
    }
  }

  // What cores have for each other then was sent with the configuration before.
  void reconfigure(std::uint8_t choice) {
    set_classes((byte() & 1) != 0);
    set_vlans((choice >> 4) & 3);
    config_.routes[0].via.resize(1 + (choice >> 7), Ip(10, 0, 3, 2));
    config_.protocols.get<canary::CanaryConfig>().descriptors = (choice & 0x40) != 0 ? 4 : 8;
    config_.protocols.get<flare::FlareConfig>().trees.resize((choice & 8) != 0 ? 1 : 2, tree_of(2));
    owners_ = switching::Owners(config_, cores);
    for (const auto& core : cores_) {
      core.device->reconfigure(config_);
    }
  }

  void step() {
    const auto command = byte();
    switch (command % 8) {
      case 0:
        now_ += std::chrono::milliseconds(1 << (command >> 5));
        expire();
        break;
      case 1:
        for (const auto& core : cores_) {
          core.device->set_port_up((command >> 4) % ports, (command & 8) != 0);
        }
        ports_[(command >> 4) % ports].set_up((command & 8) != 0);
        break;
      case 2:
        reconfigure(command);
        break;
      case 3:
        take_over(command >> 3 & 1);
        break;
      case 7:
        contribute(command >> 3 & 1);
        break;
      default:
        receive(command >> 3 & 1);
    }
  }

  switching::SwitchConfig config_ = make_config();
  switching::Owners owners_{config_, cores};
  std::array<Core, cores> cores_;
  std::vector<forwarding::Port> ports_{config_.ports.begin(), config_.ports.end()};
  Happened happened_;
  Time now_ = Time{} + std::chrono::seconds(1);
};

}  // namespace tributary::test
