// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/fdb.h"

namespace tributary::forwarding {

Fdb::Fdb(std::uint32_t capacity, Duration ageing, std::uint64_t seed)
    : table_(capacity, seed), ageing_(ageing) {}

// What is not just seen again. `entry` is that of `mac`, or null.
Fdb::Lesson Fdb::learn_news(Entry* entry, const wire::MacAddress& mac, PortIndex port, Time now) {
  if (entry == nullptr) {
    entry = table_.full() ? nullptr : table_.insert(key_of(mac));
    if (entry == nullptr) {
      ++refused_;
      return Lesson::full;
    }
    *entry = {now, now, port, false};
    if (sweep_at_ == never) {
      sweep_at_ = now + ageing_;
    }
    return Lesson::taught;
  }
  if (entry->is_static) {
    return Lesson::known;
  }
  moves_ += entry->port != port ? 1 : 0;
  *entry = {now, now, port, false};
  return Lesson::taught;
}

void Fdb::add_static(const wire::MacAddress& mac, PortIndex port) {
  const auto key = key_of(mac);
  auto* entry = table_.find(key);
  if (entry == nullptr) {
    entry = &table_.insert_surely(key);
  }
  *entry = {never, never, port, true};
}

void Fdb::clear_static() {
  table_.erase_if([](std::uint64_t, const Entry& entry) { return entry.is_static; });
}

void Fdb::forget(PortIndex port) {
  table_.erase_if(
      [port](std::uint64_t, const Entry& entry) { return !entry.is_static && entry.port == port; });
}

void Fdb::expire(Time now) {
  if (now < sweep_at_) {
    return;
  }
  bool left = false;
  table_.erase_if([&](std::uint64_t, const Entry& entry) {
    const bool aged = is_aged(entry, now);
    left = left || (!aged && !entry.is_static);
    return aged;
  });
  sweep_at_ = left ? now + ageing_ / 4 : never;
}

std::vector<FdbRow> Fdb::rows(Time now) const {
  std::vector<FdbRow> rows;
  rows.reserve(table_.size());
  table_.for_each([&](std::uint64_t key, const Entry& entry) {
    if (!is_aged(entry, now)) {
      const auto age = entry.is_static ? Duration{} : now - entry.seen;
      rows.push_back({mac_of(key), entry.port, entry.is_static, age});
    }
  });
  return rows;
}

}  // namespace tributary::forwarding
