// SPDX-License-Identifier: BSD-3-Clause
// What comes up the tree and waits for the others (section 5).
#include <algorithm>
#include <utility>

#include "protocols/panama/engine/drop_reasons.h"
#include "protocols/panama/engine/engine.h"

namespace tributary::panama {
namespace {

// Longer than whoever obeys waits for a place.
constexpr Duration stuck_after = std::chrono::milliseconds(100);

bool has_arrived(const Row& row, std::uint8_t child) {
  return (row.arrived >> child & 1) != 0;
}

void count_in(wire::PanamaHeader& sums, const wire::PanamaHeader& header) {
  sums.contributions =
      static_cast<std::uint16_t>(sums.contributions.value() + header.contributions.value());
  sums.fingerprint = sums.fingerprint.value() + header.fingerprint.value();
  sums.wnd_cap = std::min(sums.wnd_cap.value(), header.wnd_cap.value());
}

void count_out(wire::PanamaHeader& sums, const wire::PanamaHeader& header) {
  sums.contributions =
      static_cast<std::uint16_t>(sums.contributions.value() - header.contributions.value());
  sums.fingerprint = sums.fingerprint.value() - header.fingerprint.value();
}

}  // namespace

void PanamaEngine::contribute(Tree& tree, PacketPtr packet, const Message& message, Time now,
                              engine::Actions& actions) {
  const auto child = tree.child_of(packet->ingress);
  if (child == Tree::no_child) {
    return actions.drop(std::move(packet), drop::wrong_port);
  }
  if (tree.swept < tree.epochs.first()) {
    sweep(tree);
  }
  const auto position = tree.place(message.header);
  if (!position && !tree.epochs.is_current(round_of(message.header))) {
    return wait_at_door(tree, child, std::move(packet), message, now, actions);
  }
  if (!position) {
    return actions.drop(std::move(packet), drop::stale);
  }
  auto& row = tree.row(*position);
  const bool again = message.header.retransmission();
  if (again && *position < tree.epochs.first() && tree.is_gone(row)) {
    return wait_at_door(tree, child, std::move(packet), message, now, actions);
  }
  const auto before = row.state;
  const bool remade =
      again && *position >= tree.epochs.first() && tree.is_known(*position) && tree.lacks(row);
  if (remade) {
    row.state = Row::State::free;
  }
  bool joins = tree.is_known(*position);
  if (joins) {
    if (row.state != Row::State::gathering && !(tree.goes_on(row) && has_arrived(row, child))) {
      return repeat(tree, row, child, std::move(packet), message, now, actions);
    }
    if (has_arrived(row, child)) {
      return replace(tree, row, child, std::move(packet), message, now, actions);
    }
  }
  auto fault = find_fault(tree, row, *position, joins, child, message.header);
  if (fault == drop::over_cap && is_stuck(tree, *position, message.header, now)) {
    cut(tree);
    tree.begin_anew(*position, now);
    joins = tree.is_known(*position);
    fault = find_fault(tree, row, *position, joins, child, message.header);
  }
  if (fault) {
    row.state = remade ? before : row.state;
    tree.counters.over_cap += *fault == drop::over_cap;
    return actions.drop(std::move(packet), *fault);
  }
  if (tree.doors[child].count() != 0) {
    leave_door(tree, child);
  }
  const auto port = packet->ingress;
  if (!joins) {
    begin_row(tree, row, *position, message.header, now);
  }
  take(tree, row, child, std::move(packet), message, now);
  row.remade |= remade;
  actions.absorb(nullptr);
  make_room();
  complete_what_can(tree, row, child, now, actions);
  // Others may have the result of what was sent before.
  if (message.header.asks() && row.state == Row::State::gathering) {
    inquire(tree, message.header, port, now, actions);
  }
}

// What waits here may keep out what it waits for: the lowest VIDs of some, the
// others' higher ones. Where senders obey a grant that is not known here any
// more, that can happen. Nobody is further off than all windows.
bool PanamaEngine::is_stuck(const Tree& tree, std::uint64_t position,
                            const wire::PanamaHeader& header, Time now) const {
  return header.retransmission() && now - tree.last_complete >= stuck_after &&
         position < tree.expected + tree.rows();
}

// Why a packet cannot wait here, be it with others (`joins`); no value if it
// can.
std::optional<DropReason> PanamaEngine::find_fault(const Tree& tree, const Row& row,
                                                   std::uint64_t position, bool joins,
                                                   std::uint8_t child,
                                                   const wire::PanamaHeader& header) const {
  const bool beyond_fin = tree.fin && position > *tree.fin;
  if (beyond_fin || (joins && !is_like(row.header, header))) {
    return drop::mismatch;
  }
  const unsigned others = joins ? row.header.contributions.value() : 0;
  if (others + header.contributions.value() > tree.config().workers_below) {
    return drop::overcount;
  }
  const bool slot_taken = !joins && row.state == Row::State::gathering && !tree.is_left(row);
  if (slot_taken || position >= tree.expected + tree.span() ||
      tree.held[child] >= tree.grant.packets) {
    return drop::over_cap;
  }
  return std::nullopt;
}

void PanamaEngine::begin_row(Tree& tree, Row& row, std::uint64_t position,
                             const wire::PanamaHeader& header, Time now) {
  release_waiting(tree, row);
  clear(tree, row);
  row.state = Row::State::gathering;
  row.position = position;
  row.arrived = 0;
  row.next = 0;
  row.holds = true;
  row.remade = false;
  row.congested = false;
  row.since = now;
  row.header = header;
  row.header.flags &= wire::PanamaHeader::fin_bit | wire::PanamaHeader::version_mask;
  row.header.contributions = std::uint16_t{0};
  row.header.fingerprint = std::uint64_t{0};
  row.header.wnd_cap = wire::PanamaHeader::wnd_cap_none;
  row.header.rank = wire::PanamaHeader::no_rank;
  tree.gathering_high_water = std::max(tree.gathering_high_water, ++tree.gathering);
}

void PanamaEngine::take(Tree& tree, Row& row, std::uint8_t child, PacketPtr packet,
                        const Message& message, Time now) {
  ++tree.counters.contributions;
  hold(tree, row, child, std::move(packet), message);
  note(tree, row, child, now);
  add_in_order(tree, row);
}

void PanamaEngine::hold(Tree& tree, Row& row, std::uint8_t child, PacketPtr packet,
                        const Message& message) {
  count_waiting(tree, child);
  count_in(row.header, message.header);
  row.congested |= message.congested();
  note_question(tree, row, message.header);
  tree.waiting(row, child) = std::move(packet);
}

// A sum that is new here may come too late above: who asks here wants to be
// answered there.
void PanamaEngine::note_question(const Tree& tree, Row& row, const wire::PanamaHeader& header) {
  if (tree.is_partial() && header.asks()) {
    row.header.flags |= wire::PanamaHeader::retransmission_bit;
  }
}

void PanamaEngine::count_waiting(Tree& tree, std::uint8_t child) {
  auto& port = ports_[tree.config().children[child]];
  port.high_water = std::max(port.high_water, ++port.held);
  ++tree.held[child];
  ++held_;
}

void PanamaEngine::discount_waiting(Tree& tree, std::uint8_t child) {
  --ports_[tree.config().children[child]].held;
  --tree.held[child];
  --held_;
}

// The child has sent this.
void PanamaEngine::note(Tree& tree, Row& row, std::uint8_t child, Time now) {
  row.arrived |= std::uint64_t{1} << child;
  tree.highest[child] = std::max(tree.highest[child], row.position + 1);
  tree.top = std::max(tree.top, row.position + 1);
  tree.last_taken = tree.last_added = now;
  if (!tree.grant.active && !tree.is_finished()) {
    activate(tree, now);
  }
}

// A switch below has sent a sum again in which more workers are (section 7);
// else a repeat.
void PanamaEngine::replace(Tree& tree, Row& row, std::uint8_t child, PacketPtr packet,
                           const Message& message, Time now, engine::Actions& actions) {
  auto& waiting = tree.waiting(row, child);
  const auto more = [&] {
    const auto& before = header_in(*waiting);
    const auto others = row.header.contributions.value() - before.contributions.value();
    return message.header.contributions.value() > before.contributions.value() &&
           others + message.header.contributions.value() <= tree.config().workers_below &&
           is_like(before, message.header);
  };
  if (!tree.is_partial() || !more()) {
    ++tree.counters.duplicates;
    answer(tree, row, *packet, message, now, actions);
    actions.drop(std::move(packet), drop::duplicate);
    // There may have been no buffer for the sum.
    return complete_what_can(tree, row, child, now, actions);
  }
  ++tree.counters.replaced;
  count_out(row.header, header_in(*waiting));
  count_in(row.header, message.header);
  row.congested |= message.congested();
  note_question(tree, row, message.header);
  note(tree, row, child, now);
  waiting = std::move(packet);
  actions.absorb(nullptr);
  if (row.state == Row::State::summed) {
    send_more(tree, row, tree.config().children[child], now, actions);
  }
  complete_what_can(tree, row, child, now, actions);
}

// A contribution to what is complete.
void PanamaEngine::repeat(Tree& tree, Row& row, std::uint8_t child, PacketPtr packet,
                          const Message& message, Time now, engine::Actions& actions) {
  if (!has_arrived(row, child)) {
    return on_late_contribution(tree, row, child, std::move(packet), message, now, actions);
  }
  ++tree.counters.duplicates;
  answer(tree, row, *packet, message, now, actions);
  actions.drop(std::move(packet), drop::duplicate);
}

void PanamaEngine::on_late_contribution(Tree& tree, Row& row, std::uint8_t child, PacketPtr packet,
                                        const Message& message, Time now,
                                        engine::Actions& actions) {
  ++tree.counters.late;
  if (can_add_late(tree, row, child, message.header)) {
    note(tree, row, child, now);
    hold(tree, row, child, std::move(packet), message);
    actions.absorb(nullptr);
    make_room();
    send_more(tree, row, tree.config().children[child], now, actions);
  } else {
    if (!tree.goes_on(row)) {
      note(tree, row, child, now);
    }
    answer(tree, row, *packet, message, now, actions);
    actions.drop(std::move(packet), drop::late);
  }
  complete_what_can(tree, row, child, now, actions);
}

// Who sends again has lost something, or somebody above has. The tree does not
// rest as long as somebody asks.
void PanamaEngine::answer(Tree& tree, Row& row, const Packet& packet, const Message& message,
                          Time now, engine::Actions& actions) {
  if (!message.header.retransmission()) {
    return;
  }
  tree.last_taken = now;
  if (row.state == Row::State::done && row.kept) {
    replay(tree, row, packet.ingress, actions);
  } else if (!message.header.asks()) {
    return;
  } else if (tree.goes_on(row) || (row.state == Row::State::summed && row.kept)) {
    resend(tree, row, packet.ingress, wire::PanamaHeader::retransmission_bit, now, actions);
  } else if (row.state == Row::State::gathering && !is_complete(tree, row)) {
    inquire(tree, message.header, packet.ingress, now, actions);
  }
}

// The worker came after the sum had gone, but before its result.
bool PanamaEngine::can_add_late(const Tree& tree, const Row& row, std::uint8_t child,
                                const wire::PanamaHeader& header) const {
  return tree.goes_on(row) && is_like(row.header, header) &&
         tree.held[child] < tree.grant.packets &&
         row.header.contributions.value() + header.contributions.value() <=
             tree.config().workers_below;
}

// What waits for others, at once. Looks at every row: not more often than
// packets are stuck.
void PanamaEngine::evict_waiting(Tree& tree) {
  for (std::uint64_t slot = 0; slot < tree.rows(); ++slot) {
    auto& row = tree.row(slot);
    release_waiting(tree, row);
    row.state = row.state == Row::State::gathering ? Row::State::free : row.state;
  }
  tree.gathering = 0;
}

// It has to go on with an initial window.
void PanamaEngine::cut(Tree& tree) {
  evict_waiting(tree);
  memory_.deactivate(tree.grant, tree.held_max());
  tree.is_cut = true;
}

}  // namespace tributary::panama
