// SPDX-License-Identifier: BSD-3-Clause
#include "switch/bridge.h"

#include <utility>
#include <vector>

#include "wire/ethernet.h"

namespace tributary::switching {

Bridge::Bridge(const SwitchConfig& config, const Interfaces& interfaces, Outlet& outlet,
               std::uint64_t seed)
    : interfaces_(interfaces), outlet_(outlet), fdb_(config.fdb_capacity, config.fdb_ageing, seed) {
  set_learning(config);
  add_static(config);
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
        fdb_.add_static(entry.mac, port);
      }
    }
  }
  for (const auto port : interfaces_.bridged_ports()) {
    fdb_.add_static(interfaces_.port(port).mac, forwarding::bridge_interface);
  }
}

void Bridge::reconfigure(const SwitchConfig& config) {
  fdb_.set_ageing(config.fdb_ageing);
  set_learning(config);
  fdb_.clear_static();
  add_static(config);
}

void Bridge::learn_quietly(const wire::MacAddress& source, PortIndex port, Time now) {
  fdb_.learn(source, port, now);
}

void Bridge::forward_otherwise(PacketPtr frame, PortIndex from, PortIndex to, Account account) {
  if (to == no_port) {
    flood(std::move(frame), from, account);
  } else {
    outlet_.drop(std::move(frame),
                 to == from ? DropReason::bridge_same_port : DropReason::local_unserved, account);
  }
}

// The frame itself leaves by the last port, copies by the others: one fate, and copies that are
// originated here.
void Bridge::flood(PacketPtr frame, PortIndex from, Account account) {
  PortIndex last = no_port;
  for (const auto port : interfaces_.bridged_ports()) {
    if (port == from || !interfaces_.port(port).up) {
      continue;
    }
    if (last != no_port) {
      if (auto copy = outlet_.originate_copy(*frame)) {
        outlet_.send(std::move(copy), last, Account::originated);
      }
    }
    last = port;
  }
  if (last == no_port) {
    outlet_.drop(std::move(frame), DropReason::bridge_no_port, account);
  } else {
    outlet_.send(std::move(frame), last, account);
  }
}

}  // namespace tributary::switching
