// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "forwarding/probe_table.h"
#include "forwarding/rows.h"
#include "packet/clock.h"
#include "packet/list.h"
#include "wire/ethernet.h"
#include "wire/ip_address.h"
#include "wire/ipv4.h"

namespace tributary::forwarding {

// A question to all on a link asks who has `address`.
template <typename Address>
struct Question {
  Address address;
  PortIndex interface = no_port;
};

// A ProbeTable knows neighbours by these keys, made of their addresses.
template <typename Address>
struct NeighbourKey {
  using Type = Address;
  static const Address& of(const Address& address) { return address; }
  static const Address& address(const Address& key) { return key; }
};
template <>
struct NeighbourKey<wire::Ipv4Address> {
  using Type = std::uint64_t;
  static Type of(const wire::Ipv4Address& address) { return address.value(); }
  static wire::Ipv4Address address(Type key) {
    return wire::Ipv4Address(static_cast<std::uint32_t>(key));
  }
};

// The table has the link-layer addresses of neighbours, by ARP or by neighbour discovery, and the
// packets that wait for them. It is bounded in entries, in packets per entry and in packets
// altogether; a full table keeps nobody out, but forgets. It makes no packets itself.
template <typename Address>
class NeighbourTable {
  using Keys = NeighbourKey<Address>;
  using Key = typename Keys::Type;

 public:
  struct Limits {
    std::uint32_t entries = 2048;
    // This is enough for a whole window of a collective that begins before the neighbour is known.
    std::size_t waiting_per_entry = 512;
    std::size_t waiting = 1024;
    Duration retry = std::chrono::milliseconds(200);
    std::uint32_t questions = 5;  // after so many without an answer it is unresolved
  };

  NeighbourTable(Duration timeout, std::uint64_t seed) : NeighbourTable(timeout, seed, Limits{}) {}
  NeighbourTable(Duration timeout, std::uint64_t seed, const Limits& limits);

  struct Answer {
    const wire::MacAddress* mac = nullptr;  // null: not known
    bool ask = false;                       // it is known, but about to time out: ask again
  };
  Answer find(const Address& address, Time now) {
    auto* entry = table_.find(Keys::of(address));
    if (entry == nullptr || entry->state == NeighbourState::resolving || is_aged(*entry, now)) {
      return {};
    }
    Answer answer{&entry->mac, false};
    if (entry->state == NeighbourState::reachable && is_old(*entry, now) && now >= entry->ask_at) {
      answer.ask = true;
      entry->ask_at = now + limits_.retry * limits_.questions;
    }
    return answer;
  }
  // Prefetches an entry: `address` is about to be looked up.
  [[gnu::always_inline]] ProbeHome prefetch(const Address& address) const {
    return table_.prefetch(Keys::of(address));
  }
  // Returns the address of a neighbour that is known and about which nothing is to be asked before
  // long; else null. `home` is what prefetch() returned for `address`.
  const wire::MacAddress* find_settled(ProbeHome home, const Address& address, Time now) const {
    const auto* entry = table_.find(home, Keys::of(address));
    const bool settled =
        entry != nullptr && (entry->state == NeighbourState::fixed ||
                             (entry->state == NeighbourState::reachable && !is_old(*entry, now)));
    return settled ? &entry->mac : nullptr;
  }

  enum class Wait : std::uint8_t {
    asked,       // kept; the caller asks now
    waiting,     // kept; somebody asked already
    asked_full,  // `packet` was not taken, as too many wait; the caller asks now all the same
    full,        // `packet` was not taken; not more than half of the entries may be unanswered
  };
  // Keeps `packet` until the address is known. A null packet only begins the resolution.
  Wait wait(PacketPtr& packet, const Address& address, PortIndex interface, Time now);

  // Learns what a neighbour said about itself. `create` says that it talked to us; otherwise only a
  // known entry is brought up to date. Returns true if the entry is new or changed, or a quarter of
  // the timeout has passed since the last time this was true.
  bool learn(const Address& address, const wire::MacAddress& mac, PortIndex interface, bool create,
             Time now);

  // A configured neighbour has room in any case.
  void add_static(const Address& address, const wire::MacAddress& mac, PortIndex interface);
  void clear_static();
  // These neighbours are not forgotten to make room for others.
  void keep(const std::vector<Address>& addresses);
  // Forgets what was learned and is not so any more: `gone(address, interface)` is true.
  template <typename Gone>
  void forget_if(Gone gone) {
    table_.erase_if([&](const Key& key, const Entry& entry) {
      return entry.state == NeighbourState::reachable && entry.waiting.empty() &&
             gone(Keys::address(key), entry.interface);
    });
  }
  void set_timeout(Duration timeout) { timeout_ = timeout; }
  // Neighbours beyond as many are forgotten only to make room for others.
  void set_entries(std::uint32_t entries);
  std::uint32_t entries_max() const { return limits_.entries; }

  // Packets whose neighbour became known since the last call are handed out entry by entry:
  // `emit(packets, mac, interface)`.
  bool has_released() const { return !released_.empty(); }
  template <typename Emit>
  void release(Emit emit) {
    for (const auto key : released_) {
      if (auto* entry = table_.find(key); entry != nullptr && !entry->waiting.empty()) {
        waiting_ -= entry->waiting.size();
        emit(std::move(entry->waiting), entry->mac, entry->interface);
      }
    }
    released_.clear();
  }

  Time deadline() const;
  // Repeats questions, which it appends to `questions`, and gives up on the unanswered: their
  // packets go to `unresolved`.
  void expire(Time now, std::vector<Question<Address>>& questions, PacketList& unresolved);

  std::size_t size() const { return table_.size(); }
  std::vector<NeighbourRow<Address>> rows(Time now) const;

 private:
  struct Entry {
    NeighbourState state = NeighbourState::resolving;
    wire::MacAddress mac;
    PortIndex interface = no_port;
    std::uint32_t questions = 0;
    Time updated{};  // reachable: when learned; resolving: when begun
    Time published{};
    Time ask_at{};  // the next question goes no earlier
    PacketList waiting;
  };

  bool is_kept(const Key& key) const { return std::ranges::binary_search(kept_, key); }
  Entry* insert(const Key& key, PortIndex interface);
  void begin_resolution(const Key& key, Entry& entry, PortIndex interface, Time now);
  bool ask_again(const Key& key, Time now, std::vector<Question<Address>>& questions,
                 PacketList& unresolved);
  void sweep(Time now);
  bool is_aged(const Entry& entry, Time now) const {
    return entry.state == NeighbourState::reachable && now - entry.updated > timeout_;
  }
  // A reachable neighbour is old if it times out before long.
  bool is_old(const Entry& entry, Time now) const { return now - entry.updated > timeout_ / 4 * 3; }

  Limits limits_;
  Duration timeout_;
  ProbeTable<Entry, Key> table_;
  std::size_t waiting_ = 0;
  std::vector<Key> kept_;  // sorted
  std::vector<Key> resolving_;
  Time ask_at_ = never;  // no later than the first of theirs
  std::vector<Key> released_;
  Time sweep_at_ = never;
};

extern template class NeighbourTable<wire::Ipv4Address>;
extern template class NeighbourTable<wire::IpAddress>;

}  // namespace tributary::forwarding
