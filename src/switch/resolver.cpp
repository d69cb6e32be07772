// SPDX-License-Identifier: BSD-3-Clause
#include "switch/resolver.h"

#include <algorithm>
#include <utility>

namespace tributary::switching {

template <typename Address>
Resolver<Address>::Resolver(const Interfaces& interfaces, Bridge& bridge, Outlet& outlet,
                            CoreShare share, Table table, Reasons reasons)
    : interfaces_(interfaces),
      outlet_(outlet),
      table_(std::move(table)),
      bridge_(bridge),
      keeps_gateways_(share.core == 0),
      reasons_(reasons),
      bridge_vid_(interfaces.on_bridge().back().vid) {
  questions_.reserve(table_.entries_max());
}

template <typename Address>
PortIndex Resolver<Address>::interface_in_another_vlan() {
  questions_.reserve(table_.entries_max());
  const auto vid = interfaces_.on_bridge().back().vid;
  return std::exchange(bridge_vid_, vid) == vid ? no_port : forwarding::bridge_interface;
}

template <typename Address>
void Resolver<Address>::set_gateways(std::vector<Gateway> gateways) {
  gateways_ = std::move(gateways);
  std::vector<Address> addresses;
  for (const auto& gateway : gateways_) {
    addresses.push_back(gateway.via);
  }
  table_.keep(addresses);
  gateway_check_at_ = keeps_gateways_ && !gateways_.empty() ? Time{} : never;
}

template <typename Address>
void Resolver<Address>::send_later(PacketPtr frame, PortIndex interface, const Address& address,
                                   Account account, Time now) {
  switch (table_.wait(frame, address, interface, now)) {
    case Table::Wait::asked:
      outlet_.keep(account);
      ask({address, interface}, now);
      break;
    case Table::Wait::waiting:
      outlet_.keep(account);
      break;
    case Table::Wait::asked_full:
      outlet_.drop(std::move(frame), reasons_.queue_full, account);
      ask({address, interface}, now);
      break;
    case Table::Wait::full:
      outlet_.drop(std::move(frame), reasons_.queue_full, account);
      break;
  }
}

template <typename Address>
void Resolver<Address>::flush(Time now) {
  if (!table_.has_released()) {
    return;
  }
  table_.release([&](PacketList packets, const wire::MacAddress& mac, PortIndex interface) {
    while (auto packet = packets.pop()) {
      outlet_.count_originated();
      transmit(std::move(packet), interface, mac, Account::originated, now);
    }
  });
}

template <typename Address>
PacketList Resolver<Address>::expire(Time now) {
  PacketList unresolved;
  questions_.clear();
  table_.expire(now, questions_, unresolved);
  for (const auto& question : questions_) {
    ask(question, now);
  }
  if (now >= gateway_check_at_) {
    check_gateways(now);
  }
  flush(now);
  return unresolved;
}

template <typename Address>
void Resolver<Address>::drop_unresolved(PacketPtr packet) {
  outlet_.count_originated();
  outlet_.drop(std::move(packet), reasons_.unresolved, Account::originated);
}

template <typename Address>
void Resolver<Address>::check_gateways(Time now) {
  for (const auto& [address, interface] : gateways_) {
    if (!interfaces_.is_up(interface)) {
      continue;
    }
    const auto known = table_.find(address, now);
    PacketPtr none;
    if (known.ask || (known.mac == nullptr &&
                      table_.wait(none, address, interface, now) == Table::Wait::asked)) {
      ask({address, interface}, now);
    }
  }
  gateway_check_at_ = now + gateway_check_interval;
}

template <typename Address>
Time Resolver<Address>::deadline() const {
  if (table_.has_released()) {
    return Time{};
  }
  return std::min(table_.deadline(), gateway_check_at_);
}

template class Resolver<wire::Ipv4Address>;
template class Resolver<wire::IpAddress>;

}  // namespace tributary::switching
