// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/fdb.h"

namespace tributary::forwarding {
namespace {

wire::MacAddress mac_of(std::uint64_t key) {
  wire::MacAddress mac;
  for (std::size_t i = mac.octets.size(); i-- > 0; key >>= 8) {
    mac.octets[i] = static_cast<std::uint8_t>(key & 0xff);
  }
  return mac;
}

}  // namespace

Fdb::Fdb(std::uint32_t capacity, Duration ageing, std::uint64_t seed)
    : table_(capacity, seed), ageing_(ageing) {}

Fdb::Lesson Fdb::learn(const wire::MacAddress& mac, PortIndex port, Time now) {
  const auto key = mac.value();
  auto* entry = table_.find(key);
  if (entry == nullptr) {
    entry = table_.full() ? nullptr : table_.insert(key);
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
  const bool moved = entry->port != port;
  const bool due = now - entry->taught >= ageing_ / 4;
  moves_ += moved ? 1 : 0;
  entry->port = port;
  entry->seen = now;
  if (!moved && !due) {
    return Lesson::known;
  }
  entry->taught = now;
  return Lesson::taught;
}

PortIndex Fdb::find(const wire::MacAddress& mac, Time now) const {
  const auto* entry = table_.find(mac.value());
  return entry == nullptr || is_aged(*entry, now) ? no_port : entry->port;
}

bool Fdb::add_static(const wire::MacAddress& mac, PortIndex port) {
  const auto key = mac.value();
  auto* entry = table_.find(key);
  if (entry == nullptr) {
    entry = table_.insert(key);
  }
  if (entry == nullptr) {
    return false;
  }
  *entry = {Time{}, Time{}, port, true};
  return true;
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
