// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/frame.h"
#include "packet/pool.h"
#include "protocols/panama/engine/config.h"
#include "protocols/panama/traffic/frames.h"
#include "traffic/block_traffic.h"
#include "traffic/block_values.h"
#include "traffic/stations.h"
#include "traffic/tree_places.h"

namespace tributary::panama {

// Makes traffic of aggregation with PANAMA: all workers of some jobs, in step, and the root of
// their trees if the switch is not. A unit is a block: one VID, done when all its workers have the
// result. Every tree has a window, as wide as the switches allow. What is lost is not sent again:
// the collective ends there, and the next one begins when the rest of it is done or lost.
class PanamaTraffic final : public traffic::BlockTraffic {
 public:
  // The stations outlive it.
  PanamaTraffic(TrafficPlan plan, const traffic::Stations& stations, PacketPool& pool);

  void expire(Time now, traffic::Outbox& out) override;
  std::vector<traffic::Figure> figures() const override;

 private:
  struct Block : OpenBlock {
    PanamaPosition at;
  };
  struct Tree {
    std::uint32_t job = 0;  // the first one is 0
    const traffic::BlockValues* values = nullptr;
    PanamaFrames frames;
    PanamaPosition next;       // of the block that begins next
    std::uint32_t oldest = 0;  // VID; none before it is open
    std::uint32_t cap = initial_window;
    bool broken = false;        // a block was lost: the collective ends early
    std::vector<Block> blocks;  // by VID, modulo their number
  };
  // These count since the trial began.
  struct Figures {
    std::uint64_t collectives = 0;
    std::uint64_t congested = 0;  // results, marked
    std::uint64_t sums = 0;       // that came to the root that is played
    std::uint64_t answers = 0;
  };

  bool begin_blocks(std::size_t number) override;
  Contribution next_contribution(Time now) override;
  void arrived(PacketPtr packet, std::size_t port, Time now, traffic::Outbox& out) override;
  void clear_figures() override { figures_ = {}; }

  static Block& block_at(Tree& tree, std::uint32_t vid) {
    return tree.blocks[vid & (tree.blocks.size() - 1)];
  }
  Tree* find_tree(const engine::Frame& frame, const wire::PanamaHeader& header);
  bool may_begin_block(const Tree& tree) const;
  void begin_collective(Tree& tree);
  bool is_right(const Tree& tree, wire::PanamaKind kind, const wire::PanamaHeader& header,
                wire::Bytes payload) const;
  void take_result(Tree& tree, std::uint32_t rank, const engine::Frame& frame,
                   const wire::PanamaHeader& header, Time now);
  void answer(const Tree& tree, PacketPtr sum, traffic::Outbox& out);
  void close_block(Tree& tree, Block& block);

  TrafficPlan plan_;
  const traffic::Stations& stations_;
  traffic::TreePlaces places_;
  PacketPool& pool_;
  std::vector<std::unique_ptr<traffic::BlockValues>> values_;  // by kind
  std::vector<Tree> trees_;                                    // of the first job, then of the next
  Figures figures_;
};

}  // namespace tributary::panama
