// SPDX-License-Identifier: BSD-3-Clause
#include "engines/panama/tree.h"

#include <algorithm>
#include <bit>

namespace tributary::panama {
namespace {

// All below but those that may be missing anywhere (section 7).
std::uint16_t needed_of(const TreeConfig& config) {
  const int needed = config.workers_below - (config.workers - config.quorum);
  return static_cast<std::uint16_t>(std::max(needed, 1));
}

}  // namespace

TreeCounters& TreeCounters::operator+=(const TreeCounters& other) {
  contributions += other.contributions;
  sums += other.sums;
  results += other.results;
  congested += other.congested;
  partial += other.partial;
  skipped += other.skipped;
  replaced += other.replaced;
  late += other.late;
  duplicates += other.duplicates;
  replays += other.replays;
  resent += other.resent;
  over_cap += other.over_cap;
  return *this;
}

Tree::Tree(const TreeConfig& config, const engine::SwitchIdentity& self,
           std::uint32_t packet_memory)
    : held(config.children.size()),
      highest(config.children.size()),
      config_(config),
      headers_(headers_of(config, self)),
      needed_(needed_of(config)),
      child_of_port_(self.ports, no_child),
      mask_(std::bit_ceil((is_partial() ? 3 : 2) * packet_memory) - 1),
      rows_(rows()),
      waiting_(rows_.size() * config.children.size()),
      marks_(waiting_.size()) {
  for (std::size_t i = 0; i < config.children.size(); ++i) {
    child_of_port_[config.children[i]] = static_cast<std::uint8_t>(i);
  }
}

// Windows start at the initial one: what is further on shows that this switch began in the middle.
void Tree::begin(std::uint32_t epoch, std::uint32_t vid) {
  const auto first = top;
  epochs.begin(epoch, first);
  fin.reset();
  is_cut = false;
  expected = first + (vid < initial_window ? 0 : vid);
  skipped_ = expected;
}

bool Tree::complete(std::uint64_t position, bool is_fin) {
  if (is_fin && position >= epochs.first()) {
    fin = position;
  }
  for (skipped_ = std::max(skipped_, expected); skipped_ < position; ++skipped_) {
    counters.skipped += !is_known(skipped_) || row(skipped_).state == Row::State::gathering;
  }
  while (is_known(expected) && row(expected).state != Row::State::gathering) {
    ++expected;
  }
  return is_finished();
}

// Of an epoch that is over somebody may still lack the last window; who has begun the next one has
// all of it.
std::uint32_t Tree::forget_received(std::uint64_t position) {
  const auto sent = is_partial() ? *std::min_element(highest.begin(), highest.end()) : position + 1;
  if (sent <= epochs.first()) {
    return 0;
  }
  return forget(std::max(epochs.first(), sent - std::min<std::uint64_t>(sent, grant.packets)));
}

std::uint32_t Tree::forget_all(std::uint64_t before) {
  std::uint32_t count = 0;
  for (auto& old : rows_) {
    if (old.kept && old.position < before) {
      old.kept.reset();
      ++count;
    }
  }
  kept -= count;
  forgotten_ = before;
  return count;
}

std::uint32_t Tree::forget(std::uint64_t before) {
  // What is let go was last looked at a window ago.
  constexpr std::uint64_t row_ahead = 8;
  constexpr std::uint64_t elements_ahead = 4;
  std::uint32_t count = 0;
  // Positions jump where VIDs are left out: what is older than a ring may still be in it.
  if (forgotten_ + rows() < before) {
    return forget_all(before);
  }
  for (; kept > 0 && forgotten_ < before; ++forgotten_) {
    __builtin_prefetch(&row(forgotten_ + row_ahead).kept);
    row(forgotten_ + elements_ahead).kept.prefetch();
    auto& old = row(forgotten_);
    if (old.position == forgotten_ && old.kept) {
      old.kept.reset();
      --kept;
      ++count;
    }
  }
  forgotten_ = std::max(forgotten_, before);
  return count;
}

std::uint32_t Tree::held_max() const {
  return *std::max_element(held.begin(), held.end());
}

// Who is left out has to find its results here later: those of the window that it is in, and it may
// be one window behind what is complete, which others may be one window ahead of. Rows are kept for
// three.
bool Tree::may_miss(std::uint64_t position, std::uint64_t arrived) const {
  for (std::size_t child = 0; child < highest.size(); ++child) {
    const bool missing = (arrived >> child & 1) == 0;
    if (missing &&
        (highest[child] + grant.packets <= position || highest[child] < epochs.oldest())) {
      return false;
    }
  }
  return true;
}

void Tree::prefetch(std::uint32_t epoch, std::uint32_t vid) const {
  if (!epochs.is_current(epoch)) {
    return;
  }
  constexpr std::size_t cache_line = 64;
  const auto& wanted = row(epochs.first() + vid);
  const auto* bytes = reinterpret_cast<const std::byte*>(&wanted);
  for (std::size_t at = 0; at < sizeof(Row); at += cache_line) {
    __builtin_prefetch(bytes + at);
  }
  __builtin_prefetch(&waiting_[place_of(wanted)]);
  __builtin_prefetch(&marks_[place_of(wanted)]);
}

Row* Tree::find(std::uint32_t epoch, std::uint32_t vid) {
  if (!epochs.is_current(epoch) || !is_known(epochs.first() + vid)) {
    return nullptr;
  }
  return &row(epochs.first() + vid);
}

}  // namespace tributary::panama
