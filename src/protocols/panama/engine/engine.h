// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "packet/pool.h"
#include "protocols/panama/engine/config.h"
#include "protocols/panama/engine/packet_memory.h"
#include "protocols/panama/engine/tree.h"
#include "protocols/panama/wire.h"
#include "reduce/kernel.h"

namespace tributary::panama {

// One packet that passed every check, of a tree that is installed.
struct Message {
  const engine::Frame& frame;
  wire::PanamaHeader& header;
  wire::MutableBytes payload;

  bool congested() const { return (frame.ipv4->tos & wire::ecn::mask) == wire::ecn::ce; }
};

// The time of a burst, and what is decided in it.
struct Burst {
  Time now;
  engine::Actions& actions;
};

// A packet that came up a tree from a child; whoever keeps the packet moves it away.
struct Contribution {
  Tree& tree;
  std::uint8_t child;
  PacketPtr packet;
  const Message& message;

  const wire::PanamaHeader& header() const { return message.header; }
};

// The row that it belongs to. It `joins` others that are there of the same position.
struct Place {
  Row& row;
  std::uint64_t position;
  bool joins;
};

// A frame that is made here, with elements that stand elsewhere, on behalf of what came by
// `ingress`.
struct Outgoing {
  const Headers& headers;
  wire::Bytes elements;
  PortIndex ingress;
};

// The switch's part of PANAMA (sections 3, 4.2 and 5) on one core. Packets of a job wait per port
// until all ports of the tree have theirs; sums go up, results down to the tree's group. Memory for
// packets is divided among trees, and what hosts send beyond it is their own loss.
class PanamaEngine final : public engine::Engine {
 public:
  PanamaEngine(const PanamaConfig& config, const engine::SwitchIdentity& self, PacketPool& pool);

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
  struct PortUse {
    std::uint32_t held = 0;  // packets that wait, of all trees
    std::uint32_t high_water = 0;
  };

  // Trees.
  Tree* find_tree(std::uint64_t key);
  // The tree that the frame's header names; null if it is not here, or the frame has no whole one.
  Tree* tree_of(const engine::Frame& frame);
  void index_trees();
  void install(const TreeConfig& tree);
  void remove(Tree& tree);
  void activate(Tree& tree, Time now);
  void look_soon(Time now);

  // Each with tree_of() the frame.
  static void prefetch(const Tree* tree, const engine::Frame& frame);
  static void prefetch_elements(Tree* tree, const engine::Frame& frame);
  void handle(engine::Arrival& arrival, Tree* tree, const Burst& burst);

  // Contributions.
  void contribute(Contribution in, const Burst& burst);
  std::optional<DropReason> find_fault(const Contribution& in, const Place& at) const;
  void begin_row(const Contribution& in, const Place& at, Time now);
  void take(Contribution& in, Row& row, Time now);
  void hold(Contribution& in, Row& row);
  void note_question(const Tree& tree, Row& row, const wire::PanamaHeader& header);
  void count_waiting(Tree& tree, std::uint8_t child);
  void discount_waiting(Tree& tree, std::uint8_t child);
  void note(Tree& tree, Row& row, std::uint8_t child, Time now);
  void replace(Contribution& in, Row& row, const Burst& burst);
  void repeat(Contribution& in, Row& row, const Burst& burst);
  void on_late_contribution(Contribution& in, Row& row, const Burst& burst);
  void answer(const Contribution& in, Row& row, const Burst& burst);
  bool can_add_late(const Contribution& in, const Row& row) const;
  void evict_waiting(Tree& tree);
  void cut(Tree& tree);
  bool is_stuck(const Contribution& in, std::uint64_t position, Time now) const;

  // Doors: what waits for the tree's next epoch.
  void wait_at_door(Contribution& in, const Burst& burst);
  void turn_away(Contribution& in, DropReason reason, const Burst& burst);
  void leave_door(Tree& tree, std::uint8_t child);
  void open_doors(Tree& tree, std::uint8_t last, const Burst& burst);
  void come_in(Tree& tree, std::uint8_t child, PacketPtr packet, const Burst& burst);
  void abandon_rows(Tree& tree);
  void sweep(Tree& tree);

  // Sums.
  bool is_complete(const Tree& tree, const Row& row) const;
  void complete_what_can(Tree& tree, Row& row, std::uint8_t child, const Burst& burst);
  void add_in_order(Tree& tree, Row& row);
  PacketPtr add_up(Tree& tree, Row& row);
  void complete(Tree& tree, Row& row, PortIndex ingress, const Burst& burst);
  void release_waiting(Tree& tree, Row& row);
  void settle(Tree& tree, const Row& row, Time now);
  void send_up(Tree& tree, Row& row, PacketPtr sum, const Headers& headers, const Burst& burst);
  void resend(Tree& tree, Row& row, PortIndex ingress, std::uint8_t flags, const Burst& burst);
  void send_more(Tree& tree, Row& row, PortIndex ingress, const Burst& burst);
  void pass_on(Tree& tree, Row& row, PacketPtr sum, PortIndex ingress, const Burst& burst);

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
  void send_frame(const Outgoing& frame, PortIndex port, engine::Actions& actions);
  void keep(Tree& tree, Row& row, Packet& body, Time now);
  void clear(Tree& tree, Row& row);
  void make_room();
  Headers headers_for(const Tree& tree, const Row& row, const wire::PanamaHeader& header) const;

  // Inquiries.
  Neighbours sender_of(const Tree& tree, PortIndex port) const;
  void inquire(Tree& tree, const wire::PanamaHeader& about, PortIndex port, const Burst& burst);
  void send_to(const Tree& tree, const Neighbours& receivers, const Outgoing& frame,
               engine::Actions& actions);
  void take_inquiry(Tree& tree, PacketPtr packet, const Message& message, const Burst& burst);
  void relay(Tree& tree, PacketPtr packet, const Message& message, DropReason otherwise,
             engine::Actions& actions);

  PanamaConfig config_;
  engine::SwitchIdentity self_;
  PacketPool& pool_;
  PacketMemory memory_;
  std::vector<std::unique_ptr<Tree>> trees_;
  std::vector<Tree*> index_;  // by hash of the key, open addressing
  std::vector<PortUse> ports_;
  std::unique_ptr<float[]> wide_;  // an accumulator of 16-bit elements
  std::uint64_t room_;             // for packets that wait or are kept
  std::size_t turn_ = 0;           // the tree that is looked at next when there is none
  std::uint64_t held_ = 0;         // packets that wait, at all ports
  std::uint64_t kept_ = 0;         // packets kept for those who lost a sum or a result
  std::uint64_t kept_high_water_ = 0;
  TreeCounters removed_;  // of trees that are gone
  // A job that says nothing for so long leaves its share to the others.
  static constexpr Duration silence_max = std::chrono::seconds(10);
  static constexpr Duration look_interval = std::chrono::seconds(1);
  Time next_look_ = never;  // for jobs that have fallen silent
};

}  // namespace tributary::panama
