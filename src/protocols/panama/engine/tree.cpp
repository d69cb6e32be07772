// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/engine/tree.h"

#include <bit>

#include "engine/prefetch.h"

namespace tributary::panama {
namespace {

// Returns the workers that a sum needs: all below but those that may be missing anywhere (section
// 7).
std::uint16_t needed_of(const TreeConfig& config) {
  const int needed = config.workers_below - (config.workers - config.quorum);
  return static_cast<std::uint16_t>(std::max(needed, 1));
}

// Rows lie in a ring: two windows, so that results stay until nobody can have missed them; three
// where some may be left out.
std::uint64_t rows_of(const TreeConfig& config, std::uint32_t packet_memory) {
  return std::bit_ceil((config.is_partial() ? 3 : 2) * packet_memory);
}

}  // namespace

Tree::Tree(const TreeConfig& config, const engine::SwitchIdentity& self,
           std::uint32_t packet_memory)
    : TreePorts(config, self.ports),
      remade((config.is_partial() ? 3 : 2) * packet_memory),
      early(config.children.size()),
      held(config.children.size()),
      highest(config.children.size()),
      repeated(config.children.size()),
      present(rows_of(config, packet_memory), config.is_partial() ? config.workers : 0),
      config_(config),
      headers_(headers_of(config, self)),
      needed_(needed_of(config)),
      mask_(rows_of(config, packet_memory) - 1),
      rows_(rows()),
      waiting_(rows_.size() * config.children.size()),
      beyond_(config.children.size()) {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    rows_[i].waiting = &waiting_[i * config.children.size()];
  }
}

Headers Tree::headers_for(const Row& row, const wire::PanamaHeader& header) const {
  auto headers = headers_;
  headers.panama = header;
  address(headers, row.congested, payload_bytes(header));
  return headers;
}

std::optional<std::uint64_t> Tree::place(const wire::PanamaHeader& header) const {
  const auto vid = header.vid.value();
  const auto round = round_of(header);
  // If the epoch was begun again, what is left of it from before is no use.
  const auto known = find_position(round, vid);
  if (known && !(*known < epochs.first() && epochs.is_current(round) && is_gone(row(*known)))) {
    return known;
  }
  const auto position = epochs.first() + vid;
  const auto& there = row(position);
  // If the epoch has ended, what only came late needs no sum any more; who asks for one gets it.
  const bool is_of_the_past = (there.state != Row::State::free && there.position >= position) ||
                              (is_finished() && position < expected && !header.retransmission());
  return epochs.is_current(round) && !is_of_the_past ? std::optional(position) : std::nullopt;
}

bool Tree::may_begin(const Round& round) const {
  const auto there = early.find(round);
  const bool some_may_be_late =
      epochs.is_of_this_run(round) ? epochs.is_newer(round) : !grant.active;
  return there.children == all_children() ||
         (some_may_be_late && is_partial() && there.workers >= needed_);
}

void Tree::begin(const Round& round, Time now) {
  const auto there = early.find(round);
  // Windows start at the initial one: what is further on shows that this switch began in the
  // middle. A packet that is sent again may have been sent before to this switch, in an earlier
  // life.
  const auto first_vid = there.lowest_vid < initial_window ? 0 : there.lowest_vid;
  const auto first = top;
  if (!epochs.is_of_this_run(round)) {
    std::fill(highest.begin(), highest.end(), first);
  }
  // The switch knows what it has granted of an epoch that it was in before. Of the first one it
  // does not, even where all packets are new: those below may have been restarted with it.
  const bool may_be_in_the_middle = !epochs.any() || first_vid != 0 || there.again;
  epochs.begin(round, first);
  is_cut = epochs.is_again() ? is_cut : may_be_in_the_middle;
  std::fill(beyond_.begin(), beyond_.end(), 0);
  fin.reset();
  has_results = false;
  last_complete = now;
  expected = skipped_ = first + first_vid;
  swept = std::max(swept, first - std::min(first, rows()));
}

// If all children are that far, what the switch expects is long over: it was restarted, and
// began with old packets.
std::optional<std::uint64_t> Tree::find_new_beginning(std::uint8_t child, std::uint64_t position) {
  const auto end = expected + rows();
  if (position < end) {
    return position;
  }
  beyond_[child] = position;
  const auto lowest = *std::min_element(beyond_.begin(), beyond_.end());
  return lowest >= end ? std::optional(lowest) : std::nullopt;
}

void Tree::begin_anew(std::uint64_t position, Time now) {
  is_cut = true;
  expected = skipped_ = position;
  last_complete = now;
}

bool Tree::complete(std::uint64_t position, bool is_fin, Time now) {
  last_complete = now;
  if (is_fin && position >= epochs.first()) {
    fin = position;
  }
  // No position from there on was complete before.
  const auto from = std::max(skipped_, expected);
  counters.skipped += std::max(position, from) - from;
  skipped_ = std::max(position + 1, from);
  // Nobody sends any more what everybody has, be it that it was complete before a restart.
  if (grant.active) {
    received_ = std::max(received_, received_by_all(position, window_max()));
    expected = std::max(expected, received_);
  }
  while (is_known(expected) && row(expected).state != Row::State::gathering) {
    ++expected;
  }
  return is_finished();
}

// Somebody may still lack the last window of an epoch that is over; whoever has begun the next one
// has all of it.
std::uint64_t Tree::received_by_all(std::uint64_t position, std::uint64_t window) const {
  const auto sent = is_partial() ? *std::min_element(highest.begin(), highest.end()) : position + 1;
  return sent <= epochs.first() ? 0 : std::max(epochs.first(), sent - std::min(sent, window));
}

// What went by without somebody may be sent yet, under the cap that he was told before.
std::uint64_t Tree::sent_by_all() const {
  if (!is_partial()) {
    return expected;
  }
  return std::min(expected, *std::min_element(highest.begin(), highest.end()));
}

std::uint32_t Tree::held_max() const {
  return *std::max_element(held.begin(), held.end());
}

std::uint32_t Tree::waiting_max() const {
  std::uint32_t most = 0;
  for (std::size_t child = 0; child < held.size(); ++child) {
    most = std::max(most, held[child] + early[child].count());
  }
  return most;
}

// A child that is left out has to find its results later. Here it finds those of the window that it
// is in: it may be one window behind what is complete, which others may be one window ahead of, and
// rows are kept for three. Where switches have forgotten, it finds them with ranks, which keep
// three windows as wide as they were told, and no less than panama_kept_min.
std::uint64_t Tree::may_miss_before() const {
  const auto last = *std::min_element(highest.begin(), highest.end());
  const auto kept_by_ranks = std::max<std::uint32_t>(told.cap, wire::panama_kept_min / 3) * 2;
  return last < epochs.oldest() ? 0 : last + std::min(grant.packets, kept_by_ranks);
}

std::pair<std::uint64_t, std::uint64_t> Tree::let_go_on() {
  const auto end = std::min(may_miss_before(), top);
  const auto begin = std::min(std::max(let_go_on_, expected), end);
  let_go_on_ = std::min(end, begin + rows_at_once);
  return {begin, let_go_on_};
}

void Tree::prefetch(const Round& round, std::uint32_t vid) const {
  if (!epochs.is_current(round)) {
    return;
  }
  const auto& wanted = row(epochs.first() + vid);
  engine::prefetch(&wanted, sizeof(Row));
  __builtin_prefetch(&waiting_[slot_of(wanted) * children()]);
}

}  // namespace tributary::panama
