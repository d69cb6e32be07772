// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/engine/admission.h"

#include "protocols/panama/engine/drop_reasons.h"

namespace tributary::panama {
namespace {

// Whoever obeys waits for a place for less than this.
constexpr Duration stuck_after = std::chrono::milliseconds(100);

bool has_room(const Incoming& in) {
  return in.tree.held[in.child] < in.tree.grant.packets;
}

// Returns whether, with so many workers in the sum already, there would be more than are below.
bool is_overcount(const Incoming& in, unsigned others) {
  return others + in.header.contributions.value() > in.tree.config().workers_below;
}

// Returns whether some rank would be in the sum twice.
bool is_overlap(const Incoming& in, const Row& row, const wire::RankMask& leaving = {}) {
  return in.tree.present.overlap(in.tree.slot_of(row), in.mask(), leaving);
}

// The lane leaves the mask unchecked. Most trees have none, so this is not to be inlined where
// their packets pass.
[[gnu::noinline]] std::optional<DropReason> refusal_by_mask(const Incoming& in, const Row& row) {
  if (!wire::is_sound_mask(in.header, in.payload())) {
    return drop::malformed;
  }
  return is_overlap(in, row) ? std::optional(drop::overlap) : std::nullopt;
}

}  // namespace

std::optional<DropReason> refusal(const Incoming& in, const Place& at) {
  const auto& tree = in.tree;
  const bool beyond_fin = tree.fin && at.position > *tree.fin;
  if (beyond_fin || (at.joins && !is_like(at.row.header, in.header))) {
    return drop::mismatch;
  }
  if (is_overcount(in, at.joins ? at.row.header.contributions.value() : 0)) {
    return drop::overcount;
  }
  const bool slot_taken =
      !at.joins && at.row.state == Row::State::gathering && !tree.is_left(at.row);
  if (slot_taken || !is_in_span(tree, at.position) || !has_room(in)) {
    return drop::over_cap;
  }
  return at.joins && tree.is_partial() ? refusal_by_mask(in, at.row) : std::nullopt;
}

bool is_stuck(const Incoming& in, std::uint64_t position, Time now) {
  const auto& before = in.tree.repeated[in.child];
  const bool others_owe = before.position < position && now - before.at < stuck_after;
  return in.header.retransmission() && !others_owe && now - in.tree.last_complete >= stuck_after;
}

void note_repeat(const Incoming& in, const Row& row) {
  auto& lowest = in.tree.repeated[in.child];
  const auto now = in.burst.now;
  if (in.header.retransmission() &&
      (row.position <= lowest.position || now - lowest.at >= stuck_after)) {
    lowest = {row.position, now};
  }
}

bool replaces(const Incoming& in, const Row& row) {
  const auto& waiting = *row.waiting[in.child];
  const auto& before = header_in(waiting);
  const auto others = row.header.contributions.value() - before.contributions.value();
  return in.header.contributions.value() > before.contributions.value() &&
         !is_overcount(in, others) && !is_overlap(in, row, mask_in(waiting)) &&
         is_like(before, in.header);
}

bool can_add_late(const Incoming& in, const Row& row) {
  return in.tree.goes_on(row) && is_like(row.header, in.header) && has_room(in) &&
         !is_overcount(in, row.header.contributions.value()) && !is_overlap(in, row);
}

}  // namespace tributary::panama
