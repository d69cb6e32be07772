// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/frame.h"
#include "packet/pool.h"
#include "protocols/netreduce/traffic/frames.h"
#include "traffic/block_traffic.h"
#include "traffic/block_values.h"
#include "traffic/neighbours.h"
#include "traffic/stations.h"

namespace tributary::netreduce {

// Makes traffic of aggregation with NetReduce: all workers of some rings, in step, each sending to
// the next. A unit is a block: the packets of all ranks that have the same place, done when every
// rank has got the one that the rank before it sent, with the sum. Receivers do not answer, and
// what is lost is not sent again: the run ends there, and the next one begins when the rest of it
// is done or lost.
class NetReduceTraffic final : public traffic::BlockTraffic {
 public:
  // Stations and neighbours outlive it.
  NetReduceTraffic(TrafficPlan plan, const traffic::Stations& stations,
                   const traffic::Neighbours& neighbours, PacketPool& pool);

  void expire(Time now, traffic::Outbox& out) override;
  std::vector<traffic::Figure> figures() const override;

 private:
  struct Block : OpenBlock {
    std::uint64_t sequence = 0;
  };
  // Blocks are numbered in the order in which they begin, through all runs.
  struct Ring {
    const traffic::BlockValues* values = nullptr;
    NetReduceFrames frames;
    std::uint32_t run = 0;
    std::uint64_t first{};      // first block of the run
    std::uint64_t next{};       // block that begins next
    std::uint64_t oldest{};     // oldest block that may be open
    bool broken = false;        // a block was lost: the run ends early
    std::vector<Block> blocks;  // by number, modulo how many there are
  };

  bool begin_blocks(std::size_t job) override;
  Contribution next_contribution(Time now) override;
  void arrived(PacketPtr packet, std::size_t port, Time now, traffic::Outbox& out) override;
  void clear_figures() override { runs_ = 0; }

  static Block& block_at(Ring& ring, std::uint64_t number) {
    return ring.blocks[number & (ring.blocks.size() - 1)];
  }
  NetReducePlace place_of(const Ring& ring, std::uint64_t number) const;
  bool may_begin_block(const Ring& ring) const;
  std::optional<std::uint64_t> number_of(const Ring& ring, std::uint32_t rank,
                                         std::uint32_t psn) const;
  void take_result(Ring& ring, std::uint32_t rank, std::uint64_t number, Time now);
  void close_block(Ring& ring, Block& block);

  TrafficPlan plan_;
  traffic::Ranks ranks_;
  PacketPool& pool_;
  std::vector<std::unique_ptr<traffic::BlockValues>> values_;  // by kind
  std::vector<Ring> rings_;
  std::uint64_t runs_ = 0;  // since the trial began
};

}  // namespace tributary::netreduce
