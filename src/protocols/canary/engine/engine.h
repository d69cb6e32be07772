// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "packet/pool.h"
#include "protocols/canary/engine/admission.h"
#include "protocols/canary/engine/block_store.h"
#include "protocols/canary/engine/bypass_table.h"
#include "protocols/canary/engine/config.h"
#include "protocols/canary/engine/figures.h"
#include "protocols/canary/engine/message.h"
#include "protocols/canary/engine/patience.h"
#include "protocols/canary/engine/result_sender.h"
#include "protocols/canary/engine/stall_table.h"
#include "protocols/canary/wire.h"

namespace tributary::canary {

using engine::Burst;

// Does the switch's part of Canary (sections 3.1 to 3.3, 4.1 to 4.3) on one core. What is lost,
// doubled or given up here costs time: hosts ask again, and the leader decides about every sum.
// All memory is taken at construction. A failed allocation of a copy loses that copy, nothing else.
class CanaryEngine final : public engine::Engine {
 public:
  // Bounds the work of one expire(), so that a flood of blocks cannot stall the core.
  static constexpr int expirations_max = 64;

  // With the lane off, each packet takes the general path. Tests compare the two.
  enum class Lane : bool { off, on };

  CanaryEngine(const CanaryConfig& config, const engine::SwitchIdentity& self, PacketPool& pool,
               Lane lane = Lane::on);
  CanaryEngine(const CanaryEngine&) = delete;
  CanaryEngine& operator=(const CanaryEngine&) = delete;

  void process(std::span<engine::Arrival> burst, Time now, engine::Actions& actions) override;
  Time deadline() const override;
  void expire(Time now, engine::Actions& actions) override;

  static std::vector<engine::FigureKind> figure_kinds();
  std::vector<engine::Figure> figures() const override;
  std::vector<engine::JobStatus> jobs() const override;
  std::vector<engine::DescriptorStatus> descriptors(Time now, std::size_t limit) const override;
  std::vector<engine::StallStatus> stalled(Time now, std::size_t limit) const override;

  // Puts timeouts and ages in force, also for the blocks that are held; false if `config` differs
  // in what is fixed at construction (then nothing changes).
  bool reconfigure(const CanaryConfig& config);

 private:
  // These take what comes in.
  void prefetch_block(const DescriptorTable::Place& place, std::size_t bytes);
  bool continues(const Descriptor& block, const engine::Arrival& arrival) const;
  void handle(engine::Arrival& arrival, const Burst& burst);
  void pass(engine::Arrival& arrival, const wire::CanaryHeader& header, const Burst& burst);

  // These are the reduce phase (3.1.1).
  void contribute(Contribution in, const Burst& burst);
  void begin_block(Contribution in, const Burst& burst);
  void add_to(Descriptor& block, Contribution in, const Burst& burst);
  void bypass(Contribution in, std::uint64_t& reason, const Burst& burst);
  void count_passed(Descriptor& block, std::uint32_t contributions, const Burst& burst);
  void send_if_complete(Descriptor& block, const Burst& burst);
  void send_sum(Descriptor& block, std::uint64_t& reason, const Burst& burst);

  // These are the broadcast phase (3.1.2) and restoration (3.2.1).
  void broadcast(PacketPtr packet, const Message& message, const Burst& burst);
  void restore(PacketPtr packet, const Message& message, const Burst& burst);

  // What passes on its way between hosts tells which blocks wait, and which no longer.
  void overhear(const engine::Frame& frame, const wire::CanaryView& view, const Burst& burst);
  void settle(const wire::CanaryHeader& header);
  void answered(std::uint64_t key);

  CanaryConfig config_;
  engine::SwitchIdentity self_;
  Lane lane_;
  std::uint64_t seed_;
  BlockStore blocks_;
  Admission admission_;
  Patience patience_;
  ResultSender results_;
  BypassTable bypassed_;
  StallTable stalls_;
  Counters counters_;
};

}  // namespace tributary::canary
