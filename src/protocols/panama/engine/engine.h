// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "engine/frame_sender.h"
#include "packet/pool.h"
#include "protocols/panama/engine/adder.h"
#include "protocols/panama/engine/config.h"
#include "protocols/panama/engine/contribution.h"
#include "protocols/panama/engine/holdings.h"
#include "protocols/panama/engine/packet_memory.h"
#include "protocols/panama/engine/tree_table.h"
#include "protocols/panama/wire.h"

namespace tributary::panama {

using engine::Burst;

// The switch's part of PANAMA (sections 3, 4.2 and 5) on one core. Packets of a job wait per port
// until all ports of the tree have theirs; sums go up, results down to the tree's group. Memory for
// packets is divided among trees, and what hosts send beyond it is their own loss.
class PanamaEngine final : public engine::Engine {
 public:
  // Whether contributions to rows that gather are recognised before they are parsed. It changes
  // nothing but the time that it takes.
  enum class Lane : bool { off, on };

  PanamaEngine(const PanamaConfig& config, const engine::SwitchIdentity& self, PacketPool& pool,
               Lane lane = Lane::on);

  void process(std::span<engine::Arrival> burst, Time now, engine::Actions& actions) override;
  Time deadline() const override;
  void expire(Time now, engine::Actions& actions) override;

  std::vector<engine::Figure> figures() const override;
  std::vector<engine::JobStatus> jobs() const override;
  std::vector<engine::DescriptorStatus> descriptors(Time now, std::size_t limit) const override;
  std::vector<engine::StallStatus> stalled(Time now, std::size_t limit) const override;

  std::vector<engine::TreeStatus> trees() const override;

  // Installs and removes trees and keeps the rows of the others; false if `config` differs in what
  // is fixed at construction (then nothing changes).
  bool reconfigure(const PanamaConfig& config);

 private:
  void install(const TreeConfig& tree);
  void remove(Tree& tree);
  void activate(Tree& tree, Time now);
  void look_soon(Time now);
  void cut(Tree& tree);

  // What comes in, with the tree that its header names.
  static void prefetch_row(const Tree* tree, const engine::Frame& frame);
  static void prefetch_elements(Tree* tree, const engine::Frame& frame);
  bool join(engine::Arrival& arrival, Tree& tree, const Burst& burst);
  void handle(engine::Arrival& arrival, Tree* tree, const Burst& burst);

  // Contributions.
  void contribute(Contribution in, const Burst& burst);
  std::optional<DropReason> find_fault(const Contribution& in, Place& at, bool once_more,
                                       const Burst& burst);
  void begin_row(const Contribution& in, const Place& at, Time now);
  void accept(Contribution& in, Row& row, const Burst& burst);
  void take(Contribution& in, Row& row, Time now);
  void hold(Contribution& in, Row& row);
  void note(Tree& tree, Row& row, std::uint8_t child, Time now);
  void replace(Contribution& in, Row& row, const Burst& burst);
  void repeat(Contribution& in, Row& row, const Burst& burst);
  void on_late_contribution(Contribution& in, Row& row, const Burst& burst);
  void answer(const Contribution& in, Row& row, const Burst& burst);

  // Doors: what waits for the tree's next epoch.
  void wait_at_door(Contribution& in, const Burst& burst);
  void reject(Contribution& in, DropReason reason, const Burst& burst);
  void open_doors(Tree& tree, std::uint8_t last, const Burst& burst);
  void come_in(Tree& tree, std::uint8_t child, PacketPtr packet, const Burst& burst);

  // Sums.
  void complete_what_can(Tree& tree, Row& row, std::uint8_t child, const Burst& burst);
  void complete(Tree& tree, Row& row, PortIndex ingress, const Burst& burst);
  void settle(Tree& tree, const Row& row, Time now);
  void pass_on(Tree& tree, Row& row, PacketPtr sum, PortIndex ingress, const Burst& burst);
  void send_up(Tree& tree, Row& row, PacketPtr sum, const Headers& headers, const Burst& burst);
  void resend(Tree& tree, Row& row, PortIndex ingress, std::uint8_t flags, const Burst& burst);
  void send_more(Tree& tree, Row& row, PortIndex ingress, const Burst& burst);
  Packet& keep(Tree& tree, Row& row, PacketPtr packet, unsigned frames, const Burst& burst);

  // Results.
  void take_result(Tree& tree, PacketPtr packet, const Message& message, const Burst& burst);
  void finish_row(Tree& tree, Row& row, std::uint64_t position, const Message& message);
  void multicast(Tree& tree, Row& row, PacketPtr packet, const Headers& headers,
                 const Burst& burst);
  void go_up(Tree& tree, const Row& row, std::uint8_t flags, PortIndex ingress,
             engine::Actions& actions);
  std::uint16_t cap_today(const Tree& tree) const;
  void lower_cap(const Tree& tree, wire::PanamaHeader& header) const;
  void replay(Tree& tree, const Row& row, PortIndex port, engine::Actions& actions);

  // Inquiries.
  void inquire(Tree& tree, const wire::PanamaHeader& about, PortIndex port, const Burst& burst);
  void take_inquiry(Tree& tree, PacketPtr packet, const Message& message, const Burst& burst);
  void send_to(const Tree& tree, const Neighbours& receivers, const engine::Outgoing& frame,
               engine::Actions& actions);
  void relay(Tree& tree, PacketPtr packet, const Message& message, DropReason otherwise,
             engine::Actions& actions);

  PanamaConfig config_;
  engine::SwitchIdentity self_;
  PacketPool& pool_;
  Lane lane_;
  PacketMemory memory_;
  TreeTable trees_;
  Holdings holdings_;
  Adder adder_;
  engine::FrameSender frames_;
  TreeCounters removed_;  // of trees that are gone
  // A job that says nothing for so long leaves its share to the others.
  static constexpr Duration silence_max = std::chrono::seconds(10);
  static constexpr Duration look_interval = std::chrono::seconds(1);
  Time next_look_ = never;  // for jobs that have fallen silent
};

}  // namespace tributary::panama
