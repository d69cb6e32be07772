// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engines/netreduce/connection.h"
#include "engines/netreduce/ring.h"

namespace tributary::netreduce {

// Finds the rank that sends by a connection: the keys of the paper's connection lookup table. What
// stands behind them is with the rings.
class ConnectionTable {
 public:
  struct Sender {
    Ring* ring = nullptr;  // null: nobody's
    std::uint16_t rank = 0;
  };

  Sender find(const ConnectionKey& key) const {
    for (auto at = place_of(key);; at = (at + 1) & mask_) {
      const auto& entry = entries_[at];
      if (entry.sender.ring == nullptr || entry.key == key) {
        return entry.sender;
      }
    }
  }

  // Whenever a connection was claimed or released, which is rare.
  void rebuild(std::span<const std::unique_ptr<Ring>> rings);

 private:
  struct Entry {
    ConnectionKey key;
    Sender sender;
  };

  std::size_t place_of(const ConnectionKey& key) const;

  std::vector<Entry> entries_ = std::vector<Entry>(1);  // open addressing, never full
  std::size_t mask_ = 0;
};

}  // namespace tributary::netreduce
