// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device.h"
#include "packet/list.h"
#include "packet/pool.h"
#include "switch/config.h"
#include "wire/element.h"

namespace tributary::perf {

// A ring whose ranks are all attached to one switch.
struct NetReduceShape {
  std::uint16_t message_packets = 64;  // a multiple of a burst
  PortIndex ports = 8;                 // with a rank on each
  std::uint16_t mtu = 1024;
  wire::ElementType type = wire::ElementType::f32;
};

// The packets of whole messages, one after the other. In every generation, which is a message, it
// is each rank's turn once: its packets begin aggregators in the first turn and complete them in
// the last.
class NetReduceLoad {
 public:
  explicit NetReduceLoad(const NetReduceShape& shape);

  switching::SwitchConfig config() const;
  std::size_t bursts_per_generation() const {
    return std::size_t{shape_.message_packets} * shape_.ports / Device::burst;
  }
  std::size_t packets() const;  // that a pool needs

  // The next packets, up to `count`; all of the same turn.
  PacketList next(PacketPool& pool, std::size_t count);
  // Of the packets that next() returns.
  std::uint32_t turn() const { return turn_; }

  // The first rank's message 0, in so many runs one after the other.
  PacketList begin_runs(PacketPool& pool, std::size_t count);

 private:
  // Message 0 has one packet.
  std::uint32_t packets_of_message() const { return message_ == 0 ? 1 : shape_.message_packets; }
  PacketPtr make(PacketPool& pool);

  NetReduceShape shape_;
  std::vector<std::byte> payload_;
  std::uint32_t run_ = 0;
  std::uint32_t message_ = 0;
  std::uint32_t turn_ = 0;
  std::uint32_t offset_ = 0;
};

}  // namespace tributary::perf
