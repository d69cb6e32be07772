// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/frame.h"
#include "packet/pool.h"
#include "traffic/block_traffic.h"
#include "traffic/stations.h"
#include "traffic/tree_places.h"

namespace tributary::flare {

// Plays all workers of some jobs, in step, whose blocks are numbered through: a window of each
// job's blocks is in flight. A unit is a block, done when all its workers have the result. What is
// lost counts as lost, but is sent again, as workers would: a block must be over before the window
// goes on beyond it. What is in the packets, and what is made of those that come, is decided
// elsewhere.
class WindowTraffic : public traffic::BlockTraffic {
 public:
  void expire(Time now, traffic::Outbox& out) final;
  std::vector<traffic::Figure> figures() const final;

 protected:
  // The stations outlive it.
  WindowTraffic(traffic::TreePlan plan, const traffic::Stations& stations, PacketPool& pool);

  // Names a packet of what a rank contributes.
  struct Part {
    std::uint32_t job = 0;  // the first one is 0
    std::uint64_t block = 0;
    std::uint32_t rank = 0;
    std::uint32_t number = 0;
    bool again = false;
  };
  virtual void write(const Part& part, Packet& packet) = 0;
  // Returns the parts of each contribution to that job's blocks.
  virtual std::uint32_t parts_of(std::uint32_t job) const = 0;

  // Returns whether it is a packet of Flare, without IP options.
  static bool is_of_flare(const engine::Frame& frame);
  // Returns which of the jobs has that number and the group that the packet went to.
  std::optional<std::uint32_t> find_job(const engine::Frame& frame, std::uint32_t job) const;
  // Blocks of one job whose places differ can be in flight together.
  std::size_t places_per_job() const { return windows_.front().blocks.size(); }
  std::size_t place_of(std::uint64_t block) const { return block & (places_per_job() - 1); }
  bool is_in_flight(std::uint32_t job, std::uint64_t block) const;
  // Takes a result that is right and has come to a rank, whole.
  void take_result(std::uint32_t job, std::uint32_t rank, std::uint64_t block, Time now);
  void note_sum() { ++figures_.sums; }
  void note_answer() { ++figures_.answers; }
  void note_inquiry() { ++figures_.inquiries; }

  const traffic::TreePlan plan_;
  const traffic::Stations& stations_;
  const traffic::TreePlaces places_;
  PacketPool& pool_;

 private:
  struct Block : OpenBlock {
    std::uint64_t number = 0;
    bool overdue = false;     // those that wait are to send it again
    std::uint32_t tries = 0;  // how often they did
  };
  // This is the window of one job.
  struct Window {
    std::uint64_t next = 0;     // of the block that begins next
    std::uint64_t oldest = 0;   // none before it is open
    std::uint32_t overdue = 0;  // blocks
    std::vector<Block> blocks;  // by number, modulo theirs
  };
  // These count since the trial began.
  struct Figures {
    std::uint64_t sums = 0;  // that came to the root that is played
    std::uint64_t answers = 0;
    std::uint64_t inquiries = 0;
    std::uint64_t retransmissions = 0;
    std::uint64_t overdue = 0;
  };

  bool has_contribution() final;
  bool begin_blocks(std::size_t number) final;
  Contribution next_contribution(Time now) final;
  void clear_figures() final { figures_ = {}; }

  Block& block_at(Window& window, std::uint64_t number) const {
    return window.blocks[place_of(number)];
  }
  bool begin_next(Window& window);
  bool begin_again(Window& window);
  bool seek_waiting(Window& window);
  void end_contribution(Block& block);
  void note_overdue(Window& window, Block& block);
  void close_block(Window& window, Block& block);

  std::vector<Window> windows_;  // by job
  std::uint32_t part_ = 0;       // what is sent next of the contribution whose turn it is
  bool again_ = false;           // the turn is of one block that was sent before
  Figures figures_;
};

}  // namespace tributary::flare
