// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/engine/connection_table.h"

namespace tributary::netreduce {

void ConnectionTable::insert(const ConnectionKey& key, const Sender& sender) {
  auto at = place_of(key);
  while (entries_[at].sender.ring != nullptr) {
    at = (at + 1) & mask_;
  }
  entries_[at] = {key, sender, MiddlePattern::of(key)};
}

void ConnectionTable::erase(const ConnectionKey& key, const Sender& sender) {
  auto gap = place_of(key);
  while (entries_[gap].sender.ring != nullptr &&
         (entries_[gap].key != key || entries_[gap].sender != sender)) {
    gap = (gap + 1) & mask_;
  }
  if (entries_[gap].sender.ring == nullptr) {
    return;
  }
  // What stands behind the gap moves up, unless that put it in front of its own place.
  for (auto at = (gap + 1) & mask_; entries_[at].sender.ring != nullptr; at = (at + 1) & mask_) {
    const auto from_place = (at - place_of(entries_[at].key)) & mask_;
    if (from_place >= ((at - gap) & mask_)) {
      entries_[gap] = entries_[at];
      gap = at;
    }
  }
  entries_[gap] = {};
}

void ConnectionTable::rebuild(std::span<const std::unique_ptr<Ring>> rings) {
  std::size_t connections = 0;
  for (const auto& ring : rings) {
    connections += ring->world();
  }
  // At least half of it stays empty, and so does one entry where there is no ring.
  entries_.assign(std::bit_ceil(2 * connections + 1), Entry{});
  mask_ = entries_.size() - 1;
  for (const auto& ring : rings) {
    for (std::uint16_t rank = 0; rank < ring->world(); ++rank) {
      if (ring->newcomer(rank) != nullptr) {
        insert(ring->path_of(rank), {ring.get(), rank});
      } else if (const auto& connection = ring->connection(rank); connection.is_claimed()) {
        insert(connection.key(), {ring.get(), rank});
      }
    }
  }
  // The keys of runs that are over come last: others may have them by now.
  for (const auto& ring : rings) {
    for (std::uint16_t rank = 0; rank < ring->world(); ++rank) {
      if (const auto& connection = ring->connection(rank);
          connection.was_claimed() && find(connection.key()).ring == nullptr) {
        insert(connection.key(), {ring.get(), rank});
      }
    }
  }
}

}  // namespace tributary::netreduce
