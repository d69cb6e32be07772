// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device.h"
#include "packet/list.h"
#include "packet/pool.h"
#include "support/panama_packets.h"
#include "switch/config.h"
#include "wire/element.h"

namespace tributary::perf {

// Trees whose workers are all attached to one switch, their root.
struct PanamaShape {
  std::uint32_t trees = 1;
  std::uint32_t in_flight = 64;  // rows, of all trees together; a multiple of a burst
  PortIndex ports = 8;           // with a worker of each tree on each
  std::uint16_t elements = 256;
  wire::ElementType type = wire::ElementType::f32;
};

// The packets of whole rows, generation after generation of `in_flight` rows. In every generation
// it is each row's turn once per worker: it is begun in the first turn and complete in the last.
class PanamaLoad {
 public:
  explicit PanamaLoad(const PanamaShape& shape);

  switching::SwitchConfig config() const;
  std::size_t bursts_per_generation() const {
    return std::size_t{shape_.in_flight} * shape_.ports / Device::burst;
  }
  std::size_t packets() const;  // that a pool needs

  // The next packets, up to `count`; all of the same turn.
  PacketList next(PacketPool& pool, std::size_t count);
  // Of the packets that next() returns.
  std::uint32_t turn() const { return turn_; }

 private:
  PacketPtr make(PacketPool& pool) const;
  void advance();

  PanamaShape shape_;
  std::vector<std::byte> payload_;
  std::uint32_t generation_ = 0;
  std::uint32_t turn_ = 0;
  std::uint32_t row_ = 0;
};

}  // namespace tributary::perf
