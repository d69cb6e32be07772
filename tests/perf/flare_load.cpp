// SPDX-License-Identifier: BSD-3-Clause
#include "flare_load.h"

#include "addresses.h"
#include "protocols/flare/engine/config.h"

namespace tributary::perf {

FlareLoad::FlareLoad(const FlareShape& shape)
    : shape_(shape), payload_(shape.elements * wire::element_bytes(shape.type)) {}

switching::SwitchConfig FlareLoad::config() const {
  auto config = routed_switch(shape_.ports);
  config.address = aggregation_address;
  auto& flare = config.protocols.emplace<flare::FlareConfig>();
  std::uint64_t needed = 0;
  for (std::uint32_t job = 0; job < shape_.jobs; ++job) {
    auto& tree = flare.trees.emplace_back();
    tree.job = job + 1;
    tree.group = group_of(job);
    for (PortIndex port = 0; port < shape_.ports; ++port) {
      tree.children.push_back(port);
    }
    tree.workers = tree.workers_below = shape_.ports;
    tree.window = window();
    tree.reproducible = shape_.reproducible;
    needed += flare::buffers_of(tree);
  }
  flare.working_memory = static_cast<std::uint32_t>(needed);
  return config;
}

// The buffers of a generation that gathers and the results of two that are kept, and a burst of
// results with their copies.
std::size_t FlareLoad::packets() const {
  const std::size_t sums = shape_.reproducible ? shape_.ports : 1;
  return shape_.in_flight * (flare::buffers_per_sum_max * sums + 2) + 64u * shape_.ports +
         2 * PacketPool::batch;
}

PacketList FlareLoad::next(PacketPool& pool, std::size_t count) {
  if (row_ == shape_.in_flight) {
    advance();
  }
  PacketList packets;
  for (; packets.size() < count && row_ < shape_.in_flight; ++row_) {
    packets.push(make(pool));
  }
  return packets;
}

void FlareLoad::advance() {
  row_ = 0;
  if (++turn_ == shape_.ports) {
    turn_ = 0;
    ++generation_;
  }
}

PacketPtr FlareLoad::make(PacketPool& pool) const {
  const auto job = row_ % shape_.jobs;
  test::FlareSpec spec;
  spec.type = shape_.type;
  spec.op = wire::any_operator(shape_.type);
  spec.job = job + 1;
  spec.group = group_of(job);
  spec.block = generation_ * window() + row_ / shape_.jobs;
  spec.workers = shape_.ports;
  spec.window = static_cast<std::uint16_t>(window());
  spec.fingerprint = wire::mix_key(spec.block, turn_);
  spec.ingress = static_cast<PortIndex>(turn_);
  spec.source = station_address(spec.ingress, 0);
  spec.source_mac = station_mac(turn_);
  return test::make_flare(pool, spec, payload_);
}

}  // namespace tributary::perf
