// SPDX-License-Identifier: BSD-3-Clause
// What comes up the tree and waits for the others (section 5).
#include <algorithm>
#include <utility>

#include "protocols/panama/engine/admission.h"
#include "protocols/panama/engine/drop_reasons.h"
#include "protocols/panama/engine/engine.h"

namespace tributary::panama {
namespace {

void count_in(wire::PanamaHeader& sums, const wire::PanamaHeader& header) {
  sums.contributions =
      static_cast<std::uint16_t>(sums.contributions.value() + header.contributions.value());
  sums.fingerprint = sums.fingerprint.value() + header.fingerprint.value();
  sums.wnd_cap = std::min(sums.wnd_cap.value(), header.wnd_cap.value());
}

// A sum that is new here may come too late above: who asks here wants to be answered there.
void note_question(const Tree& tree, Row& row, const wire::PanamaHeader& header) {
  if (tree.is_partial() && header.asks()) {
    row.header.flags |= wire::PanamaHeader::retransmission_bit;
  }
}

void count_out(wire::PanamaHeader& sums, const wire::PanamaHeader& header) {
  sums.contributions =
      static_cast<std::uint16_t>(sums.contributions.value() - header.contributions.value());
  sums.fingerprint = sums.fingerprint.value() - header.fingerprint.value();
}

// Others wait there for what was complete before.
bool is_remade(const Place& at) {
  return at.joins && at.row.state == Row::State::gathering && at.row.remade;
}

}  // namespace

void PanamaEngine::contribute(Incoming& in) {
  auto& tree = in.tree;
  if (in.child == Tree::no_child) {
    return in.drop(drop::wrong_port);
  }
  if (tree.swept < tree.epochs.first()) {
    buffers_.sweep(tree);
  }
  const auto position = tree.place(in.header);
  if (!position && !tree.epochs.is_current(in.round())) {
    return wait_for_epoch(in);
  }
  if (!position) {
    return in.drop(drop::stale);
  }
  auto& row = tree.row(*position);
  const bool again = in.header.retransmission();
  if (again && *position < tree.epochs.first() && tree.is_gone(row)) {
    return wait_for_epoch(in);
  }
  const auto before = row.state;
  const bool remade =
      again && *position >= tree.epochs.first() && tree.is_known(*position) && tree.lacks(row);
  if (remade) {
    row.state = Row::State::free;
  }
  Place at{row, *position, tree.is_known(*position)};
  if (at.joins) {
    if (row.state != Row::State::gathering && !(tree.goes_on(row) && row.has(in.child))) {
      return repeat(in, row);
    }
    if (row.has(in.child)) {
      return replace(in, row);
    }
  }
  const bool once_more = remade || is_remade(at);
  if (const auto fault = find_fault(in, at, once_more)) {
    row.state = remade ? before : row.state;
    // That its window is full is no reason why the child should not send this.
    if (once_more && *fault == drop::over_cap) {
      tree.counters.late += again ? 0 : 1;
      return reject(in, drop::late);
    }
    tree.counters.over_cap += *fault == drop::over_cap;
    return in.drop(*fault);
  }
  if (!at.joins) {
    begin_row(in, at);
  }
  if (remade) {
    tree.note_remade(row, before == Row::State::done);
    look_soon(in.burst.now);
  }
  note_repeat(in, row);
  accept(in, row);
  // Others may have the result of what was sent before.
  if (in.header.asks() && row.state == Row::State::gathering) {
    inquire(in, in.header);
  }
}

// Why it cannot wait, with nothing in its way that can go; no value if it can.
std::optional<DropReason> PanamaEngine::find_fault(const Incoming& in, Place& at, bool once_more) {
  auto& tree = in.tree;
  auto fault = refusal(in, at);
  // Who obeys has the results of what waits once more and leaves no room for this one. Who does not
  // have them sends again.
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
    at.joins = tree.is_known(at.position);
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
  auto& row = at.row;
  buffers_.release_waiting(tree, row);
  buffers_.clear(tree, row);
  row.state = Row::State::gathering;
  row.position = at.position;
  row.arrived = 0;
  row.next = 0;
  row.holds = true;
  row.remade = row.was_done = false;
  row.congested = false;
  row.since = in.burst.now;
  row.header = in.header;
  row.kernel = &reduce::kernel(row.header.element_type, row.header.op);
  row.header.flags &= wire::PanamaHeader::fin_bit | wire::PanamaHeader::version_mask;
  row.header.contributions = std::uint16_t{0};
  row.header.fingerprint = std::uint64_t{0};
  row.header.wnd_cap = wire::PanamaHeader::wnd_cap_none;
  row.header.rank = wire::PanamaHeader::no_rank;
  tree.gathering_high_water = std::max(tree.gathering_high_water, ++tree.gathering);
}

void PanamaEngine::accept(Incoming& in, Row& row) {
  auto& tree = in.tree;
  if (tree.early[in.child].count() != 0) {
    buffers_.drop_early(tree, in.child);
  }
  take(in, row);
  in.absorb();
  buffers_.make_room(trees_);
  complete_what_can(in, row);
}

void PanamaEngine::take(Incoming& in, Row& row) {
  ++in.tree.counters.contributions;
  hold(in, row);
  note(in, row);
  adder_.add_in_order(in.tree, row);
}

void PanamaEngine::hold(Incoming& in, Row& row) {
  count_in(row.header, in.header);
  row.congested |= in.congested();
  note_question(in.tree, row, in.header);
  buffers_.hold(in.tree, row, in.child, std::move(in.packet));
}

// The child has sent this.
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

// A switch below has sent a sum again in which more workers are (section 7); else a repeat.
void PanamaEngine::replace(Incoming& in, Row& row) {
  auto& tree = in.tree;
  auto& waiting = tree.waiting(row, in.child);
  const auto more = [&] {
    const auto& before = header_in(*waiting);
    const auto others = row.header.contributions.value() - before.contributions.value();
    return in.header.contributions.value() > before.contributions.value() &&
           others + in.header.contributions.value() <= tree.config().workers_below &&
           is_like(before, in.header);
  };
  if (!tree.is_partial() || !more()) {
    ++tree.counters.duplicates;
    note_repeat(in, row);
    answer(in, row);
    in.drop(drop::duplicate);
    // There may have been no buffer for the sum.
    return complete_what_can(in, row);
  }
  ++tree.counters.replaced;
  count_out(row.header, header_in(*waiting));
  count_in(row.header, in.header);
  row.congested |= in.congested();
  note_question(tree, row, in.header);
  note(in, row);
  waiting = std::move(in.packet);
  in.absorb();
  if (row.state == Row::State::summed) {
    send_more(in, row);
  }
  complete_what_can(in, row);
}

// A contribution to what is complete.
void PanamaEngine::repeat(Incoming& in, Row& row) {
  if (!row.has(in.child)) {
    return on_late_contribution(in, row);
  }
  ++in.tree.counters.duplicates;
  answer(in, row);
  in.drop(drop::duplicate);
}

void PanamaEngine::on_late_contribution(Incoming& in, Row& row) {
  auto& tree = in.tree;
  ++tree.counters.late;
  if (tree.goes_on(row) && !tree.grant.active) {
    // After a long silence it has room for no more than what waits.
    activate(tree, in.burst.now);
    memory_.raise_to_share(tree.grant);
  }
  if (can_add_late(in, row)) {
    note(in, row);
    hold(in, row);
    in.absorb();
    buffers_.make_room(trees_);
    send_more(in, row);
  } else {
    if (!tree.goes_on(row)) {
      note(in, row);
    }
    answer(in, row);
    in.drop(drop::late);
  }
  complete_what_can(in, row);
}

// Who sends again has lost something, or somebody above has. The tree does not rest as long as
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
