// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/blocks.h"
#include "host/canary_worker.h"
#include "host/error.h"
#include "host/job.h"
#include "host/outbox.h"
#include "reduce/kernel.h"
#include "wire/canary.h"

namespace tributary::host {

// The leader's side (3.1.4, 3.2.1): adds up the contributions to the blocks that this rank leads,
// then its own, checks that each rank is in the sum once, and answers every sender.
class CanaryLeader {
 public:
  // The job outlives the leader.
  explicit CanaryLeader(const Job& job);

  void begin(const Blocks& blocks);

  // A sound contribution of this job to `block`, which this rank leads and which is not done.
  Verdict take(const wire::CanaryHeader& header, wire::Bytes payload, std::uint32_t block,
               const Blocks& blocks);

  // Puts results and restorations into `outbox` as far as it has room. A block is complete when
  // all its answers were put there.
  void poll(const Blocks& blocks, Progress& progress, Outbox& outbox);

  // Set when a sum cannot be right.
  const std::optional<Error>& failure() const { return failure_; }

  // How many contributions to `block` came so far.
  std::uint32_t contributions(std::uint32_t block) const;

 private:
  // A packet that the reduced block is sent in: to a child (result), or to a switch that had a
  // collision, with what it needs to reach the child that it could not record (restoration).
  struct [[gnu::packed]] Reply {
    wire::CanaryKind kind = wire::CanaryKind::result;
    std::uint8_t shard = 0;
    wire::Ipv4Address destination;
    wire::be16 port;
    wire::Ipv4Address child_address;
    wire::be16 child_port;
    wire::be32 children;
    wire::be16 switch_address;
    wire::MacAddress child_mac;
  };
  enum class State : std::uint8_t { free, collecting, answering };
  struct Slot {
    State state = State::free;
    std::uint32_t block = 0;
    std::uint32_t contributions = 0;
    std::uint64_t fingerprint = 0;
    std::vector<Reply> replies;  // not more than contributions
    std::size_t sent = 0;        // replies that are in the outbox
  };

  std::size_t slot_index(std::uint32_t block) const {
    return block / job_.world_size() % slots_.size();
  }
  std::byte* accumulator(std::uint32_t block) {
    return accumulators_.data() + slot_index(block) * accumulator_stride_;
  }
  static Reply reply_to(const wire::CanaryHeader& header);
  void add(Slot& slot, const wire::CanaryHeader& header, wire::Bytes payload);
  void finish(Slot& slot, const Blocks& blocks);
  bool is_complete(const Slot& slot, const Blocks& blocks);
  Datagram answer(const Slot& slot, const Reply& reply, const Blocks& blocks) const;
  void reject(std::uint32_t block, const std::string& reason);

  const Job& job_;
  std::vector<Slot> slots_;  // by number among the blocks that this rank leads
  std::size_t accumulator_stride_;
  std::vector<std::byte> accumulators_;
  const reduce::Kernel* kernel_ = nullptr;
  std::vector<std::uint32_t> answering_;  // blocks, in the order in which they were reduced
  std::optional<Error> failure_;
};

}  // namespace tributary::host
