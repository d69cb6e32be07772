// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/engine.h"
#include "engine/frame_sender.h"
#include "packet/fate.h"
#include "packet/packet.h"
#include "protocols/flare/engine/sparse_blocks.h"
#include "protocols/flare/engine/sparse_shards.h"
#include "protocols/flare/engine/tree.h"
#include "protocols/flare/engine/working_memory.h"
#include "protocols/flare/rotation.h"
#include "protocols/flare/sparse_wire.h"

namespace tributary::flare {

using engine::Burst;

// What is done for sparse blocks (section 7), of all trees on one core. A contribution, a sum and a
// result are several shards here. What was sent up can not be taken back: so each sum has an
// edition, and who gets shards of two editions begins the block anew.
class SparseEngine {
 public:
  SparseEngine(engine::FrameSender& frames, WorkingMemory& memory)
      : frames_(frames), memory_(memory) {}

  static void prefetch(const Tree& tree, std::uint64_t block);
  // One sparse packet; `tree` is null where its job has none.
  void handle(engine::Arrival& arrival, Tree* tree, const Burst& burst);

 private:
  // One packet that passed every check, of a tree that is in its run.
  struct Incoming {
    Tree& tree;
    SparseBlocks& blocks;
    SparseSlot& slot;
    PacketPtr packet;
    const engine::Frame& frame;
    const wire::FlareSparseHeader& header;
    wire::Bytes payload;

    std::uint64_t block() const { return header.block.value(); }
    bool is_of_slot() const { return slot.is_of(block()); }
  };
  // Whose block it is, and by what it came that has something sent for it.
  struct Cause {
    Tree& tree;
    SparseSlot& slot;
    PortIndex ingress;
    const Burst& burst;
  };

  // Contributions.
  void contribute(Incoming in, const Burst& burst);
  void accept(Incoming& in, std::size_t child, bool anew, const Burst& burst);
  void repeat(Incoming& in, const Burst& burst);
  void complete(const Cause& cause);
  void send_up(const Cause& cause, SparseShard& shard, bool is_last);
  void publish(const Cause& cause);

  // Results.
  void take_result(Incoming in, const Burst& burst);
  void pass_on(Incoming& in, const Burst& burst);
  void multicast(const Cause& cause, const wire::FlareSparseHeader& header, PacketPtr payload,
                 std::uint8_t ttl, std::uint64_t children);

  // What is kept, once more.
  void send_again(const Cause& cause, const KeptShard& shard, std::uint8_t flags, PortIndex port);
  void replay(const Cause& cause, std::uint8_t flags);
  void send_sum_again(const Cause& cause, std::uint8_t flags);
  void resend(const Cause& cause, std::uint8_t flags);

  // Inquiries.
  void take_inquiry(Incoming in, const Burst& burst);
  void ask_missing(const Cause& cause);
  void inquire(const Cause& cause, const wire::FlareSparseHeader& about, std::uint64_t children);

  engine::FrameSender& frames_;
  WorkingMemory& memory_;
  SparseShards outgoing_;  // of the packet that is handled
  Rotation rotation_;
};

}  // namespace tributary::flare
