// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/fdb.h"

#include <algorithm>

namespace tributary::forwarding {
namespace {

constexpr Duration refused_sweep_interval = std::chrono::seconds(1);

}  // namespace

Fdb::Fdb(std::uint32_t capacity, Duration ageing, std::uint64_t seed)
    : table_(capacity, seed), capacity_(capacity), ageing_(ageing) {}

// Learns what was not just seen again. `entry` is that of `station`, or null.
Fdb::LearnResult Fdb::learn_news(Entry* entry, const Station& station, PortIndex port, Time now) {
  if (entry == nullptr && station.vid != 0) {
    entry = table_.find(key_of(station.mac));  // static in all VLANs; learned ones have their own
  }
  if (entry == nullptr) {
    if (!may_learn(port)) {
      return refuse(port, now);
    }
    entry = table_.size() - statics_ < capacity_ ? table_.insert(key_of(station)) : nullptr;
    if (entry == nullptr) {
      return LearnResult::full;
    }
    *entry = {now, now, port, false};
    count_learned(port, true);
    note_heard(port, now);
    if (sweep_at_ == never) {
      sweep_at_ = now + ageing_;
    }
    return LearnResult::updated;
  }
  if (entry->is_static) {
    return entry->port == port ? LearnResult::known : refuse(port, now);
  }
  if (entry->port != port) {
    if (!may_learn(port)) {
      return refuse(port, now);
    }
    count_learned(entry->port, false);
    count_learned(port, true);
    note_heard(port, now);
  }
  *entry = {now, now, port, false};
  return LearnResult::updated;
}

bool Fdb::may_learn(PortIndex port) const {
  if (port >= behind_.size()) {
    return true;
  }
  const auto& behind = behind_[port];
  const auto& most = behind.may.addresses_max;
  return behind.may.on && (!most || behind.is.learned < *most);
}

// What has aged behind the port leaves its place to others soon, and not only with the next sweep.
Fdb::LearnResult Fdb::refuse(PortIndex port, Time now) {
  if (port >= behind_.size() || !behind_[port].may.on || !behind_[port].may.addresses_max) {
    return LearnResult::known;
  }
  auto& behind = behind_[port];
  ++behind.is.refused;
  if (behind.oldest != never) {
    const auto aged_at = behind.oldest + ageing_ + Duration(1);
    sweep_at_ = std::min(sweep_at_, std::max({now, aged_at, swept_at_ + refused_sweep_interval}));
  }
  return LearnResult::refused;
}

void Fdb::count_learned(PortIndex port, bool more) {
  if (port < behind_.size()) {
    behind_[port].is.learned += more ? 1u : -1u;
  }
}

void Fdb::note_heard(PortIndex port, Time seen) {
  if (port < behind_.size()) {
    behind_[port].oldest = std::min(behind_[port].oldest, seen);
  }
}

PortAddresses Fdb::addresses(PortIndex port) const {
  return port < behind_.size() ? behind_[port].is : PortAddresses{};
}

void Fdb::set_learning(std::span<const LearningConfig> ports) {
  behind_.resize(ports.size());
  for (auto& behind : behind_) {
    behind.is.learned = 0;
  }
  table_.for_each([&](std::uint64_t, const Entry& entry) {
    if (!entry.is_static) {
      count_learned(entry.port, true);
    }
  });
  for (std::size_t i = 0; i < ports.size(); ++i) {
    behind_[i].may = ports[i];
    const auto most = ports[i].on ? ports[i].addresses_max : 0;
    if (most && behind_[i].is.learned > *most) {
      forget(static_cast<PortIndex>(i));
    }
  }
}

void Fdb::add_static(const Station& station, PortIndex port) {
  const auto key = key_of(station);
  if (const auto* known = table_.find(key); known == nullptr || !known->is_static) {
    if (known != nullptr) {
      count_learned(known->port, false);
      table_.erase(key);
    }
    table_.insert_surely(key);
    ++statics_;
    if (statics_ > capacity_ / 8) {  // a few find room in the slots that there are
      table_.set_capacity(capacity_ + statics_);
    }
  }
  *table_.find(key) = {never, never, port, true};
}

void Fdb::clear_static() {
  statics_ = 0;
  table_.erase_if([](std::uint64_t, const Entry& entry) { return entry.is_static; });
}

void Fdb::forget(PortIndex port) {
  table_.erase_if(
      [port](std::uint64_t, const Entry& entry) { return !entry.is_static && entry.port == port; });
  if (port < behind_.size()) {
    behind_[port].is.learned = 0;
  }
}

void Fdb::expire(Time now) {
  if (now < sweep_at_) {
    return;
  }
  swept_at_ = now;
  for (auto& behind : behind_) {
    behind.oldest = never;
  }
  bool left = false;
  table_.erase_if([&](std::uint64_t, const Entry& entry) {
    const bool aged = is_aged(entry, now);
    left = left || (!aged && !entry.is_static);
    if (aged) {
      count_learned(entry.port, false);
    } else if (!entry.is_static) {
      note_heard(entry.port, entry.seen);
    }
    return aged;
  });
  sweep_at_ = left ? now + ageing_ / 4 : never;
}

std::vector<FdbRow> Fdb::rows(Time now) const {
  std::vector<FdbRow> rows;
  rows.reserve(table_.size());
  table_.for_each([&](std::uint64_t key, const Entry& entry) {
    if (!is_aged(entry, now)) {
      const auto station = station_of(key);
      const auto age = entry.is_static ? Duration{} : now - entry.seen;
      rows.push_back({station.mac, entry.port, entry.is_static, age, station.vid});
    }
  });
  return rows;
}

}  // namespace tributary::forwarding
