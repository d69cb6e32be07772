// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/neighbour_table.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "packet/pool.h"

namespace tributary::forwarding {

template <typename Address>
NeighbourTable<Address>::NeighbourTable(Duration timeout, std::uint64_t seed, const Limits& limits)
    : limits_(limits), timeout_(timeout), table_(limits.entries, seed) {
  resolving_.reserve(limits.entries);
  released_.reserve(limits.entries);
}

template <typename Address>
void NeighbourTable<Address>::set_entries(std::uint32_t entries) {
  limits_.entries = entries;
  resolving_.reserve(entries);
  released_.reserve(entries);
  table_.set_capacity(entries);
}

template <typename Address>
void NeighbourTable<Address>::keep(const std::vector<Address>& addresses) {
  kept_.clear();
  for (const auto& address : addresses) {
    kept_.push_back(Keys::of(address));
  }
  std::ranges::sort(kept_);
}

// In a full table the new entry takes the place of what was learned longest ago, rather on the same
// link than on another one: a host that invents neighbours there also takes the room of those that
// it could pretend to be.
template <typename Address>
typename NeighbourTable<Address>::Entry* NeighbourTable<Address>::insert(const Key& key,
                                                                         PortIndex interface) {
  const auto rank = [&](const Key& known, const Entry& entry) {
    const bool may_go =
        entry.state == NeighbourState::reachable && entry.waiting.empty() && !is_kept(known);
    return may_go ? std::optional(std::pair(entry.interface != interface, entry.updated))
                  : std::nullopt;
  };
  return table_.full() && !table_.erase_least(rank) ? nullptr : table_.insert(key);
}

template <typename Address>
void NeighbourTable<Address>::begin_resolution(const Key& key, Entry& entry, PortIndex interface,
                                               Time now) {
  entry.state = NeighbourState::resolving;
  entry.interface = interface;
  entry.questions = 1;
  entry.updated = now;
  entry.ask_at = now + limits_.retry;
  ask_at_ = resolving_.empty() ? entry.ask_at : std::min(ask_at_, entry.ask_at);
  resolving_.push_back(key);
}

template <typename Address>
typename NeighbourTable<Address>::Wait NeighbourTable<Address>::wait(PacketPtr& packet,
                                                                     const Address& address,
                                                                     PortIndex interface,
                                                                     Time now) {
  const Key key = Keys::of(address);
  auto* entry = table_.find(key);
  bool asked = false;
  if (entry == nullptr || is_aged(*entry, now)) {
    if (resolving_.size() >= limits_.entries / 2 && !is_kept(key)) {
      return Wait::full;
    }
    if (entry == nullptr) {
      entry = insert(key, interface);
    }
    if (entry == nullptr) {
      return Wait::full;
    }
    begin_resolution(key, *entry, interface, now);
    asked = true;
  }
  if (packet) {
    // What waits for the silent keeps no question to others from being asked.
    if (waiting_ >= limits_.waiting || entry->waiting.size() >= limits_.waiting_per_entry) {
      return asked ? Wait::asked_full : Wait::full;
    }
    ++waiting_;
    entry->waiting.push(std::move(packet));
  }
  return asked ? Wait::asked : Wait::waiting;
}

template <typename Address>
bool NeighbourTable<Address>::learn(const Address& address, const wire::MacAddress& mac,
                                    PortIndex interface, bool create, Time now) {
  const Key key = Keys::of(address);
  auto* entry = table_.find(key);
  if (entry == nullptr && create) {
    entry = insert(key, interface);
  }
  if (entry == nullptr || entry->state == NeighbourState::fixed) {
    return false;
  }
  const bool fresh = entry->state != NeighbourState::reachable || entry->mac != mac ||
                     entry->interface != interface || now - entry->published >= timeout_ / 4;
  if (entry->state == NeighbourState::resolving) {
    std::erase(resolving_, key);
  }
  entry->state = NeighbourState::reachable;
  entry->mac = mac;
  entry->interface = interface;
  entry->updated = now;
  entry->ask_at = now;
  if (fresh) {
    entry->published = now;
  }
  if (!entry->waiting.empty()) {
    released_.push_back(key);
  }
  if (sweep_at_ == never) {
    sweep_at_ = now + timeout_;
  }
  return fresh;
}

template <typename Address>
void NeighbourTable<Address>::add_static(const Address& address, const wire::MacAddress& mac,
                                         PortIndex interface) {
  const Key key = Keys::of(address);
  auto* entry = table_.find(key);
  if (entry == nullptr) {
    entry = &table_.insert_surely(key);
  }
  entry->state = NeighbourState::fixed;
  entry->mac = mac;
  entry->interface = interface;
  std::erase(resolving_, key);
  if (!entry->waiting.empty()) {
    released_.push_back(key);
  }
}

// Packets that a static entry was to release, and has not yet, wait for an answer again.
template <typename Address>
void NeighbourTable<Address>::clear_static() {
  table_.erase_if([](const Key&, const Entry& entry) {
    return entry.state == NeighbourState::fixed && entry.waiting.empty();
  });
  for (const auto key : released_) {
    if (auto* entry = table_.find(key); entry != nullptr && entry->state == NeighbourState::fixed) {
      begin_resolution(key, *entry, entry->interface, Time{});
    }
  }
  std::erase_if(released_, [this](const Key& key) {
    const auto* entry = table_.find(key);
    return entry == nullptr || entry->state == NeighbourState::resolving;
  });
}

template <typename Address>
Time NeighbourTable<Address>::deadline() const {
  return resolving_.empty() ? sweep_at_ : std::min(sweep_at_, ask_at_);
}

template <typename Address>
void NeighbourTable<Address>::expire(Time now, std::vector<Question<Address>>& questions,
                                     PacketList& unresolved) {
  if (!resolving_.empty() && now >= ask_at_) {
    ask_at_ = never;
    std::erase_if(resolving_,
                  [&](const Key& key) { return !ask_again(key, now, questions, unresolved); });
  }
  if (now >= sweep_at_) {
    sweep(now);
  }
}

// Returns false when the resolution is over.
template <typename Address>
bool NeighbourTable<Address>::ask_again(const Key& key, Time now,
                                        std::vector<Question<Address>>& questions,
                                        PacketList& unresolved) {
  auto* entry = table_.find(key);
  if (entry == nullptr) {
    return false;
  }
  if (now >= entry->ask_at) {
    if (entry->questions >= limits_.questions) {
      waiting_ -= entry->waiting.size();
      unresolved.append(std::move(entry->waiting));
      table_.erase(key);
      return false;
    }
    ++entry->questions;
    entry->ask_at = now + limits_.retry;
    questions.push_back({Keys::address(key), entry->interface});
  }
  ask_at_ = std::min(ask_at_, entry->ask_at);
  return true;
}

template <typename Address>
void NeighbourTable<Address>::sweep(Time now) {
  bool left = false;
  table_.erase_if([&](const Key&, const Entry& entry) {
    const bool aged = is_aged(entry, now) && entry.waiting.empty();
    left = left || (!aged && entry.state == NeighbourState::reachable);
    return aged;
  });
  sweep_at_ = left ? now + timeout_ / 4 : never;
}

template <typename Address>
std::vector<NeighbourRow<Address>> NeighbourTable<Address>::rows(Time now) const {
  std::vector<NeighbourRow<Address>> rows;
  rows.reserve(table_.size());
  table_.for_each([&](const Key& key, const Entry& entry) {
    if (!is_aged(entry, now)) {
      const auto age = entry.state == NeighbourState::fixed ? Duration{} : now - entry.updated;
      rows.push_back({Keys::address(key), entry.mac, entry.interface, entry.state, age});
    }
  });
  return rows;
}

template class NeighbourTable<wire::Ipv4Address>;
template class NeighbourTable<wire::IpAddress>;

}  // namespace tributary::forwarding
