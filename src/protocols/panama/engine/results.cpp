// SPDX-License-Identifier: BSD-3-Clause
// What goes down the tree, and what is kept of it for those who lose it.
#include <algorithm>
#include <utility>

#include "protocols/panama/engine/drop_reasons.h"
#include "protocols/panama/engine/engine.h"

namespace tributary::panama {

void PanamaEngine::take_result(Tree& tree, PacketPtr packet, const Message& message,
                               const Burst& burst) {
  const auto ingress = packet->ingress;
  const auto sender = tree.neighbour_at(ingress);
  if (!sender.any()) {
    return burst.actions.drop(std::move(packet), drop::wrong_port);
  }
  holdings_.sweep(tree);
  tree.last_taken = sender.parent ? tree.last_taken : burst.now;
  const auto round = round_of(message.header);
  const auto found = tree.find_position(round, message.header.vid.value());
  const bool known = found.has_value();
  const auto position = found.value_or(tree.epochs.first() + message.header.vid.value());
  auto& row = tree.row(position);
  if (known && !sender.parent && !message.header.answers()) {
    auto& highest = tree.highest[tree.child_of(ingress)];
    highest = std::max(highest, position + 1);
  }
  if (!known && !(tree.epochs.is_current(round) && tree.may_begin_with_result(position))) {
    return relay(tree, std::move(packet), message, drop::stale, burst.actions);
  }
  if (known && row.state == Row::State::done && !tree.lacks(row)) {
    ++tree.counters.duplicates;
    return relay(tree, std::move(packet), message, drop::duplicate, burst.actions);
  }
  if (known && !is_like(message.header, row.header)) {
    return burst.actions.drop(std::move(packet), drop::mismatch);
  }
  if (message.frame.ipv4->ttl <= 1) {
    return burst.actions.drop(std::move(packet), DropReason::ttl_exceeded);
  }
  --message.frame.ipv4->ttl;
  message.frame.ipv4->source = tree.headers().ipv4.source;
  wire::finish_ipv4(*message.frame.ipv4);
  const bool comes_again = known && (row.state == Row::State::done || row.was_done);
  finish_row(tree, row, position, message);
  tree.inquiries.settle(round, message.header.vid.value());  // it goes to all
  settle(tree, row, burst.now);
  burst.actions.absorb(nullptr);
  ++(sender.parent && !comes_again ? tree.counters.results : tree.counters.answers);
  if (sender.parent) {
    tree.note_cap(position, message.header.wnd_cap.value());
  }
  // The sum may not have passed here, or not in this life of the switch.
  const bool passed_here = sender.parent && !tree.is_partial() && !tree.is_cut;
  if (!passed_here) {
    lower_cap(tree, row.header);
  }
  auto headers = tree.headers_for(row, row.header);
  if (sender.parent) {
    headers.ipv4 = *message.frame.ipv4;
  }
  packet->narrow_to(sizeof headers, message.payload.size());
  multicast(tree, row, std::move(packet), headers, burst);
  if (!sender.parent) {
    go_up(tree, row, message.header.flags & wire::PanamaHeader::answer_bit, ingress, burst.actions);
  }
}

// A result from below is news to whoever is above, as a sum would be.
void PanamaEngine::go_up(Tree& tree, const Row& row, std::uint8_t flags, PortIndex ingress,
                         engine::Actions& actions) {
  if (tree.is_root()) {
    return;
  }
  auto header = row.header;
  header.flags |= flags;
  wire::reseal(header);
  frames_.send({tree.headers_for(row, header).bytes(), row.kept.bytes(), ingress},
               *tree.config().parent, actions);
}

// Whatever the row waited for, its result is here.
void PanamaEngine::finish_row(Tree& tree, Row& row, std::uint64_t position,
                              const Message& message) {
  tree.gathering -= row.state == Row::State::gathering && !tree.is_left(row) ? 1 : 0;
  holdings_.release_waiting(tree, row);
  holdings_.clear(tree, row);
  if (!tree.is_known(position)) {
    row.arrived = 0;
    row.position = position;
    tree.top = std::max(tree.top, position + 1);
  }
  row.state = Row::State::done;
  row.congested = message.congested();
  row.header = message.header;
  if (row.header.answers()) {
    row.header.flags &= wire::PanamaHeader::fin_bit | wire::PanamaHeader::version_mask;
    wire::reseal(row.header);
  }
}

// Each child gets headers of its own in front of the same elements.
void PanamaEngine::multicast(Tree& tree, Row& row, PacketPtr packet, const Headers& headers,
                             const Burst& burst) {
  tree.counters.congested += row.congested;
  auto& body = keep(tree, row, std::move(packet), tree.children(), burst);
  for (const auto port : tree.config().children) {
    frames_.send_sharing(body, headers.bytes(), port, burst.actions);
  }
}

// What senders may have on the way today: an old cap would widen a window that has to be narrow by
// now, here or above (4.2.2).
std::uint16_t PanamaEngine::cap_today(const Tree& tree) const {
  return static_cast<std::uint16_t>(
      std::min<std::uint32_t>(memory_.shown_cap(tree.grant), tree.cap_told));
}

void PanamaEngine::lower_cap(const Tree& tree, wire::PanamaHeader& header) const {
  header.wnd_cap = std::min(header.wnd_cap.value(), cap_today(tree));
  wire::reseal(header);
}

void PanamaEngine::replay(Tree& tree, const Row& row, PortIndex port, engine::Actions& actions) {
  ++tree.counters.replays;
  auto header = row.header;
  header.wnd_cap = cap_today(tree);
  header.flags |= wire::PanamaHeader::answer_bit;
  wire::reseal(header);
  frames_.send({tree.headers_for(row, header).bytes(), row.kept.bytes(), port}, port, actions);
}

// So many frames and the row share the elements; nothing else is left of the packet.
Packet& PanamaEngine::keep(Tree& tree, Row& row, PacketPtr packet, unsigned frames,
                           const Burst& burst) {
  auto& body = *packet.release();
  pool_.share(body, frames + 1);
  holdings_.keep(tree, row, body);
  look_soon(burst.now);
  holdings_.make_room(trees_);
  return body;
}

}  // namespace tributary::panama
