// SPDX-License-Identifier: BSD-3-Clause
// This file handles what goes down the tree, and what is kept of it for those who lose it.
#include <algorithm>
#include <utility>

#include "protocols/panama/engine/drop_reasons.h"
#include "protocols/panama/engine/engine.h"

namespace tributary::panama {

void PanamaEngine::take_result(Incoming& in) {
  auto& [tree, port, burst] = static_cast<Cause&>(in);
  const auto sender = tree.neighbour_at(port);
  if (!sender.any()) {
    return in.drop(drop::wrong_port);
  }
  buffers_.sweep(tree);
  tree.last_taken = sender.parent ? tree.last_taken : burst.now;
  const auto found = tree.find_position(in.round(), in.vid());
  const bool known = found.has_value();
  const auto position = found.value_or(tree.epochs.first() + in.vid());
  auto& row = tree.row(position);
  if (known && !sender.parent && !in.header.answers()) {
    auto& highest = tree.highest[in.child];
    highest = std::max(highest, position + 1);
  }
  if (!known && !(tree.epochs.is_current(in.round()) && tree.may_begin_with_result(position))) {
    return relay(in, drop::stale);
  }
  if (known && row.state == Row::State::done && !tree.lacks(row)) {
    ++tree.counters.duplicates;
    return relay(in, drop::duplicate);
  }
  if (known && !is_like(in.header, row.header)) {
    return in.drop(drop::mismatch);
  }
  auto& ip = *in.frame.ipv4;
  if (ip.ttl <= 1) {
    return in.drop(DropReason::ttl_exceeded);
  }
  --ip.ttl;
  ip.source = tree.headers().ipv4.source;
  wire::finish_ipv4(ip);
  const bool comes_again = known && (row.state == Row::State::done || row.was_done);
  finish_row(in, row, position);
  tree.inquiries.settle(in.round(), in.vid());  // it goes to all
  settle(in, row);
  burst.actions.absorb(nullptr);
  const bool is_result = sender.parent && !comes_again;
  ++(is_result ? tree.counters.results : tree.counters.answers);
  tree.counters.congested += is_result && row.congested ? 1 : 0;
  if (sender.parent) {
    tree.told.note(position, in.header.wnd_cap.value());
  }
  // The sum may not have passed here, or not in this life of the switch.
  const bool passed_here = sender.parent && !tree.is_partial() && !tree.is_cut;
  if (!passed_here) {
    lower_cap(tree, row.header);
  }
  auto headers = tree.headers_for(row, row.header);
  if (sender.parent) {
    headers.ipv4 = ip;
  }
  in.packet->narrow_to(sizeof headers, in.payload().size());
  multicast(in, row, std::move(in.packet), headers);
  // A result from below is news to whoever is above, as a sum would be.
  if (!sender.parent && !tree.is_root()) {
    auto header = row.header;
    header.flags |= in.header.flags & wire::PanamaHeader::answer_bit;
    send_kept(in, row, header, *tree.config().parent);
  }
}

// Whatever the row waited for, its result is here.
void PanamaEngine::finish_row(const Incoming& in, Row& row, std::uint64_t position) {
  auto& tree = in.tree;
  tree.gathering -= row.state == Row::State::gathering && !tree.is_left(row) ? 1 : 0;
  buffers_.vacate(tree, row);
  if (!tree.is_known(position)) {
    row.arrived = 0;
    row.position = position;
    tree.top = std::max(tree.top, position + 1);
  }
  row.state = Row::State::done;
  row.congested = in.congested();
  row.header = in.header;
  if (row.header.answers()) {
    clear_marks(row.header);
    wire::reseal(row.header);
  }
}

void PanamaEngine::multicast(const Cause& cause, Row& row, PacketPtr packet,
                             const Headers& headers) {
  send_and_keep(cause, row, std::move(packet), headers, cause.tree.down());
}

// Returns what senders may have on the way today: an old cap would widen a window that has to be
// narrow by now, here or above (4.2.2).
std::uint16_t PanamaEngine::cap_today(const Tree& tree) const {
  return static_cast<std::uint16_t>(
      std::min<std::uint32_t>(memory_.shown_cap(tree.grant), tree.told.cap));
}

void PanamaEngine::lower_cap(const Tree& tree, wire::PanamaHeader& header) const {
  header.wnd_cap = std::min(header.wnd_cap.value(), cap_today(tree));
  wire::reseal(header);
}

void PanamaEngine::replay(const Cause& cause, const Row& row) {
  ++cause.tree.counters.replays;
  auto header = row.header;
  header.wnd_cap = cap_today(cause.tree);
  header.flags |= wire::PanamaHeader::answer_bit;
  send_kept(cause, row, header, cause.port);
}

}  // namespace tributary::panama
