// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "canary_values.h"
#include "engine/frame.h"
#include "packet/list.h"
#include "packet/pool.h"
#include "panama_frames.h"
#include "stations.h"
#include "traffic.h"

namespace tributary::pktgen {

// Aggregation with PANAMA: all workers of some jobs, in step, and the root of their trees if the
// switch is not. A unit is a block: one VID, done when all its workers have the result. Every tree
// has a window, as wide as the switches allow. What is lost is not sent again: the collective ends
// there, and the next one begins when the rest of it is done or lost.
class PanamaTraffic final : public Traffic {
 public:
  // The stations outlive it.
  PanamaTraffic(PanamaPlan plan, const Stations& stations, PacketPool& pool);
  ~PanamaTraffic() override;

  void send(std::size_t most, Time now, Pacer& pacer, Outbox& out) override;
  void receive(PacketList arrivals, std::size_t port, Time now, Outbox& out) override;
  void expire(Time now, Outbox& out) override;
  Time deadline() const override;
  std::uint64_t under_way() const override { return in_flight_; }
  void begin_epoch() override;
  void close() override { closed_ = true; }
  const Counters& counters() const override { return counters_; }
  const Histogram& latency() const override { return latency_; }
  std::uint64_t wrong() const override { return wrong_; }
  std::vector<Figure> figures() const override;

 private:
  struct Block {
    PanamaPosition at;
    bool open = false;
    std::uint32_t trial = 0;
    std::uint32_t sent = 0;     // contributions
    std::uint64_t waiting = 0;  // ranks without the result, a bit each
    Time since{};               // when the last contribution was sent
  };
  struct Tree {
    std::uint32_t job = 0;  // the first one is 0
    const CanaryValues* values = nullptr;
    PanamaFrames frames;
    PanamaPosition next;       // of the block that begins next
    std::uint32_t oldest = 0;  // VID; none before it is open
    std::uint32_t cap = panama::initial_window;
    bool broken = false;        // a block was lost: the collective ends early
    std::vector<Block> blocks;  // by VID, modulo their number
  };
  // The blocks that are being sent.
  struct Group {
    Tree* tree = nullptr;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::uint32_t rank = 0;   // whose turn it is ...
    std::uint32_t place = 0;  // ... and in which block
  };
  // Since the trial began.
  struct Figures {
    std::uint64_t collectives = 0;
    std::uint64_t results = 0;
    std::uint64_t congested = 0;  // of those, marked
    std::uint64_t sums = 0;       // that came to the root that is played
    std::uint64_t answers = 0;
    std::uint64_t given_up = 0;
    std::uint64_t duplicates = 0;
    std::uint64_t invalid = 0;
  };

  static std::uint64_t bit(std::uint32_t rank) { return std::uint64_t{1} << rank; }
  static Block& block_at(Tree& tree, std::uint32_t vid) {
    return tree.blocks[vid & (tree.blocks.size() - 1)];
  }
  Tree* find_tree(const engine::Frame& frame, const wire::PanamaHeader& header);
  bool begin_group();
  bool begin_blocks(Tree& tree);
  bool may_begin(const Tree& tree) const;
  void begin_collective(Tree& tree);
  void advance();
  PacketPtr next_contribution(Time now);
  void arrived(PacketPtr packet, std::size_t port, Time now, Outbox& out);
  bool is_right(const Tree& tree, wire::PanamaKind kind, const wire::PanamaHeader& header,
                wire::Bytes payload) const;
  void take_result(Tree& tree, std::uint32_t rank, const engine::Frame& frame,
                   const wire::PanamaHeader& header, Time now);
  void answer(const Tree& tree, PacketPtr sum, Outbox& out);
  void close(Tree& tree, Block& block);

  PanamaPlan plan_;
  const Stations& stations_;
  PanamaPlaces places_;
  PacketPool& pool_;
  std::vector<std::unique_ptr<CanaryValues>> values_;  // by kind
  std::vector<Tree> trees_;                            // of the first job, then of the next
  std::size_t next_tree_ = 0;
  Group group_;
  std::uint64_t in_flight_ = 0;
  std::uint32_t trial_ = 0;
  bool closed_ = false;
  Time checked_{};
  Counters counters_;
  Figures figures_;
  Histogram latency_;
  std::uint64_t wrong_ = 0;
};

}  // namespace tributary::pktgen
