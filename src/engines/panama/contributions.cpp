// SPDX-License-Identifier: BSD-3-Clause
// What comes up the tree and waits for the others (section 5).
#include <algorithm>
#include <utility>

#include "engines/panama/engine.h"

namespace tributary::panama {
namespace {

// Nobody of a run that is going on is silent for so long and then sends what is older.
constexpr Duration restart_after = std::chrono::seconds(1);

std::uint32_t mark_of(const wire::PanamaHeader& header) {
  return static_cast<std::uint32_t>(header.fingerprint.value());
}

bool has_arrived(const Row& row, std::uint8_t child) {
  return (row.arrived >> child & 1) != 0;
}

// The header of a packet that waits.
const wire::PanamaHeader& header_in(const Packet& packet) {
  return reinterpret_cast<const Headers*>(packet.data())->panama;
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
    return actions.drop(std::move(packet), DropReason::panama_wrong_port);
  }
  const auto position = place(tree, child, message.header, now);
  if (!position) {
    return actions.drop(std::move(packet), DropReason::panama_stale);
  }
  auto& row = tree.row(*position);
  if (tree.is_known(*position)) {
    const bool goes_on = row.state == Row::State::summed && row.holds;
    if (row.state != Row::State::gathering && !(goes_on && has_arrived(row, child))) {
      return repeat(tree, row, child, std::move(packet), message, now, actions);
    }
    if (has_arrived(row, child)) {
      return replace(tree, row, child, std::move(packet), message, now, actions);
    }
  }
  if (const auto fault = find_fault(tree, row, *position, child, message.header)) {
    tree.counters.over_cap += *fault == DropReason::panama_over_cap;
    return actions.drop(std::move(packet), *fault);
  }
  if (!tree.is_known(*position)) {
    begin_row(tree, row, *position, message.header, now);
  }
  take(tree, row, child, std::move(packet), message, now);
  actions.absorb(nullptr);
  complete_what_can(tree, row, child, now, actions);
}

// The position of a packet; no value if it is of the past. What cannot be of the run that the tree
// knows begins another: a job that was started again may count its epochs from the start.
std::optional<std::uint64_t> PanamaEngine::place(Tree& tree, std::uint8_t child,
                                                 const wire::PanamaHeader& header, Time now) {
  const auto epoch = header.epoch.value();
  const auto vid = header.vid.value();
  const auto known = tree.find_position(epoch, vid);
  if (known) {
    const auto& row = tree.row(*known);
    const bool may_change = tree.is_partial() && header.rank.value() == header.no_rank;
    if (!has_arrived(row, child) || tree.mark(row, child) == mark_of(header) || may_change) {
      return known;
    }
  }
  const bool of_another_run = known && *known < tree.epochs.first();
  if ((!known || of_another_run) && tree.may_begin_row(epoch, vid)) {
    return tree.epochs.first() + vid;
  }
  // What is remembered, and gone all the same, is a stray packet of this run before all else.
  const auto silence = now - tree.last_taken;
  const bool remembered = tree.epochs.is_remembered(epoch);
  const bool rests = remembered && !known ? silence >= silence_max
                                          : !tree.grant.active || silence >= restart_after;
  const bool at_start = vid < initial_window || !remembered;
  if (!tree.epochs.is_newer(epoch) && !(rests && at_start)) {
    return std::nullopt;
  }
  evict_waiting(tree);
  tree.begin(epoch, vid);
  activate(tree, now);
  return tree.epochs.first() + vid;
}

// Why a packet cannot wait here; no value if it can.
std::optional<DropReason> PanamaEngine::find_fault(const Tree& tree, const Row& row,
                                                   std::uint64_t position, std::uint8_t child,
                                                   const wire::PanamaHeader& header) const {
  const bool joins = tree.is_known(position);
  const bool beyond_fin = tree.fin && position > *tree.fin;
  if (beyond_fin || (joins && !is_like(row.header, header))) {
    return DropReason::panama_mismatch;
  }
  const unsigned others = joins ? row.header.contributions.value() : 0;
  if (others + header.contributions.value() > tree.config().workers_below) {
    return DropReason::panama_overcount;
  }
  const bool slot_taken = !joins && row.state == Row::State::gathering;
  if (slot_taken || position >= tree.expected + tree.span() ||
      tree.held[child] >= tree.grant.packets) {
    return DropReason::panama_over_cap;
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
  row.congested = false;
  row.since = now;
  row.header = header;
  row.header.flags &= static_cast<std::uint8_t>(~wire::PanamaHeader::retransmission_bit);
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
  note(tree, row, child, message.header, now);
  // A sum that is new here may come too late above: who asks here wants to be answered there.
  if (tree.is_partial() && message.header.retransmission()) {
    row.header.flags |= wire::PanamaHeader::retransmission_bit;
  }
  add_in_order(tree, row);
}

void PanamaEngine::hold(Tree& tree, Row& row, std::uint8_t child, PacketPtr packet,
                        const Message& message) {
  auto& port = ports_[packet->ingress];
  port.high_water = std::max(port.high_water, ++port.held);
  ++tree.held[child];
  ++held_;
  count_in(row.header, message.header);
  row.congested |= message.congested();
  tree.waiting(row, child) = std::move(packet);
  make_room();
}

// The child has sent this.
void PanamaEngine::note(Tree& tree, Row& row, std::uint8_t child, const wire::PanamaHeader& header,
                        Time now) {
  row.arrived |= std::uint64_t{1} << child;
  tree.mark(row, child) = mark_of(header);
  tree.highest[child] = std::max(tree.highest[child], row.position + 1);
  tree.top = std::max(tree.top, row.position + 1);
  tree.last_taken = tree.last_added = now;
  if (!tree.grant.active && !tree.is_finished()) {
    activate(tree, now);
  }
}

// A switch below has sent a sum again in which more workers are (section 7); else a repeat.
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
    actions.drop(std::move(packet), DropReason::panama_duplicate);
    // There may have been no buffer for the sum.
    return complete_what_can(tree, row, child, now, actions);
  }
  ++tree.counters.replaced;
  count_out(row.header, header_in(*waiting));
  count_in(row.header, message.header);
  row.congested |= message.congested();
  note(tree, row, child, message.header, now);
  waiting = std::move(packet);
  actions.absorb(nullptr);
  if (row.state == Row::State::summed) {
    send_more(tree, row, child, now, actions);
  }
  complete_what_can(tree, row, child, now, actions);
}

// A contribution to what is complete.
void PanamaEngine::repeat(Tree& tree, Row& row, std::uint8_t child, PacketPtr packet,
                          const Message& message, Time now, engine::Actions& actions) {
  if (!has_arrived(row, child)) {
    return come_late(tree, row, child, std::move(packet), message, now, actions);
  }
  ++tree.counters.duplicates;
  answer(tree, row, *packet, message, now, actions);
  actions.drop(std::move(packet), DropReason::panama_duplicate);
}

void PanamaEngine::come_late(Tree& tree, Row& row, std::uint8_t child, PacketPtr packet,
                             const Message& message, Time now, engine::Actions& actions) {
  ++tree.counters.late;
  if (can_add_late(tree, row, child, message.header)) {
    note(tree, row, child, message.header, now);
    hold(tree, row, child, std::move(packet), message);
    actions.absorb(nullptr);
    send_more(tree, row, child, now, actions);
  } else {
    if (!row.holds) {
      note(tree, row, child, message.header, now);
    }
    answer(tree, row, *packet, message, now, actions);
    actions.drop(std::move(packet), DropReason::panama_late);
  }
  complete_what_can(tree, row, child, now, actions);
}

// Who sends again has lost something, or somebody above has. The tree does not rest as long as
// somebody asks.
void PanamaEngine::answer(Tree& tree, Row& row, const Packet& packet, const Message& message,
                          Time now, engine::Actions& actions) {
  if (!message.header.retransmission()) {
    return;
  }
  tree.last_taken = now;
  if (row.state == Row::State::summed && row.holds && !row.kept) {
    return send_more(tree, row, tree.child_of(packet.ingress), now, actions);
  }
  if (!row.kept) {
    return;
  }
  if (row.state == Row::State::done) {
    replay(tree, row, packet.ingress, actions);
  } else {
    resend(tree, row, packet.ingress, now, actions);
  }
}

// The worker came after the sum had gone, but before its result.
bool PanamaEngine::can_add_late(const Tree& tree, const Row& row, std::uint8_t child,
                                const wire::PanamaHeader& header) const {
  return row.state == Row::State::summed && row.holds && is_like(row.header, header) &&
         tree.held[child] < tree.grant.packets &&
         row.header.contributions.value() + header.contributions.value() <=
             tree.config().workers_below;
}

// What waits of an epoch that nobody goes on with.
void PanamaEngine::evict_waiting(Tree& tree) {
  for (std::uint64_t slot = 0; slot < tree.rows() && tree.held_max() > 0; ++slot) {
    auto& row = tree.row(slot);
    release_waiting(tree, row);
    if (row.state == Row::State::gathering) {
      row.state = Row::State::free;
      --tree.gathering;
    }
  }
}

// It has to go on with an initial window.
void PanamaEngine::cut(Tree& tree) {
  evict_waiting(tree);
  memory_.deactivate(tree.grant, tree.held_max());
  tree.is_cut = true;
}

}  // namespace tributary::panama
