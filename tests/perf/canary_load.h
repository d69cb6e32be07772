// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device.h"
#include "packet/list.h"
#include "packet/pool.h"
#include "support/canary_packets.h"
#include "switch/config.h"
#include "wire/element.h"

namespace tributary::perf {

// Jobs whose workers are all attached to one switch.
struct CanaryShape {
  std::uint32_t jobs = 1;
  std::uint32_t in_flight = 64;  // blocks, of all jobs together; a multiple of a burst
  PortIndex ports = 8;
  std::uint16_t hosts = 8;  // of each job
  std::uint16_t elements = 256;
  wire::ElementType type = wire::ElementType::f32;
  wire::Operator op = wire::Operator::sum;
  std::uint32_t descriptors = 0;  // 0: four times as many as blocks are in flight
};

// The packets of whole blocks, generation after generation of `in_flight` blocks. In every
// generation it is each block's turn `hosts` times: in the first turn it is begun, in the one
// before the last completed, and in the last its leader sends the result.
class CanaryLoad {
 public:
  explicit CanaryLoad(const CanaryShape& shape);

  switching::SwitchConfig config() const;
  std::size_t bursts_per_generation() const {
    return std::size_t{shape_.in_flight} * shape_.hosts / Device::burst;
  }
  std::size_t packets() const;  // that a pool needs

  // The next packets, up to `count`; all of the same turn.
  PacketList next(PacketPool& pool, std::size_t count);
  // Of the packets that next() returns.
  std::uint32_t turn() const { return turn_; }
  bool is_result() const { return turn_ + 1 == shape_.hosts; }

  // As they would pass a switch that is not to add them up.
  void set_bypass(bool bypass) { bypass_ = bypass; }

 private:
  struct Worker {
    PortIndex port;
    wire::MacAddress mac;
    wire::Ipv4Address address;
  };
  const Worker& worker(std::uint32_t job, std::uint32_t rank) const {
    return workers_[job * shape_.hosts + rank];
  }
  PacketPtr make(PacketPool& pool) const;
  test::CanarySpec contribution(std::uint32_t job, std::uint32_t id) const;
  test::CanarySpec result(std::uint32_t job, std::uint32_t id) const;
  void advance();

  CanaryShape shape_;
  std::vector<Worker> workers_;
  std::vector<std::byte> payload_;
  std::uint32_t generation_ = 0;
  std::uint32_t turn_ = 0;
  std::uint32_t block_ = 0;
  bool bypass_ = false;
};

}  // namespace tributary::perf
