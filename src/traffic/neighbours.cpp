// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/neighbours.h"

#include <utility>

#include "traffic/claims.h"

namespace tributary::traffic {

Neighbours::Neighbours(const Stations& stations, PacketPool& pool)
    : stations_(stations), pool_(pool) {
  for (std::size_t port = 0; port < stations.ports(); ++port) {
    gateways_.push_back(stations.range(port).gateway_mac);
  }
}

void Neighbours::send(std::size_t most, Time now, Outbox& out) {
  for (; most > 0 && !announced(); --most) {
    announce(out);
  }
  if (!announced() || now < ask_at_) {
    return;
  }
  ask_at_ = never;
  for (std::size_t port = 0; port < stations_.ports(); ++port) {
    if (stations_.range(port).gateway && !gateways_[port]) {
      ask(port, out);
      ask_at_ = now + ask_again_after;
    }
  }
}

std::optional<wire::IpAddress> Neighbours::unresolved() const {
  for (std::size_t port = 0; port < stations_.ports(); ++port) {
    if (stations_.range(port).gateway && !gateways_[port]) {
      return stations_.range(port).gateway;
    }
  }
  return std::nullopt;
}

void Neighbours::announce(Outbox& out) {
  if (announce_index_ == stations_.range(announce_port_).count) {
    announce_index_ = 0;
    ++announce_port_;
    return;
  }
  if (auto packet = pool_.allocate()) {
    write_announcement(*packet, stations_.ip(announce_port_, announce_index_),
                       stations_.mac(announce_port_, announce_index_));
    out[announce_port_].push(std::move(packet));
  }
  ++announce_index_;
}

void Neighbours::ask(std::size_t port, Outbox& out) {
  if (auto packet = pool_.allocate()) {
    write_question(*packet, stations_.ip(port, 0), stations_.mac(port, 0),
                   *stations_.range(port).gateway);
    out[port].push(std::move(packet));
  }
}

bool Neighbours::take(PacketPtr& packet, std::size_t port, Outbox& out) {
  if (!is_claim(*packet)) {
    return false;
  }
  PacketPtr taken = std::move(packet);
  const auto claim = read_claim(*taken);
  if (!claim) {
    return true;
  }
  const auto& range = stations_.range(port);
  if (range.gateway == claim->who && !range.gateway_mac) {
    gateways_[port] = claim->mac;
  }
  const auto index = stations_.find_ip(port, claim->whom);
  // A host is asked by others: what asks in its own name is its announcement, come back.
  if (claim->asks && index && !stations_.find_ip(port, claim->who)) {
    write_answer(*taken, *claim, stations_.mac(port, *index));
    out[port].push(std::move(taken));
  }
  return true;
}

}  // namespace tributary::traffic
