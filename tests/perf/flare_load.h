// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device.h"
#include "packet/list.h"
#include "packet/pool.h"
#include "support/flare_packets.h"
#include "switch/config.h"
#include "wire/element.h"

namespace tributary::perf {

// Jobs whose workers are all attached to one switch, the root of their trees.
struct FlareShape {
  std::uint32_t jobs = 1;
  std::uint32_t in_flight = 64;  // blocks, of all jobs together; a multiple of a burst
  PortIndex ports = 8;           // with a worker of each job on each
  std::uint16_t elements = 256;
  wire::ElementType type = wire::ElementType::f32;
  bool reproducible = false;
};

// The packets of whole blocks, generation after generation of `in_flight` blocks: a window of each
// job. In every generation it is each block's turn once per worker: it is begun in the first turn
// and complete in the last.
class FlareLoad {
 public:
  explicit FlareLoad(const FlareShape& shape);

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
  std::uint32_t window() const { return shape_.in_flight / shape_.jobs; }
  PacketPtr make(PacketPool& pool) const;
  void advance();

  FlareShape shape_;
  std::vector<std::byte> payload_;
  std::uint64_t generation_ = 0;
  std::uint32_t turn_ = 0;
  std::uint32_t row_ = 0;
};

}  // namespace tributary::perf
