// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "engine/frame_sender.h"
#include "packet/pool.h"
#include "protocols/panama/engine/adder.h"
#include "protocols/panama/engine/aggregation_buffers.h"
#include "protocols/panama/engine/config.h"
#include "protocols/panama/engine/incoming.h"
#include "protocols/panama/engine/packet_memory.h"
#include "protocols/panama/engine/tree.h"
#include "protocols/panama/wire.h"

namespace tributary::panama {

// Does the switch's part of PANAMA (sections 3, 4.2 and 5) on one core. Packets of a job wait per
// port until all ports of the tree have theirs; sums go up, results down to the tree's group.
// Memory for packets is divided among trees, and what hosts send beyond it is their own loss.
class PanamaEngine final : public engine::Engine {
 public:
  // Tells whether contributions to rows that gather are recognised before they are parsed. That
  // changes nothing but the time that it takes.
  enum class Lane : bool { off, on };

  PanamaEngine(const PanamaConfig& config, const engine::SwitchIdentity& self, PacketPool& pool,
               Lane lane = Lane::on);

  void process(std::span<engine::Arrival> burst, Time now, engine::Actions& actions) override;
  Time deadline() const override;
  void expire(Time now, engine::Actions& actions) override;

  static std::vector<engine::FigureKind> figure_kinds();
  std::vector<engine::Figure> figures() const override;
  std::vector<engine::JobStatus> jobs() const override;
  std::vector<engine::DescriptorStatus> descriptors(Time now, std::size_t limit) const override;
  std::vector<engine::StallStatus> stalled(Time now, std::size_t limit) const override;

  std::vector<engine::TreeStatus> trees() const override;

  // Installs and removes trees and keeps the rows of the others; false if `config` differs in what
  // is fixed at construction (then nothing changes).
  bool reconfigure(const PanamaConfig& config);

 private:
  void activate(Tree& tree, Time now);
  void look_soon(Time now);
  void cut(Tree& tree);

  // These take what comes in, with the tree that its header names.
  bool join(engine::Arrival& arrival, Tree& tree, const Burst& burst);
  void handle(engine::Arrival& arrival, Tree* tree, const Burst& burst);

  // These handle contributions.
  void contribute(Incoming& in);
  std::optional<DropReason> find_fault(const Incoming& in, Place& at, bool once_more);
  void begin_row(const Incoming& in, const Place& at);
  void take(Incoming& in, Row& row);
  void accept(Incoming& in, Row& row);
  void hold(Incoming& in, Row& row);
  void note(const Incoming& in, Row& row);
  void replace(Incoming& in, Row& row);
  void repeat(Incoming& in, Row& row);
  void on_late_contribution(Incoming& in, Row& row);
  void answer(const Incoming& in, Row& row);

  // These handle what waits for the tree's next epoch.
  void wait_for_epoch(Incoming& in);
  void reject(Incoming& in, DropReason reason);
  void begin_epoch(const Incoming& last);
  Row* take_early(Tree& tree, PacketPtr packet, const Burst& burst);

  // These handle sums.
  void complete_what_can(const Cause& cause, Row& row);
  void complete(const Cause& cause, Row& row);
  void settle(const Cause& cause, const Row& row);
  void pass_on(const Cause& cause, Row& row, PacketPtr sum);
  void resend(const Cause& cause, Row& row, std::uint8_t flags);
  void send_more(const Cause& cause, Row& row);
  void send_and_keep(const Cause& cause, Row& row, PacketPtr packet, const Headers& headers,
                     std::span<const PortIndex> ports);
  void send_kept(const Cause& cause, const Row& row, wire::PanamaHeader header, PortIndex port);

  // These handle results.
  void take_result(Incoming& in);
  void finish_row(const Incoming& in, Row& row, std::uint64_t position);
  void multicast(const Cause& cause, Row& row, PacketPtr packet, const Headers& headers);
  std::uint16_t cap_today(const Tree& tree) const;
  void lower_cap(const Tree& tree, wire::PanamaHeader& header) const;
  void replay(const Cause& cause, const Row& row);

  // These handle inquiries.
  void inquire(const Cause& cause, const wire::PanamaHeader& about);
  void take_inquiry(Incoming& in);
  void send_to(const Cause& cause, const Neighbours& receivers, const Headers& headers,
               wire::Bytes payload);
  void relay(Incoming& in, DropReason otherwise);

  engine::SwitchIdentity self_;
  PacketPool& pool_;
  Lane lane_;
  PacketMemory memory_;
  TreeTable trees_;
  AggregationBuffers buffers_;
  Adder adder_;
  engine::FrameSender frames_;
  TreeCounters removed_;  // of trees that are gone
  // A job that says nothing for so long leaves its share to the others.
  static constexpr Duration silence_max = std::chrono::seconds(10);
  static constexpr Duration look_interval = std::chrono::seconds(1);
  Time next_look_ = never;  // for jobs that have fallen silent
};

}  // namespace tributary::panama
