// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/engine/connection.h"

#include <algorithm>

namespace tributary::netreduce {
namespace {

// Returns whether two stretches of sequence numbers have one in common.
bool overlap(std::uint32_t a, std::uint32_t a_packets, std::uint32_t b, std::uint32_t b_packets) {
  return wire::psn_distance(a, b) < a_packets || wire::psn_distance(b, a) < b_packets;
}

// Returns whether the numbers are farther apart than a late copy can come from. Messages that far
// away are forgotten, so that what is ahead of one is not taken for old.
bool are_far_apart(std::uint32_t a, std::uint32_t b) {
  constexpr auto far = wire::psn_mask / 4;
  return wire::psn_distance(a, b) > far && wire::psn_distance(b, a) > far;
}

}  // namespace

void Connection::claim(const ConnectionKey& key, std::uint32_t message, Time now) {
  release();
  claimed_ = true;
  key_ = key;
  first_message_ = last_message_ = message;
  touch(now);
}

void Connection::release() {
  claimed_ = false;
  is_of_past_run_ = false;
  std::fill(entries_.begin(), entries_.end(), Entry{});
}

const Message* Connection::record(const Message& message) {
  const auto place = message.id % entries_.size();
  auto& entry = entries_[place];
  if (entry.is_known() && entry.message.id > message.id) {
    return nullptr;
  }
  latest_ = place;
  last_message_ = std::max(last_message_, message.id);
  if (entry.message.id == message.id && entry.message.first_psn == message.first_psn &&
      entry.message.packets == message.packets) {
    entry.message = message;
    return &entry.message;
  }
  for (auto& other : entries_) {
    if (other.is_known() && overlap(other.message.first_psn, other.message.packets,
                                    message.first_psn, message.packets)) {
      other = {};
    }
  }
  entry = {message};
  return &entry.message;
}

bool Connection::record_ordinary(std::uint32_t psn, std::optional<std::uint32_t> packets) {
  for (auto& entry : entries_) {
    const auto first = entry.message.first_psn;
    if (entry.is_known() && overlap(first, entry.message.packets, psn, packets.value_or(1))) {
      return false;
    }
    const bool may_be_reached = !packets && wire::psn_distance(psn, first) <= wire::psn_mask / 2;
    if (may_be_reached || are_far_apart(first, psn)) {
      entry = {};
    }
  }
  auto* before = nearest(psn);
  if (before == nullptr) {
    return false;
  }
  const auto first = before->message.first_psn;
  const auto known = before->ordinary_psn.value_or(psn);
  before->ordinary_psn =
      wire::psn_distance(first, known) < wire::psn_distance(first, psn) ? known : psn;
  return true;
}

Connection::Place Connection::find_elsewhere(std::uint32_t psn) {
  auto* entry = nearest(psn);
  if (entry == nullptr) {
    return {};
  }
  latest_ = static_cast<std::size_t>(entry - entries_.data());
  const auto offset = wire::psn_distance(entry->message.first_psn, psn);
  if (offset < entry->message.packets) {
    return {Place::Kind::gradient, &entry->message, offset};
  }
  if (entry->ordinary_psn &&
      offset >= wire::psn_distance(entry->message.first_psn, *entry->ordinary_psn)) {
    return {Place::Kind::ordinary};
  }
  const bool is_past = offset > wire::psn_mask / 2 && !is_followed_from_middle();
  return {is_past ? Place::Kind::past : Place::Kind::unknown, nullptr, offset};
}

// Returns the message that begins at `psn` or the shortest way before it; null if none is known.
Connection::Entry* Connection::nearest(std::uint32_t psn) {
  Entry* best = nullptr;
  auto shortest = wire::psn_mask + 1;
  for (auto& entry : entries_) {
    const auto distance = wire::psn_distance(entry.message.first_psn, psn);
    if (entry.is_known() && distance < shortest) {
      best = &entry;
      shortest = distance;
    }
  }
  return best;
}

}  // namespace tributary::netreduce
