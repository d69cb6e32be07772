// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "packet/pool.h"
#include "protocols/canary/engine/bypass_table.h"
#include "protocols/canary/engine/children.h"
#include "protocols/canary/engine/config.h"
#include "protocols/canary/engine/descriptor_table.h"
#include "protocols/canary/engine/expectations.h"
#include "protocols/canary/engine/job_table.h"
#include "protocols/canary/engine/message.h"
#include "protocols/canary/engine/occupancy.h"
#include "protocols/canary/engine/stall_table.h"
#include "protocols/canary/engine/tenants.h"
#include "protocols/canary/engine/wide_store.h"
#include "protocols/canary/wire.h"

namespace tributary::canary {

// What the engine did since it was made. A contribution is stored, passes as a straggler, or goes
// to the leader for one of three reasons; the others were drops.
struct Counters {
  std::uint64_t contributions = 0;  // accepted, whatever became of them
  std::uint64_t blocks = 0;         // that got a descriptor with a contribution
  std::uint64_t joined = 0;         // added to a block that gathers
  std::uint64_t stragglers = 0;
  std::uint64_t collisions = 0;             // the slots are held by other blocks
  std::uint64_t quota_job = 0;              // the job's share is taken: treated as a collision
  std::uint64_t quota_port = 0;             // the port's share is taken: treated as a collision
  std::uint64_t partition_none = 0;         // the job has no partition: treated as a collision
  std::uint64_t children_overflows = 0;     // no room for another child: treated as a collision
  std::uint64_t accumulator_overflows = 0;  // too wide an accumulator: treated as a collision
  std::uint64_t sums_complete = 0;          // partial sums sent because all were in or had passed
  std::uint64_t sums_expected = 0;          // ... because as many as last time were in
  std::uint64_t sums_timeout = 0;           // partial sums sent because the time was up
  std::uint64_t results = 0;                // that freed a descriptor
  std::uint64_t releases = 0;               // the same without data
  std::uint64_t restorations = 0;
  std::uint64_t copies = 0;    // results and releases sent to children
  std::uint64_t passed = 0;    // for others: forwarded untouched
  std::uint64_t requests = 0;  // of those, by kind
  std::uint64_t failures = 0;
  std::uint64_t pendings = 0;
  std::uint64_t reclaimed = 0;   // descriptors whose result never came, for another block
  std::uint64_t aged = 0;        // the same, because their time was up
  std::uint64_t superseded = 0;  // ... for a later attempt of their block
};

// The switch's part of Canary (sections 3.1 to 3.3, 4.1 to 4.3) on one core. What is lost, doubled
// or given up here costs time: hosts ask again, and the leader decides about every sum.
// All memory is taken at construction. A failed allocation of a copy loses that copy, nothing else.
class CanaryEngine final : public engine::Engine {
 public:
  // Bounds the work of one expire(), so that a flood of blocks cannot stall the core.
  static constexpr int expirations_max = 64;

  CanaryEngine(const CanaryConfig& config, const engine::SwitchIdentity& self, PacketPool& pool);

  void process(std::span<engine::Arrival> burst, Time now, engine::Actions& actions) override;
  Time deadline() const override;
  void expire(Time now, engine::Actions& actions) override;

  std::vector<engine::Figure> figures() const override;
  std::vector<engine::JobStatus> jobs() const override;
  std::vector<engine::DescriptorStatus> descriptors(Time now, std::size_t limit) const override;
  std::vector<engine::StallStatus> stalled(Time now, std::size_t limit) const override;

  // Puts timeouts and ages in force, also for the blocks that are held; false if `config` differs
  // in what is fixed at construction (then nothing changes).
  bool reconfigure(const CanaryConfig& config);

 private:
  void prefetch_block(const DescriptorTable::Place& place, std::size_t bytes);
  bool continues(const Descriptor& block, const engine::Arrival& arrival) const;
  void handle(engine::Arrival& arrival, Time now, engine::Actions& actions);
  void pass(PacketPtr packet, const wire::CanaryHeader& header, engine::Actions& actions);

  // Reduce (3.1.1).
  void contribute(PacketPtr packet, const Message& message, Time now, engine::Actions& actions);
  void begin_block(PacketPtr packet, const Message& message, Time now, engine::Actions& actions);
  void add_to(Descriptor& block, PacketPtr&& packet, const Message& message, Time now,
              engine::Actions& actions);
  void bypass(PacketPtr packet, const Message& message, std::uint64_t& reason,
              engine::Actions& actions);
  void overhear_contribution(const wire::CanaryHeader& header, engine::Actions& actions);
  void count_passed(Descriptor& block, std::uint32_t contributions, engine::Actions& actions);
  void send_if_complete(Descriptor& block, engine::Actions& actions);
  void send_sum(Descriptor& block, std::uint64_t& reason, engine::Actions& actions);

  // Which blocks get a descriptor (3.2, 3.4).
  std::uint64_t* refusal(const wire::CanaryHeader& header, PortIndex port, Time now);
  bool reclaim_for(Tenants::Verdict verdict, std::uint32_t job, PortIndex port, Time now);
  Descriptor* occupy(std::uint64_t key, Time now, Time expiry);

  // Broadcast (3.1.2) and restoration (3.2.1).
  void broadcast(PacketPtr packet, const Message& message, engine::Actions& actions);
  void restore(PacketPtr packet, const Message& message, engine::Actions& actions);
  void multicast(PacketPtr packet, const Message& message, std::span<const Child> children,
                 engine::Actions& actions);
  void send_copy(PacketPtr&& copy, wire::Encapsulation encapsulation, const Child& child,
                 engine::Actions& actions);

  // Stalled blocks, for operators.
  void overhear(const engine::Frame& frame, const wire::CanaryView& view, Time now,
                engine::Actions& actions);
  void settle(const wire::CanaryHeader& header);
  void answered(std::uint64_t key);

  void release(Descriptor& block);
  Duration age_max() const;
  Duration timeout(bool root, bool alone, const Expectation& expectation) const;
  void learn(const Descriptor& block);
  void learn_late(const Descriptor& block);
  Duration spread_of(const Descriptor& block) const;

  CanaryConfig config_;
  engine::SwitchIdentity self_;
  PacketPool& pool_;
  std::uint64_t seed_;
  DescriptorTable table_;
  ChildrenTable children_;
  WideStore wide_;
  BypassTable bypassed_;
  JobTable jobs_;
  Tenants tenants_;
  Expectations expectations_;
  StallTable stalls_;
  Occupancy occupancy_;
  Counters counters_;
};

}  // namespace tributary::canary
