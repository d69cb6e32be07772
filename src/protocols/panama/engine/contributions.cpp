// SPDX-License-Identifier: BSD-3-Clause
// This file handles what comes up the tree and waits for the others (section 5).
#include <algorithm>
#include <utility>

#include "protocols/panama/engine/admission.h"
#include "protocols/panama/engine/drop_reasons.h"
#include "protocols/panama/engine/engine.h"

namespace tributary::panama {
void PanamaEngine::contribute(Incoming& in) {
  auto& tree = in.tree;
  if (in.child == Tree::no_child) {
    return in.drop(drop::wrong_port);
  }
  buffers_.sweep(tree);
  const auto position = tree.place(in.header);
  if (!position && tree.epochs.is_current(in.round())) {
    return in.drop(drop::stale);
  }
  const bool again = in.header.retransmission();
  const bool is_past = position && *position < tree.epochs.first();
  if (!position || (again && is_past && tree.is_gone(tree.row(*position)))) {
    return wait_for_epoch(in);
  }
  auto& row = tree.row(*position);
  const bool known = tree.is_known(*position);
  const bool remakes = again && known && !is_past && tree.lacks(row);
  Place at{row, *position, known && !remakes};
  if (at.joins) {
    const bool gathers = row.state == Row::State::gathering;
    if (row.has(in.child) && (gathers || tree.goes_on(row))) {
      return replace(in, row);
    }
    if (!gathers) {
      return row.has(in.child) ? repeat(in, row) : on_late_contribution(in, row);
    }
  }
  // The row was complete before, and others wait there once more, or are about to.
  const bool once_more = remakes || (at.joins && row.remade);
  if (const auto fault = find_fault(in, at, once_more)) {
    // That its window is full is no reason why the child should not send this.
    if (once_more && *fault == drop::over_cap) {
      tree.counters.late += again ? 0 : 1;
      return reject(in, drop::late);
    }
    tree.counters.over_cap += *fault == drop::over_cap;
    return in.drop(*fault);
  }
  const bool was_done = row.state == Row::State::done;
  const bool asks = in.header.asks();
  if (!at.joins) {
    begin_row(in, at);
    if (once_more) {
      tree.remade.add(row, was_done);
      look_soon(in.burst.now);
    }
  }
  note_repeat(in, row);
  take(in, row);
  // Others may have the result of what was sent before.
  if (asks && row.state == Row::State::gathering) {
    inquire(in, row.header);
  }
}

// Returns why the packet cannot wait, with nothing in its way that can go; no value if it can.
std::optional<DropReason> PanamaEngine::find_fault(const Incoming& in, Place& at, bool once_more) {
  auto& tree = in.tree;
  auto fault = refusal(in, at);
  // Whoever obeys has the results of what waits once more and leaves no room for this one. Whoever
  // does not have them sends again.
  if (fault == drop::over_cap && !once_more && is_in_span(tree, at.position)) {
    buffers_.evict_remade(tree);
    fault = refusal(in, at);
  }
  if (fault != drop::over_cap || !is_stuck(in, at.position, in.burst.now)) {
    return fault;
  }
  if (const auto first = tree.find_new_beginning(in.child, at.position)) {
    cut(tree);
    tree.begin_anew(*first, in.burst.now);
    at.joins = false;  // nothing waits any more: what was remade is complete, and empty
    return refusal(in, at);
  }
  if (in.header.asks()) {
    // Those who are not that far may have the result, and no more to send.
    inquire(in, in.header);
  }
  return fault;
}

void PanamaEngine::begin_row(const Incoming& in, const Place& at) {
  auto& tree = in.tree;
  buffers_.vacate(tree, at.row);
  at.row.begin(at.position, in.header, in.burst.now);
  if (tree.is_partial()) {
    tree.present.clear(tree.slot_of(at.row));
  }
  tree.gathering_high_water = std::max(tree.gathering_high_water, ++tree.gathering);
}

// Takes a contribution that is new, and in time.
void PanamaEngine::take(Incoming& in, Row& row) {
  ++in.tree.counters.contributions;
  if (in.tree.early[in.child].count() != 0) {
    buffers_.drop_early(in.tree, in.child);
  }
  accept(in, row);
}

void PanamaEngine::accept(Incoming& in, Row& row) {
  hold(in, row);
  in.absorb();
  buffers_.make_room(trees_);
  if (row.state == Row::State::summed) {
    send_more(in, row);
  }
  complete_what_can(in, row);
}

void PanamaEngine::hold(Incoming& in, Row& row) {
  auto& tree = in.tree;
  row.count_in(in.header, in.congested());
  if (tree.is_partial()) {
    tree.present.add(tree.slot_of(row), in.mask());
    // A sum that is new here may come too late above: whoever asks here wants to be answered there.
    if (in.header.asks()) {
      row.header.flags |= wire::PanamaHeader::retransmission_bit;
    }
  }
  note(in, row);
  buffers_.hold(tree, row, in.child, std::move(in.packet));
  adder_.add_in_order(tree, row);
}

// Notes that the child has sent this.
void PanamaEngine::note(const Incoming& in, Row& row) {
  auto& tree = in.tree;
  row.arrived |= std::uint64_t{1} << in.child;
  tree.highest[in.child] = std::max(tree.highest[in.child], row.position + 1);
  tree.top = std::max(tree.top, row.position + 1);
  tree.last_taken = tree.last_added = in.burst.now;
  if (!tree.grant.active && !tree.is_finished()) {
    activate(tree, in.burst.now);
  }
}

// Takes what a switch below has sent again: a sum in which more workers are (section 7), or else a
// repeat.
void PanamaEngine::replace(Incoming& in, Row& row) {
  auto& tree = in.tree;
  if (!tree.is_partial() || !replaces(in, row)) {
    note_repeat(in, row);
    repeat(in, row);
    // There may have been no buffer for the sum.
    return complete_what_can(in, row);
  }
  ++tree.counters.replaced;
  const auto& before = *row.waiting[in.child];
  row.count_out(header_in(before));
  tree.present.remove(tree.slot_of(row), mask_in(before));
  buffers_.let_go(tree, row, in.child);
  accept(in, row);
}

// Takes a repeat of what was here before.
void PanamaEngine::repeat(Incoming& in, Row& row) {
  ++in.tree.counters.duplicates;
  answer(in, row);
  in.drop(drop::duplicate);
}

// Takes the first contribution of this child to what is complete.
void PanamaEngine::on_late_contribution(Incoming& in, Row& row) {
  auto& tree = in.tree;
  ++tree.counters.late;
  if (tree.goes_on(row) && !tree.grant.active) {
    // After a long silence it has room for no more than what waits.
    activate(tree, in.burst.now);
    memory_.raise_to_share(tree.grant);
  }
  if (can_add_late(in, row)) {
    return accept(in, row);
  }
  // Where others wait, each that is noted has a packet there.
  if (!row.holds) {
    note(in, row);
  }
  answer(in, row);
  in.drop(drop::late);
  complete_what_can(in, row);
}

// Whoever sends again has lost something, or somebody above has. The tree does not rest as long as
// somebody asks.
void PanamaEngine::answer(const Incoming& in, Row& row) {
  auto& tree = in.tree;
  if (!in.header.retransmission()) {
    return;
  }
  tree.last_taken = in.burst.now;
  if (row.state == Row::State::done && row.kept) {
    replay(in, row);
  } else if (!in.header.asks()) {
    return;
  } else if (tree.goes_on(row) || (row.state == Row::State::summed && row.kept)) {
    resend(in, row, wire::PanamaHeader::retransmission_bit);
  } else if (row.state == Row::State::gathering && !tree.is_complete(row)) {
    inquire(in, in.header);
  }
}

}  // namespace tributary::panama
