// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "forwarding/probe_table.h"
#include "forwarding/rows.h"
#include "packet/clock.h"
#include "packet/packet.h"
#include "wire/ethernet.h"

namespace tributary::forwarding {

// The forwarding database of a bridge: which MAC address is behind which port. Learned entries age;
// static ones stay and never move. Bounded: what does not fit is not learned (and so flooded).
class Fdb {
 public:
  enum class Lesson : std::uint8_t {
    known,   // nothing that other cores need
    taught,  // new, moved, or seen again a quarter of the ageing time after the last lesson
    full,    // no room
  };

  Fdb(std::uint32_t capacity, Duration ageing, std::uint64_t seed);

  // `mac` is about to be learned or looked up.
  [[gnu::always_inline]] void prefetch(const wire::MacAddress& mac) const {
    table_.prefetch(key_of(mac));
  }
  // A frame with this source came in by `port`.
  Lesson learn(const wire::MacAddress& mac, PortIndex port, Time now) {
    auto* entry = table_.find(key_of(mac));
    if (entry == nullptr || entry->port != port || entry->is_static ||
        now - entry->taught >= ageing_ / 4) {
      return learn_news(entry, mac, port, now);
    }
    entry->seen = now;
    return Lesson::known;
  }
  // The port, or no_port when the address is unknown.
  PortIndex find(const wire::MacAddress& mac, Time now) const {
    const auto* entry = table_.find(key_of(mac));
    return entry == nullptr || is_aged(*entry, now) ? no_port : entry->port;
  }

  // Replaces a learned entry. Static ones have room in any case.
  void add_static(const wire::MacAddress& mac, PortIndex port);
  void clear_static();
  // Forgets what was learned behind a port that went down.
  void forget(PortIndex port);
  void set_ageing(Duration ageing) { ageing_ = ageing; }

  // Aged entries answer no lookup; a sweep frees their room.
  Time deadline() const { return sweep_at_; }
  void expire(Time now);

  std::size_t size() const { return table_.size(); }
  std::uint64_t moves() const { return moves_; }
  std::uint64_t refused() const { return refused_; }
  std::vector<FdbRow> rows(Time now) const;

 private:
  struct Entry {
    Time seen{};  // never: static
    Time taught{};
    PortIndex port = no_port;
    bool is_static = false;
  };

  // In the order of this machine's memory, which takes two loads.
  static std::uint64_t key_of(const wire::MacAddress& mac) {
    std::uint32_t low = 0;
    std::uint16_t high = 0;
    std::memcpy(&low, mac.octets.data(), sizeof low);
    std::memcpy(&high, mac.octets.data() + sizeof low, sizeof high);
    return std::uint64_t{high} << 32 | low;
  }
  static wire::MacAddress mac_of(std::uint64_t key) {
    wire::MacAddress mac;
    std::memcpy(mac.octets.data(), &key, mac.octets.size());
    return mac;
  }
  bool is_aged(const Entry& entry, Time now) const { return now - entry.seen > ageing_; }
  Lesson learn_news(Entry* entry, const wire::MacAddress& mac, PortIndex port, Time now);

  ProbeTable<Entry> table_;
  Duration ageing_;
  Time sweep_at_ = never;
  std::uint64_t moves_ = 0;
  std::uint64_t refused_ = 0;
};

}  // namespace tributary::forwarding
