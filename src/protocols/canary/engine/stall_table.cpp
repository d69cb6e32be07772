// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/stall_table.h"

#include <algorithm>

namespace tributary::canary {
namespace {

// Returns job and sequence number, which all attempts at one block have in common.
std::uint64_t key_of(std::uint32_t job, std::uint32_t id) {
  return (std::uint64_t{job} << 32) | wire::canary_sequence(id);
}

// Reads the ranks in the payload of a pending; none if it is no list of ranks.
void read_missing(Stall& stall, const wire::CanaryHeader& header, wire::Bytes payload) {
  stall.missing_count = 0;
  if (header.element_type != wire::ElementType::i16) {
    return;
  }
  const auto ranks = std::min(payload.size() / 2, Stall::missing_max);
  for (std::size_t i = 0; i < ranks; ++i) {
    const auto low = std::to_integer<unsigned>(payload[2 * i]);
    const auto high = std::to_integer<unsigned>(payload[2 * i + 1]);
    stall.missing[i] = static_cast<std::uint16_t>(low | (high << 8));
  }
  stall.missing_count = static_cast<std::uint16_t>(ranks);
}

}  // namespace

StallTable::StallTable() {
  keys_.reserve(entries_max);
  stalls_.reserve(entries_max);
}

std::size_t StallTable::find(std::uint64_t key) const {
  return static_cast<std::size_t>(std::find(keys_.begin(), keys_.end(), key) - keys_.begin());
}

std::size_t StallTable::make_room() {
  if (keys_.size() < entries_max) {
    keys_.emplace_back();
    stalls_.emplace_back();
    return keys_.size() - 1;
  }
  const auto oldest =
      std::min_element(stalls_.begin(), stalls_.end(),
                       [](const Stall& a, const Stall& b) { return a.last < b.last; });
  return static_cast<std::size_t>(oldest - stalls_.begin());
}

void StallTable::note(const wire::CanaryHeader& header, wire::Bytes payload,
                      wire::Ipv4Address leader, Time now) {
  const auto key = key_of(header.job.value(), header.id.value());
  auto at = find(key);
  const bool is_known = at < keys_.size() && stalls_[at].last + lifetime > now;
  if (at == keys_.size()) {
    at = make_room();
    keys_[at] = key;
  }
  auto& stall = stalls_[at];
  stall.id = header.id.value();
  stall.leader = leader;
  stall.contributions = header.counter.value();
  stall.hosts = header.hosts.value();
  read_missing(stall, header, payload);
  stall.first = is_known ? stall.first : now;
  stall.last = now;
  next_expiry_ = std::min(next_expiry_, now + lifetime);
}

void StallTable::forget(std::uint32_t job, std::uint32_t id) {
  const auto at = find(key_of(job, id));
  if (at != keys_.size()) {
    erase(at);
  }
}

void StallTable::erase(std::size_t at) {
  keys_[at] = keys_.back();
  stalls_[at] = stalls_.back();
  keys_.pop_back();
  stalls_.pop_back();
}

void StallTable::forget_expired(Time now) {
  next_expiry_ = never;
  for (auto at = keys_.size(); at-- > 0;) {
    if (const auto expiry = stalls_[at].last + lifetime; expiry > now) {
      next_expiry_ = std::min(next_expiry_, expiry);
    } else {
      erase(at);
    }
  }
}

std::vector<StallTable::Row> StallTable::rows(Time now) const {
  std::vector<Row> living;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    if (stalls_[i].last + lifetime > now) {
      living.push_back({static_cast<std::uint32_t>(keys_[i] >> 32), &stalls_[i]});
    }
  }
  return living;
}

}  // namespace tributary::canary
