// SPDX-License-Identifier: BSD-3-Clause
#include "panama_load.h"

#include "addresses.h"
#include "protocols/panama/engine/config.h"

namespace tributary::perf {

PanamaLoad::PanamaLoad(const PanamaShape& shape)
    : shape_(shape), payload_(shape.elements * wire::element_bytes(shape.type)) {}

// The trees' windows are the whole memory.
switching::SwitchConfig PanamaLoad::config() const {
  auto config = routed_switch(shape_.ports);
  config.address = aggregation_address;
  config.protocols.emplace<panama::PanamaConfig>();
  config.protocols.get<panama::PanamaConfig>().packet_memory = shape_.in_flight;
  for (std::uint32_t tree = 0; tree < shape_.trees; ++tree) {
    auto& place = config.protocols.get<panama::PanamaConfig>().trees.emplace_back();
    place.job = tree + 1;
    place.group = group_of(tree);
    for (PortIndex port = 0; port < shape_.ports; ++port) {
      place.children.push_back(port);
    }
    place.workers = place.workers_below = place.quorum = shape_.ports;
  }
  return config;
}

// One for each packet that waits or is kept, and a burst of results with their copies.
std::size_t PanamaLoad::packets() const {
  return std::size_t{shape_.in_flight} * (shape_.ports + 4u) + 64u * shape_.ports +
         2 * PacketPool::batch;
}

PacketList PanamaLoad::next(PacketPool& pool, std::size_t count) {
  // A window of one row at a time until the trees know what they have.
  const auto rows = generation_ == 0 ? shape_.trees : shape_.in_flight;
  if (row_ == rows) {
    advance();
  }
  PacketList packets;
  const auto end = generation_ == 0 ? shape_.trees : shape_.in_flight;
  for (; packets.size() < count && row_ < end; ++row_) {
    packets.push(make(pool));
  }
  return packets;
}

void PanamaLoad::advance() {
  row_ = 0;
  if (++turn_ == shape_.ports) {
    turn_ = 0;
    ++generation_;
  }
}

PacketPtr PanamaLoad::make(PacketPool& pool) const {
  const auto tree = row_ % shape_.trees;
  const auto before =
      generation_ == 0 ? 0 : 1 + (generation_ - 1) * (shape_.in_flight / shape_.trees);
  test::PanamaSpec spec;
  spec.type = shape_.type;
  spec.job = tree + 1;
  spec.group = group_of(tree);
  spec.vid = before + row_ / shape_.trees;
  spec.workers = shape_.ports;
  spec.rank = static_cast<std::uint16_t>(turn_);
  spec.fingerprint = wire::mix_key(spec.vid, turn_);
  spec.ingress = static_cast<PortIndex>(turn_);
  spec.source = station_address(spec.ingress, 0);
  spec.source_mac = station_mac(turn_);
  return test::make_panama(pool, spec, payload_);
}

}  // namespace tributary::perf
