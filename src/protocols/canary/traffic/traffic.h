// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "packet/list.h"
#include "packet/pool.h"
#include "protocols/canary/traffic/frames.h"
#include "protocols/canary/wire.h"
#include "reduce/kernel.h"
#include "traffic/block_traffic.h"
#include "traffic/block_values.h"
#include "traffic/neighbours.h"
#include "wire/element.h"

namespace tributary::canary {

// The leader is one of the workers of a job.
struct TrafficPlan : traffic::BlockPlan {
  wire::Encapsulation encapsulation = wire::Encapsulation::udp;
  std::uint32_t first_job = 1;
  std::uint32_t window = 64;  // blocks in flight, per job
  std::uint16_t elements = 256;
};

// Makes traffic of aggregation with Canary: all workers of some jobs, their leaders included.
// Workers contribute; the leader of a block adds up what reaches it, adds its own part, and answers
// each sender; every worker checks every result, whenever it comes. A unit is a block, done when
// all workers have its result.
class CanaryTraffic final : public traffic::BlockTraffic {
 public:
  // Stations and neighbours outlive it.
  CanaryTraffic(TrafficPlan plan, const traffic::Stations& stations,
                const traffic::Neighbours& neighbours, PacketPool& pool);

  void expire(Time now, traffic::Outbox& out) override;
  std::vector<traffic::Figure> figures() const override;

 private:
  // These are numbers of one element type and operator.
  struct Material {
    explicit Material(const TrafficPlan& plan, const traffic::Reduction& kind);
    traffic::BlockValues values;
    const reduce::Kernel& kernel;
  };
  struct Block : OpenBlock {
    std::uint32_t sequence = 0;
    std::uint32_t shift = 0;
    std::uint32_t leader = 0;
    std::uint64_t total = 0;     // the fingerprint of all ranks; 0: there was no block yet
    std::uint32_t gathered = 0;  // contributions that reached the leader
    std::uint64_t fingerprint = 0;
    bool congested = false;    // any of them
    PacketList kept;           // what reached the leader, which keeps it
    std::byte* sum = nullptr;  // in the first of them
  };
  struct Job {
    CanaryJob wire;
    const Material* material = nullptr;
    std::uint32_t next = 0;    // sequence number of the block that begins next
    std::uint32_t oldest = 0;  // none before it is open
    std::uint32_t open = 0;
    std::vector<Block> blocks;  // by sequence number, modulo their number
  };
  // These count since the trial began.
  struct Figures {
    std::uint64_t sums = 0;  // contributions that reached leaders
    std::uint64_t answers = 0;
    std::uint64_t restorations = 0;
    std::uint64_t fingerprint_mismatches = 0;
  };

  bool begin_blocks(std::size_t number) override;
  Contribution next_contribution(Time now) override;
  void arrived(PacketPtr packet, std::size_t port, Time now, traffic::Outbox& out) override;
  void clear_figures() override { figures_ = {}; }

  static Block& block_at(Job& job, std::uint32_t sequence) {
    return job.blocks[sequence & (job.blocks.size() - 1)];
  }
  static const Block& block_at(const Job& job, std::uint32_t sequence) {
    return job.blocks[sequence & (job.blocks.size() - 1)];
  }
  std::uint32_t shift_of(const Job& job, std::uint32_t sequence) const;

  std::uint32_t leader_of_turn() const;
  bool advance();

  void take_contribution(PacketPtr packet, const wire::CanaryView& view, Job& job,
                         std::uint32_t leader, traffic::Outbox& out);
  bool is_right_result(const Job& job, const wire::CanaryHeader& header, wire::Bytes payload) const;
  void take_result(Job& job, std::uint32_t sequence, std::uint32_t rank, Time now);
  bool is_kept(const Block& block, const wire::CanaryHeader& header) const;
  void add(const Job& job, wire::Bytes part, std::byte* sum);
  void conclude(Job& job, Block& block, traffic::Outbox& out);
  bool is_answered(const PacketList& answers, const wire::CanaryHeader& header) const;
  void answer_all(Job& job, Block& block, traffic::Outbox& out);
  void give_up(Job& job, Block& block, traffic::Outbox& out);
  void close_block(Job& job, Block& block);

  TrafficPlan plan_;
  traffic::Ranks ranks_;
  CanaryFrames frames_;
  const traffic::Neighbours& neighbours_;
  PacketPool& pool_;
  std::vector<std::unique_ptr<Material>> materials_;
  std::vector<Job> jobs_;
  std::vector<float> scratch_;  // accumulator of floats of 16 and 8 bits
  Figures figures_;
};

}  // namespace tributary::canary
