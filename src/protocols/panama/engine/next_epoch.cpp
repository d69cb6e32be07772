// SPDX-License-Identifier: BSD-3-Clause
// This file brings a tree to its next epoch: none of its children begins one alone.
#include <array>
#include <cstddef>
#include <utility>

#include "protocols/panama/engine/admission.h"
#include "protocols/panama/engine/drop_reasons.h"
#include "protocols/panama/engine/engine.h"

namespace tributary::panama {
namespace {

// Returns whether a switch below has made a sum with more workers in it meanwhile (section 7).
bool is_larger(const Tree& tree, const wire::PanamaHeader& a, const wire::PanamaHeader& b) {
  return tree.is_partial() && a.contributions.value() > b.contributions.value();
}

}  // namespace

// A packet that is not of the tree's epoch, and not known from one before, waits until as many
// children as a sum needs have sent one of the same epoch. Nobody is kept waiting by that, as there
// would be no sum without them. So neither late packets of another run nor a port that lies can end
// what goes on, and a job that is started again takes over as soon as all its ranks are there.
void PanamaEngine::wait_for_epoch(Incoming& in) {
  auto& tree = in.tree;
  const auto round = in.round();
  if (in.header.contributions.value() > tree.config().workers_below) {
    return in.drop(drop::overcount);
  }
  const bool again = in.header.retransmission();
  // Whoever needs something of an epoch that is over asks for it, and where that had its result, or
  // a result of the next one is there, somebody has what is asked for. What only came late must not
  // take the place of what waits.
  const bool somebody_has_it = tree.has_results || tree.had_result(round, in.vid());
  if (tree.is_over(round) && (!again || somebody_has_it)) {
    return reject(in, drop::stale);
  }
  auto& packets = tree.early[in.child];
  if (packets.round != round) {
    buffers_.drop_early(tree, in.child);
    packets.round = round;
  }
  auto* place = packets.place_of(in.vid());
  if (tree.grant.packets == 0) {
    look_soon(in.burst.now);  // for trees that have room and stand still
  }
  if (place == nullptr || tree.grant.packets == 0) {
    tree.counters.over_cap += again ? 0 : 1;
    return reject(in, drop::over_cap);
  }
  tree.last_taken = in.burst.now;
  if (*place != nullptr && !is_larger(tree, in.header, header_in(**place))) {
    return reject(in, drop::duplicate);
  }
  if (*place == nullptr) {
    packets.since = packets.count() == 0 ? in.burst.now : packets.since;
  } else {
    ++tree.counters.left;
  }
  const auto wanted = in.header;
  buffers_.hold_at(*place, std::move(in.packet));
  in.absorb();
  if (tree.may_begin(round)) {
    begin_epoch(in);
  } else if (wanted.asks()) {
    inquire(in, wanted);
  }
  buffers_.make_room(trees_);
}

// Nobody who asks is refused: others are asked in turn.
void PanamaEngine::reject(Incoming& in, DropReason reason) {
  if (in.header.asks()) {
    in.tree.last_taken = in.burst.now;
    inquire(in, in.header);
  }
  const bool again = in.header.retransmission();
  in.tree.counters.duplicates += again || reason == drop::duplicate ? 1 : 0;
  in.drop(again ? drop::duplicate : reason);
}

// The others have waited for the child that sent `last`: only rows with a packet of it can be
// complete.
void PanamaEngine::begin_epoch(const Incoming& last) {
  auto& tree = last.tree;
  const auto round = last.round();
  buffers_.abandon_rows(tree);
  tree.begin(round, last.burst.now);
  activate(tree, last.burst.now);
  std::array<Row*, initial_window> of_last{};
  for (std::uint8_t child = 0; child < tree.children(); ++child) {
    auto& early = tree.early[child];
    for (std::size_t i = 0; early.round == round && i < early.packets.size(); ++i) {
      if (early.packets[i] != nullptr) {
        auto* row = take_early(tree, buffers_.take_from(early.packets[i]), last.burst);
        of_last[i] = child == last.child ? row : of_last[i];
      }
    }
  }
  for (auto* row : of_last) {
    if (row != nullptr) {
      complete_what_can(last, *row);
    }
  }
}

// Returns null if the packet does not fit.
Row* PanamaEngine::take_early(Tree& tree, PacketPtr packet, const Burst& burst) {
  const auto frame = engine::parse_frame(*packet);
  Incoming in(tree, std::move(packet), frame, burst);
  const auto position = tree.epochs.first() + in.vid();
  const Place at{tree.row(position), position, tree.is_known(position)};
  if (const auto fault = refusal(in, at)) {
    tree.counters.over_cap += *fault == drop::over_cap;
    ++tree.counters.left;
    burst.actions.lose(*fault);
    return nullptr;
  }
  if (!at.joins) {
    begin_row(in, at);
  }
  ++tree.counters.contributions;
  hold(in, at.row);
  return &at.row;
}

}  // namespace tributary::panama
