// SPDX-License-Identifier: BSD-3-Clause
#include "netreduce_load.h"

#include <cstring>

#include "addresses.h"
#include "protocols/netreduce/engine/config.h"
#include "support/frames.h"
#include "support/roce_packets.h"

namespace tributary::perf {

NetReduceLoad::NetReduceLoad(const NetReduceShape& shape) : shape_(shape), payload_(shape.mtu) {}

switching::SwitchConfig NetReduceLoad::config() const {
  auto config = routed_switch(shape_.ports);
  auto& ring = config.protocols.emplace<netreduce::NetReduceConfig>().rings.emplace_back();
  ring.id = 1;
  ring.message_packets = shape_.message_packets;
  ring.mtu = shape_.mtu;
  for (PortIndex port = 0; port < shape_.ports; ++port) {
    ring.members.emplace_back(station_address(port, 0));
    config.arp.push_back({station_address(port, 0), station_mac(port)});
  }
  return config;
}

// What waits, and a burst of sums.
std::size_t NetReduceLoad::packets() const {
  return std::size_t{shape_.message_packets} * shape_.ports + 64u * shape_.ports +
         2 * PacketPool::batch;
}

PacketList NetReduceLoad::next(PacketPool& pool, std::size_t count) {
  if (offset_ == packets_of_message()) {
    offset_ = 0;
    if (++turn_ == shape_.ports) {
      turn_ = 0;
      ++message_;
    }
  }
  PacketList packets;
  for (; packets.size() < count && offset_ < packets_of_message(); ++offset_) {
    packets.push(make(pool));
  }
  return packets;
}

PacketList NetReduceLoad::begin_runs(PacketPool& pool, std::size_t count) {
  message_ = turn_ = offset_ = 0;
  PacketList packets;
  while (packets.size() < count) {
    ++run_;
    packets.push(make(pool));
  }
  return packets;
}

PacketPtr NetReduceLoad::make(PacketPool& pool) {
  const auto packets = packets_of_message();
  const auto rank = static_cast<std::uint16_t>(turn_);
  test::GradientSpec gradient;
  gradient.run = run_;
  gradient.rank = rank;
  gradient.world = shape_.ports;
  gradient.message = message_;
  gradient.length = packets * shape_.mtu;
  gradient.type = shape_.type;
  const auto header = test::ina_of(gradient, shape_.mtu);
  std::memset(payload_.data(), 0, sizeof header);
  std::memcpy(payload_.data(), &header, offset_ == 0 ? sizeof header : 0);
  test::RoceSpec roce;
  roce.source = station_address(rank, 0);
  roce.destination = station_address(static_cast<PortIndex>((turn_ + 1) % shape_.ports), 0);
  roce.psn =
      message_ == 0 ? 0 : wire::psn_add(1, (message_ - 1) * shape_.message_packets + offset_);
  roce.opcode = test::roce_opcode(false, offset_ == 0, offset_ + 1 == packets, true);
  roce.length = gradient.length;
  roce.ingress = rank;
  auto packet = test::make_roce(pool, roce, payload_);
  test::ethernet_of(*packet).source = station_mac(rank);
  test::ethernet_of(*packet).destination = port_mac(rank);
  return packet;
}

}  // namespace tributary::perf
