// SPDX-License-Identifier: BSD-3-Clause
#include "switch/bridge.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "wire/ethernet.h"

namespace tributary::switching {
namespace {

bool is_one_of(std::span<const PortIndex> ports, PortIndex port) {
  return std::find(ports.begin(), ports.end(), port) != ports.end();
}

}  // namespace

Bridge::Bridge(const SwitchConfig& config, const Interfaces& interfaces, Outlet& outlet,
               std::uint64_t seed)
    : interfaces_(interfaces),
      outlet_(outlet),
      vlans_(config),
      fdb_(config.fdb_capacity, config.fdb_ageing, seed) {
  set_learning(config);
  add_static(config);
  list_interfaces();
}

void Bridge::set_learning(const SwitchConfig& config) {
  std::vector<forwarding::LearningConfig> ports;
  for (const auto& port : config.ports) {
    ports.push_back(port.learning);
  }
  fdb_.set_learning(ports);
}

void Bridge::add_static(const SwitchConfig& config) {
  for (const auto& entry : config.fdb) {
    for (PortIndex port = 0; port < interfaces_.count(); ++port) {
      if (config.ports[port].name == entry.port && interfaces_.port(port).bridged()) {
        fdb_.add_static({entry.mac, vlan_of(entry, config.ports[port])}, port);
      }
    }
  }
  for (const auto port : interfaces_.bridged_ports()) {
    fdb_.add_static(interfaces_.port(port).mac, forwarding::bridge_interface);
  }
}

void Bridge::reconfigure(const SwitchConfig& config) {
  fdb_.set_ageing(config.fdb_ageing);
  vlans_ = Vlans(config);
  fdb_.forget_if([this](std::uint16_t vid, PortIndex port) { return !vlans_.carries(port, vid); });
  set_learning(config);
  fdb_.clear_static();
  add_static(config);
  list_interfaces();
}

// Interfaces that stay keep their counters.
void Bridge::list_interfaces() {
  const auto before = std::exchange(routed_, {});
  for (const auto& one : interfaces_.on_bridge()) {
    const auto known = std::find_if(
        before.begin(), before.end(),
        [&](const forwarding::VlanRow& each) { return each.interface == one.interface; });
    routed_.push_back({one.interface, one.vid, one.address, one.address6,
                       known == before.end() ? forwarding::InterfaceCounters{} : known->counters});
  }
}

forwarding::VlanRow* Bridge::routed_of(PortIndex interface) {
  const auto* const one = interfaces_.find_on_bridge(interface);
  return one == nullptr ? nullptr
                        : &routed_[static_cast<std::size_t>(one - &interfaces_.on_bridge()[0])];
}

void Bridge::count_routed(const Packet& frame, PortIndex interface) {
  auto* const row = routed_of(interface);
  ++row->counters.rx_packets;
  row->counters.rx_bytes += frame.frame_bytes();
}

void Bridge::send_routed(PacketPtr frame, PortIndex interface, Account account, Time now) {
  auto* const row = routed_of(interface);
  if (row == nullptr) {  // the interface was taken away while the frame waited
    outlet_.drop(std::move(frame), DropReason::next_hops_down, account);
    return;
  }
  ++row->counters.tx_packets;
  row->counters.tx_bytes += frame->frame_bytes();
  if (wire::vid_of(frame->vlan) != row->vid) {
    vlans_.put_into(*frame, row->vid);
  }
  const auto to =
      find(*frame, wire::Cursor(frame->bytes()).take<wire::EthernetHeader>()->destination, now);
  forward(std::move(frame), no_port, to, account);
}

void Bridge::learn_quietly(const Packet& frame, const wire::MacAddress& source, Time now) {
  const auto vid = wire::vid_of(frame.vlan);
  if (vlans_.carries(frame.ingress, vid)) {  // it may have carried it only before a reload
    fdb_.learn({source, vid}, frame.ingress, now);
  }
}

void Bridge::send_in_vlan(PacketPtr frame, PortIndex to, Account account) {
  if (const auto reason = vlans_.leave(*frame, to)) {
    outlet_.drop(std::move(frame), *reason, account);
  } else {
    outlet_.send(std::move(frame), to, account);
  }
}

void Bridge::forward_sum(PacketPtr sum, std::span<const PortIndex> origins, PortIndex to,
                         Account account) {
  if (to == no_port) {
    const auto carried_from = sum->ingress;
    flood(std::move(sum), carried_from, origins, account);
  } else if (is_one_of(origins, to)) {
    outlet_.drop(std::move(sum), DropReason::bridge_same_port, account);
  } else {
    forward(std::move(sum), no_port, to, account);
  }
}

void Bridge::forward_otherwise(PacketPtr frame, PortIndex from, PortIndex to, Account account) {
  if (to == no_port) {
    flood(std::move(frame), from, {}, account);
  } else {
    outlet_.drop(std::move(frame),
                 to == from ? DropReason::bridge_same_port : DropReason::local_unserved, account);
  }
}

// The frame itself leaves by the last port of its VLAN, and copies, which are originated here,
// leave by the others: each packet has one fate.
void Bridge::flood(PacketPtr frame, PortIndex from, std::span<const PortIndex> origins,
                   Account account) {
  const auto vid = vlans_.vid_of(*frame);
  PortIndex last = no_port;
  for (const auto port : interfaces_.bridged_ports()) {
    if (port == from || is_one_of(origins, port) || !interfaces_.port(port).up ||
        !vlans_.carries(port, vid)) {
      continue;
    }
    if (last != no_port) {
      if (auto copy = outlet_.originate_copy(*frame)) {
        send(std::move(copy), last, Account::originated);
      }
    }
    last = port;
  }
  if (last == no_port) {
    outlet_.drop(std::move(frame), DropReason::bridge_no_port, account);
  } else {
    send(std::move(frame), last, account);
  }
}

}  // namespace tributary::switching
