// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "engine/frame_sender.h"
#include "engine/tree_table.h"
#include "packet/pool.h"
#include "protocols/flare/engine/config.h"
#include "protocols/flare/engine/headers.h"
#include "protocols/flare/engine/incoming.h"
#include "protocols/flare/engine/sparse_engine.h"
#include "protocols/flare/engine/tree.h"
#include "protocols/flare/engine/working_memory.h"
#include "protocols/flare/wire.h"

namespace tributary::flare {

// Does the switch's part of Flare (section 4) on one core: it adds up the blocks of each job on
// their way up its reduction tree. This class does so for dense blocks, SparseEngine for sparse
// ones. The sum of a block's contributions goes to the parent; at the root it is the result, which
// goes down to all. What was sent is kept until no rank can lack it.
class FlareEngine final : public engine::Engine {
 public:
  // With the lane off, each packet takes the general path. Tests compare the two.
  enum class Lane : bool { off, on };

  FlareEngine(const FlareConfig& config, const engine::SwitchIdentity& self, PacketPool& pool,
              Lane lane = Lane::on);

  void process(std::span<engine::Arrival> burst, Time now, engine::Actions& actions) override;
  void gather(std::span<engine::Arrival> burst, Time now, engine::Actions& actions) override;
  void merge(PacketList sums, Time now, engine::Actions& actions) override;
  Time deadline() const override { return std::min(next_look_, next_hand_over_); }
  void expire(Time now, engine::Actions& actions) override;

  static std::vector<engine::FigureKind> figure_kinds();
  std::vector<engine::Figure> figures() const override;
  std::vector<engine::JobStatus> jobs() const override;
  std::vector<engine::DescriptorStatus> descriptors(Time now, std::size_t limit) const override;
  std::vector<engine::StallStatus> stalled(Time now, std::size_t limit) const override;
  std::vector<engine::TreeStatus> trees() const override;

  // Installs and removes trees, and keeps the blocks of the others.
  bool reconfigure(const FlareConfig& config);

 private:
  // Tells where a packet belongs, by its header, which is not checked yet; null where it has no
  // tree.
  struct Place {
    Tree* tree = nullptr;
    Slot* slot = nullptr;  // of a sparse packet null, too
  };
  using Cause = CauseFor<Slot>;
  using Incoming = IncomingFor<Slot, wire::FlareHeader>;

  Place locate(const engine::Frame& frame) const;
  static void prefetch_elements(const Place& place, const engine::Frame& frame);
  void handle(engine::Arrival& arrival, const Place& place, const Burst& burst);
  void handle_dense(engine::Arrival& arrival, const Place& place, const Burst& burst);
  void look_soon(Time now);

  // These handle contributions.
  bool join(engine::Arrival& arrival, const Place& place, const Burst& burst);
  void contribute(Incoming& in);
  void accept(Incoming& in, std::uint64_t children);
  void repeat(Incoming& in);
  void complete(const Cause& cause);

  // These handle results.
  void take_result(Incoming& in);
  void multicast(const Cause& cause, PacketPtr elements, const Headers& headers,
                 std::uint64_t children);

  // These send what is kept once more; whoever asks has lost something, or somebody above has.
  void send_again(const Cause& cause, std::uint8_t flags, PortIndex port);
  void replay(const Cause& cause, std::uint8_t flags);
  void resend(const Cause& cause, std::uint8_t flags);

  // These handle inquiries.
  void take_inquiry(Incoming& in);
  void ask_missing(const Cause& cause);
  void inquire(const Cause& cause, const wire::FlareHeader& about, std::uint64_t children);

  // These handle refusals.
  void refuse(const Incoming& in, BlockKind kind);
  void take_refusal(Incoming& in);

  // These handle partial sums of blocks that other cores own, and of this core's own that others
  // hand over.
  bool is_worth_gathering(const engine::Arrival& arrival, const Place& place, const Burst& burst);
  bool gather_one(engine::Arrival& arrival, const Place& place, const Burst& burst);
  void pass_on(engine::Arrival& arrival, const Place& place, const Burst& burst);
  void hand_over_partial(Tree& tree, Slot& slot, engine::Actions& actions);
  void hand_over_overdue(Time now, engine::Actions& actions);
  std::optional<DropReason> merge_into(Tree* tree, const PartialSum& partial, PacketPtr& packet,
                                       const Burst& burst);

  engine::SwitchIdentity self_;
  Lane lane_;
  std::uint32_t working_memory_ = 0;
  WorkingMemory memory_;
  engine::FrameSender frames_;
  SparseEngine sparse_;
  engine::TreeTable<Tree> trees_;
  TreeCounters removed_;  // of trees that are gone
  // A job that says nothing for so long leaves its buffers to the others.
  static constexpr Duration silence_max = std::chrono::seconds(10);
  static constexpr Duration look_interval = std::chrono::seconds(1);
  Time next_look_ = never;       // for jobs that have fallen silent
  Time next_hand_over_ = never;  // of a partial sum that has waited long enough, at the earliest
};

}  // namespace tributary::flare
