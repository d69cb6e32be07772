// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/frame.h"
#include "packet/pool.h"
#include "protocols/flare/traffic/frames.h"
#include "protocols/flare/wire.h"
#include "traffic/block_traffic.h"
#include "traffic/block_values.h"
#include "traffic/stations.h"
#include "traffic/tree_places.h"

namespace tributary::flare {

// Aggregation with Flare: all workers of some jobs, in step, and the root of their trees if the
// switch is not. A unit is a block, done when all its workers have the result. What is lost counts
// as lost, but is sent again, as workers would: a block must be over before the window goes on
// beyond it.
class FlareTraffic final : public traffic::BlockTraffic {
 public:
  // The stations outlive it.
  FlareTraffic(traffic::TreePlan plan, const traffic::Stations& stations, PacketPool& pool);

  void expire(Time now, traffic::Outbox& out) override;
  std::vector<traffic::Figure> figures() const override;

 private:
  struct Block : OpenBlock {
    std::uint64_t number = 0;
    bool overdue = false;     // to be sent again by those that wait
    std::uint32_t tries = 0;  // of these
  };
  struct Job {
    std::uint32_t number = 0;  // the first one is 0
    const traffic::BlockValues* values = nullptr;
    FlareFrames frames;
    std::uint64_t next = 0;     // of the block that begins next
    std::uint64_t oldest = 0;   // none before it is open
    std::uint32_t overdue = 0;  // blocks
    std::vector<Block> blocks;  // by number, modulo theirs
  };
  // Since the trial began.
  struct Figures {
    std::uint64_t sums = 0;  // that came to the root that is played
    std::uint64_t answers = 0;
    std::uint64_t inquiries = 0;
    std::uint64_t retransmissions = 0;
    std::uint64_t overdue = 0;
  };

  bool has_contribution() override;
  bool begin_blocks(std::size_t number) override;
  Contribution next_contribution(Time now) override;
  void arrived(PacketPtr packet, std::size_t port, Time now, traffic::Outbox& out) override;
  void clear_figures() override { figures_ = {}; }

  static Block& block_at(Job& job, std::uint64_t number) {
    return job.blocks[number & (job.blocks.size() - 1)];
  }
  Job* find_job(const engine::Frame& frame, const wire::FlareHeader& header);
  bool begin_next(Job& job);
  bool begin_again(Job& job);
  bool seek_waiting(Job& job);
  bool is_right(const Job& job, wire::FlareKind kind, const wire::FlareHeader& header,
                wire::Bytes payload) const;
  void take_result(Job& job, std::uint32_t rank, const wire::FlareHeader& header, Time now);
  void answer(const Job& job, PacketPtr sum, traffic::Outbox& out);
  void note_overdue(Job& job, Block& block);
  void close_block(Job& job, Block& block);

  traffic::TreePlan plan_;
  const traffic::Stations& stations_;
  traffic::TreePlaces places_;
  PacketPool& pool_;
  std::vector<std::unique_ptr<traffic::BlockValues>> values_;  // by kind
  std::vector<Job> jobs_;
  bool again_ = false;  // the turn is of one block that was sent before
  Figures figures_;
};

}  // namespace tributary::flare
