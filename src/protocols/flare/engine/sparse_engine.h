// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/engine.h"
#include "engine/frame_sender.h"
#include "packet/packet.h"
#include "protocols/flare/engine/headers.h"
#include "protocols/flare/engine/incoming.h"
#include "protocols/flare/engine/sparse_blocks.h"
#include "protocols/flare/engine/sparse_shards.h"
#include "protocols/flare/engine/tree.h"
#include "protocols/flare/engine/working_memory.h"
#include "protocols/flare/rotation.h"
#include "protocols/flare/sparse_wire.h"

namespace tributary::flare {

// Does what is done for sparse blocks (section 7), of all trees on one core. A contribution, a sum
// and a result are several shards here. What was sent up cannot be taken back: so each sum has an
// edition, and whoever gets shards of two editions begins the block anew.
class SparseEngine {
 public:
  SparseEngine(engine::FrameSender& frames, WorkingMemory& memory)
      : frames_(frames), memory_(memory) {}

  static void prefetch(const Tree& tree, std::uint64_t block);
  // Handles one sparse packet; `tree` is null where its job has none.
  void handle(engine::Arrival& arrival, Tree* tree, const Burst& burst);

 private:
  using Cause = CauseFor<SparseSlot>;
  using Incoming = IncomingFor<SparseSlot, wire::FlareSparseHeader>;

  // These handle contributions.
  void contribute(Incoming& in);
  void accept(Incoming& in, std::size_t child, bool anew);
  void repeat(Incoming& in);
  void complete(const Cause& cause);
  void send_up(const Cause& cause, SparseShard& shard, bool is_last);
  void publish(const Cause& cause);

  // These handle results.
  void take_result(Incoming& in);
  void pass_on(Incoming& in);
  void multicast(const Cause& cause, PacketPtr payload, const SparseHeaders& headers,
                 std::uint64_t children);

  // These send what is kept once more.
  void send_again(const Cause& cause, const KeptShard& shard, std::uint8_t flags, PortIndex port);
  void replay(const Cause& cause, std::uint8_t flags);
  void send_sum_again(const Cause& cause, std::uint8_t flags);
  void resend(const Cause& cause, std::uint8_t flags);

  // These handle inquiries.
  void take_inquiry(Incoming& in);
  void ask_missing(const Cause& cause);
  void inquire(const Cause& cause, const wire::FlareSparseHeader& about, std::uint64_t children);

  engine::FrameSender& frames_;
  WorkingMemory& memory_;
  SparseShards outgoing_;  // of the packet that is handled
  Rotation rotation_;
};

}  // namespace tributary::flare
