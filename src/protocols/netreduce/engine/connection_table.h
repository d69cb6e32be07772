// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "protocols/netreduce/engine/connection.h"
#include "protocols/netreduce/engine/middle.h"
#include "protocols/netreduce/engine/ring.h"
#include "wire/key.h"

namespace tributary::netreduce {

// Finds the rank that sends by a connection. It has the keys of the paper's connection lookup
// table; the rings have what stands behind them. A rank that was not met yet is found by its two
// hosts.
class ConnectionTable {
 public:
  struct Sender {
    Ring* ring = nullptr;  // null: the connection is nobody's
    std::uint16_t rank = 0;

    friend bool operator==(const Sender&, const Sender&) = default;
  };

  Sender find(const ConnectionKey& key) const {
    for (auto at = place_of(key);; at = (at + 1) & mask_) {
      const auto& entry = entries_[at];
      if (entry.sender.ring == nullptr || entry.key == key) {
        return entry.sender;
      }
    }
  }
  // Does the same for a packet that looks like one from the middle of a gradient message.
  Sender find(const MiddleHeaders& headers) const {
    const MiddlePattern pattern(headers);
    for (auto at = place_of(headers.connection());; at = (at + 1) & mask_) {
      const auto& entry = entries_[at];
      if (entry.sender.ring == nullptr || entry.middle == pattern) {
        return entry.sender;
      }
    }
  }

  // Calls `see` with each sender that has the key.
  template <typename See>
  void for_each(const ConnectionKey& key, See see) const {
    for (auto at = place_of(key); entries_[at].sender.ring != nullptr; at = (at + 1) & mask_) {
      if (entries_[at].key == key) {
        see(entries_[at].sender);
      }
    }
  }

  // Each rank has one key at most. Several ranks have the same one only before they are met, where
  // all of them are between the same two hosts; find() returns any one of these.
  void insert(const ConnectionKey& key, const Sender& sender);
  // Removes the key if it is that sender's.
  void erase(const ConnectionKey& key, const Sender& sender);

  // Fills the table anew for these rings.
  void rebuild(std::span<const std::unique_ptr<Ring>> rings);

 private:
  struct Entry {
    ConnectionKey key;
    Sender sender;
    MiddlePattern middle{};
  };

  std::size_t place_of(const ConnectionKey& key) const {
    // The destination is rotated because half of `low` is the same for all IPv4 addresses.
    const auto addresses = key.source.low() ^ std::rotl(key.destination.low(), 32) ^
                           key.source.high() ^ std::rotl(key.destination.high(), 32);
    return static_cast<std::size_t>(wire::mix_key(addresses, key.destination_qp)) & mask_;
  }

  std::vector<Entry> entries_ = std::vector<Entry>(1);  // open addressing, never full
  std::size_t mask_ = 0;
};

}  // namespace tributary::netreduce
