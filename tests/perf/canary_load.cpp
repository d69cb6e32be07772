// SPDX-License-Identifier: BSD-3-Clause
#include "canary_load.h"

#include <algorithm>
#include <string>

#include "addresses.h"
#include "protocols/canary/engine/config.h"

namespace tributary::perf {

CanaryLoad::CanaryLoad(const CanaryShape& shape)
    : shape_(shape), payload_(shape.elements * wire::element_bytes(shape.type)) {
  for (std::uint32_t w = 0; w < shape.jobs * shape.hosts; ++w) {
    const auto port = static_cast<PortIndex>(w % shape.ports);
    workers_.push_back({port, station_mac(w), station_address(port, w / shape.ports)});
  }
}

switching::SwitchConfig CanaryLoad::config() const {
  auto config = routed_switch(shape_.ports);
  config.address = aggregation_address;
  for (const auto& worker : workers_) {
    config.arp.push_back({worker.address, worker.mac});
  }
  config.protocols.emplace<canary::CanaryConfig>({});
  config.protocols.get<canary::CanaryConfig>().descriptors =
      shape_.descriptors != 0 ? shape_.descriptors : 4 * shape_.in_flight;
  config.protocols.get<canary::CanaryConfig>().hash_seed = 1;
  return config;
}

// A packet for each block in flight, and a burst of results with their copies.
std::size_t CanaryLoad::packets() const {
  return shape_.in_flight + 64 * shape_.hosts + 2 * PacketPool::batch;
}

PacketList CanaryLoad::next(PacketPool& pool, std::size_t count) {
  if (block_ == shape_.in_flight) {
    advance();
  }
  PacketList packets;
  for (; packets.size() < count && block_ < shape_.in_flight; ++block_) {
    packets.push(make(pool));
  }
  return packets;
}

void CanaryLoad::advance() {
  block_ = 0;
  if (++turn_ == shape_.hosts) {
    turn_ = 0;
    ++generation_;
  }
}

PacketPtr CanaryLoad::make(PacketPool& pool) const {
  const auto job = block_ % shape_.jobs;
  const auto id = (generation_ * shape_.in_flight + block_) / shape_.jobs;
  return test::make_canary(pool, is_result() ? result(job, id) : contribution(job, id), payload_);
}

test::CanarySpec CanaryLoad::contribution(std::uint32_t job, std::uint32_t id) const {
  const auto leader = id % shape_.hosts;
  const auto rank = (leader + 1 + turn_) % shape_.hosts;
  const auto& from = worker(job, rank);
  test::CanarySpec spec;
  spec.type = shape_.type;
  spec.op = shape_.op;
  spec.job = job + 1;
  spec.id = id;
  spec.hosts = shape_.hosts;
  spec.bypass = bypass_;
  spec.fingerprint = wire::mix_key(id, rank);
  spec.rank = static_cast<std::uint16_t>(rank);
  spec.destination = worker(job, leader).address;
  spec.child_address = from.address;
  spec.source_mac = from.mac;
  spec.destination_mac = port_mac(from.port);
  spec.ingress = from.port;
  return spec;
}

test::CanarySpec CanaryLoad::result(std::uint32_t job, std::uint32_t id) const {
  const auto& leader = worker(job, id % shape_.hosts);
  test::CanarySpec spec;
  spec.kind = wire::CanaryKind::result;
  spec.type = shape_.type;
  spec.op = shape_.op;
  spec.job = job + 1;
  spec.id = id;
  spec.counter = shape_.hosts;
  spec.hosts = shape_.hosts;
  spec.destination = aggregation_address;
  spec.child_address = leader.address;
  spec.source_mac = leader.mac;
  spec.destination_mac = port_mac(leader.port);
  spec.ingress = leader.port;
  return spec;
}

}  // namespace tributary::perf
