// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "forwarding/config.h"
#include "forwarding/probe_table.h"
#include "forwarding/rows.h"
#include "packet/clock.h"
#include "packet/packet.h"
#include "wire/ethernet.h"

namespace tributary::forwarding {

// Frames are from or for a station: an address, which is another station's in another VLAN. Without
// VLANs all are in VLAN 0.
struct Station {
  wire::MacAddress mac;
  std::uint16_t vid = 0;

  constexpr Station(const wire::MacAddress& of_mac, std::uint16_t of_vid = 0)
      : mac(of_mac), vid(of_vid) {}
};

// The forwarding database of a bridge knows which station is behind which port. Learned entries
// age; static ones stay and never move, and hold in all VLANs if they are of VLAN 0. What is
// learned is bounded: what does not fit is flooded. A port may have a bound of its own, and then
// none of its frames carries another address (port security).
class Fdb {
 public:
  enum class LearnResult : std::uint8_t {
    known,    // nothing that other cores need
    updated,  // new, moved, or seen again a quarter of the ageing time after the last update
    full,     // no room
    refused,  // the port may not have this address: the frame is to be dropped
  };

  Fdb(std::uint32_t capacity, Duration ageing, std::uint64_t seed);

  // Prefetches an entry: `station` is about to be learned or looked up.
  [[gnu::always_inline]] ProbeHome prefetch(const Station& station) const {
    return table_.prefetch(key_of(station));
  }
  // Learns from a frame with this source that came in by `port`.
  LearnResult learn(const Station& station, PortIndex port, Time now) {
    auto* entry = table_.find(key_of(station));
    if (is_news(entry, port, now)) {
      return learn_news(entry, station, port, now);
    }
    entry->seen = now;
    return LearnResult::known;
  }
  // Does the same as learn(), but returns false, with nothing done, where that has more to do than
  // to note that the address was seen again. `home` is what prefetch() returned for it.
  bool see_again(ProbeHome home, const Station& station, PortIndex port, Time now) {
    auto* entry = table_.find(home, key_of(station));
    if (is_news(entry, port, now)) {
      return false;
    }
    entry->seen = now;
    return true;
  }
  // Returns the port, or no_port when the address is unknown.
  PortIndex find(const Station& station, Time now) const {
    const auto port = port_of(table_.find(key_of(station)), now);
    return port == no_port && station.vid != 0 ? port_of(table_.find(key_of(station.mac)), now)
                                               : port;
  }
  PortIndex find(ProbeHome home, const Station& station, Time now) const {
    return port_of(table_.find(home, key_of(station)), now);
  }

  // Replaces a learned entry. Static ones have room in any case.
  void add_static(const Station& station, PortIndex port);
  void clear_static();
  // Forgets what was learned behind a port that went down.
  void forget(PortIndex port);
  // Forgets the learned stations of which `gone(vid, port)` is true.
  template <typename Predicate>
  void forget_if(Predicate gone) {
    table_.erase_if([&](std::uint64_t key, const Entry& entry) {
      const bool goes = !entry.is_static && gone(station_of(key).vid, entry.port);
      if (goes) {
        count_learned(entry.port, false);
      }
      return goes;
    });
  }
  // What has aged by then has its room freed at once.
  void set_ageing(Duration ageing) {
    if (ageing < ageing_ && sweep_at_ != never) {
      sweep_at_ = Time{};
    }
    ageing_ = ageing;
  }
  // Sets what may be learned behind each port, by index; anything may behind ports that are not
  // named. A port that has more than it now may forgets all that was learned behind it.
  void set_learning(std::span<const LearningConfig> ports);

  // Aged entries answer no lookup; a sweep frees their room.
  Time deadline() const { return sweep_at_; }
  void expire(Time now);

  std::size_t size() const { return table_.size(); }
  // Returns the addresses behind a port; zeros where set_learning() did not name it.
  PortAddresses addresses(PortIndex port) const;
  std::vector<FdbRow> rows(Time now) const;

 private:
  struct Entry {
    Time seen{};  // never: static
    Time published{};
    PortIndex port = no_port;
    bool is_static = false;
  };
  struct Behind {
    LearningConfig may;
    PortAddresses is;
    Time oldest{};  // none of its entries has been silent since before that; never: it has none
  };

  // A key has the bytes in the order of this machine's memory, which takes two loads; the VLAN is
  // above the address.
  static constexpr unsigned vid_shift = 48;
  static std::uint64_t key_of(const Station& station) {
    const auto& octets = station.mac.octets;
    std::uint32_t low = 0;
    std::uint16_t high = 0;
    std::memcpy(&low, octets.data(), sizeof low);
    std::memcpy(&high, octets.data() + sizeof low, sizeof high);
    return std::uint64_t{station.vid} << vid_shift | std::uint64_t{high} << 32 | low;
  }
  static Station station_of(std::uint64_t key) {
    wire::MacAddress mac;
    std::memcpy(mac.octets.data(), &key, mac.octets.size());
    return {mac, static_cast<std::uint16_t>(key >> vid_shift)};
  }
  bool is_aged(const Entry& entry, Time now) const { return now - entry.seen > ageing_; }
  PortIndex port_of(const Entry* entry, Time now) const {
    return entry == nullptr || is_aged(*entry, now) ? no_port : entry->port;
  }
  // An address is news if it was not there or was published long ago, and always if it is static,
  // as that is not learned. `entry` is that of the address, or null.
  bool is_news(const Entry* entry, PortIndex port, Time now) const {
    return entry == nullptr || entry->port != port || entry->is_static ||
           now - entry->published >= ageing_ / 4;
  }
  LearnResult learn_news(Entry* entry, const Station& station, PortIndex port, Time now);
  // Says what becomes of a frame from `port` whose address cannot be learned there.
  LearnResult refuse(PortIndex port, Time now);
  bool may_learn(PortIndex port) const;
  void count_learned(PortIndex port, bool more);
  // Notes when an entry behind the port was heard, for the time at which one may have aged.
  void note_heard(PortIndex port, Time seen);

  ProbeTable<Entry> table_;
  std::uint32_t capacity_;  // of learned entries
  std::uint32_t statics_ = 0;
  std::vector<Behind> behind_;  // by port
  Duration ageing_;
  Time sweep_at_ = never;
  Time swept_at_{};
};

}  // namespace tributary::forwarding
