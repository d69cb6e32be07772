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
  void index_trees();
  void install(const TreeConfig& tree);
  void remove(Tree& tree);
  void activate(Tree& tree, Time now);
  void look_soon(Time now);

  void prefetch(const engine::Frame& frame);
  void prefetch_elements(const engine::Frame& frame);
  void handle(engine::Arrival& arrival, Time now, engine::Actions& actions);

  // Contributions.
  void contribute(Tree& tree, PacketPtr packet, const Message& message, Time now,
                  engine::Actions& actions);
  std::optional<DropReason> find_fault(const Tree& tree, const Row& row, std::uint64_t position,
                                       bool joins, std::uint8_t child,
                                       const wire::PanamaHeader& header) const;
  void begin_row(Tree& tree, Row& row, std::uint64_t position, const wire::PanamaHeader& header,
                 Time now);
  void take(Tree& tree, Row& row, std::uint8_t child, PacketPtr packet, const Message& message,
            Time now);
  void hold(Tree& tree, Row& row, std::uint8_t child, PacketPtr packet, const Message& message);
  void note_question(const Tree& tree, Row& row, const wire::PanamaHeader& header);
  void count_waiting(Tree& tree, std::uint8_t child);
  void discount_waiting(Tree& tree, std::uint8_t child);
  void note(Tree& tree, Row& row, std::uint8_t child, Time now);
  void replace(Tree& tree, Row& row, std::uint8_t child, PacketPtr packet, const Message& message,
               Time now, engine::Actions& actions);
  void repeat(Tree& tree, Row& row, std::uint8_t child, PacketPtr packet, const Message& message,
              Time now, engine::Actions& actions);
  void on_late_contribution(Tree& tree, Row& row, std::uint8_t child, PacketPtr packet,
                            const Message& message, Time now, engine::Actions& actions);
  void answer(Tree& tree, Row& row, const Packet& packet, const Message& message, Time now,
              engine::Actions& actions);
  bool can_add_late(const Tree& tree, const Row& row, std::uint8_t child,
                    const wire::PanamaHeader& header) const;
  void evict_waiting(Tree& tree);
  void cut(Tree& tree);
  bool is_stuck(const Tree& tree, std::uint64_t position, const wire::PanamaHeader& header,
                Time now) const;

  // Doors: what waits for the tree's next epoch.
  void wait_at_door(Tree& tree, std::uint8_t child, PacketPtr packet, const Message& message,
                    Time now, engine::Actions& actions);
  void turn_away(Tree& tree, PacketPtr packet, const Message& message, DropReason reason, Time now,
                 engine::Actions& actions);
  void leave_door(Tree& tree, std::uint8_t child);
  void open_doors(Tree& tree, std::uint8_t last, Time now, engine::Actions& actions);
  void come_in(Tree& tree, std::uint8_t child, PacketPtr packet, Time now,
               engine::Actions& actions);
  void abandon_rows(Tree& tree);
  void sweep(Tree& tree);

  // Sums.
  bool is_complete(const Tree& tree, const Row& row) const;
  void complete_what_can(Tree& tree, Row& row, std::uint8_t child, Time now,
                         engine::Actions& actions);
  void add_in_order(Tree& tree, Row& row);
  PacketPtr add_up(Tree& tree, Row& row);
  void complete(Tree& tree, Row& row, PortIndex ingress, Time now, engine::Actions& actions);
  void release_waiting(Tree& tree, Row& row);
  void settle(Tree& tree, const Row& row, Time now);
  void send_up(Tree& tree, Row& row, PacketPtr sum, const Headers& headers, Time now,
               engine::Actions& actions);
  void resend(Tree& tree, Row& row, PortIndex ingress, std::uint8_t flags, Time now,
              engine::Actions& actions);
  void send_more(Tree& tree, Row& row, PortIndex ingress, Time now, engine::Actions& actions);
  void pass_on(Tree& tree, Row& row, PacketPtr sum, PortIndex ingress, Time now,
               engine::Actions& actions);

  // Results.
  void take_result(Tree& tree, PacketPtr packet, const Message& message, Time now,
                   engine::Actions& actions);
  void finish_row(Tree& tree, Row& row, std::uint64_t position, const Message& message);
  void multicast(Tree& tree, Row& row, PacketPtr packet, const Headers& headers, Time now,
                 engine::Actions& actions);
  void go_up(Tree& tree, const Row& row, std::uint8_t flags, PortIndex ingress,
             engine::Actions& actions);
  std::uint16_t cap_today(const Tree& tree) const;
  void lower_cap(const Tree& tree, wire::PanamaHeader& header) const;
  void replay(Tree& tree, const Row& row, PortIndex port, engine::Actions& actions);
  void send_copy(const Tree& tree, const Row& row, const wire::PanamaHeader& header,
                 PortIndex ingress, PortIndex port, engine::Actions& actions);
  void send_frame(const Headers& headers, wire::Bytes elements, PortIndex ingress, PortIndex port,
                  engine::Actions& actions);
  void keep(Tree& tree, Row& row, Packet& body, Time now);
  void clear(Tree& tree, Row& row);
  void make_room();
  Headers headers_for(const Tree& tree, const Row& row, const wire::PanamaHeader& header) const;

  // Inquiries.
  Neighbours sender_of(const Tree& tree, PortIndex port) const;
  void inquire(Tree& tree, const wire::PanamaHeader& about, PortIndex port, Time now,
               engine::Actions& actions);
  void send_to(const Tree& tree, const Neighbours& receivers, const Headers& headers,
               wire::Bytes elements, PortIndex ingress, engine::Actions& actions);
  void take_inquiry(Tree& tree, PacketPtr packet, const Message& message, Time now,
                    engine::Actions& actions);
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
  std::uint64_t room_;             // for packets that wait or are kept, docs/control.md
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
