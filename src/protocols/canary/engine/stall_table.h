// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "packet/clock.h"
#include "protocols/canary/wire.h"
#include "wire/ipv4.h"

namespace tributary::canary {

// A leader said this about a block that it cannot finish, in a `pending` packet that passed here.
struct Stall {
  static constexpr std::size_t missing_max = 64;

  std::uint32_t id = 0;  // with the attempt
  wire::Ipv4Address leader;
  std::uint16_t contributions = 0;  // that the leader has
  std::uint16_t hosts = 0;
  std::uint16_t missing_count = 0;
  std::array<std::uint16_t, missing_max> missing{};  // ranks, the first missing_count
  Time first{};
  Time last{};

  std::span<const std::uint16_t> missing_ranks() const { return {missing.data(), missing_count}; }
};

// Keeps notes of stalled blocks, for operators. They decide about nothing: a switch has no key and
// cannot tell who wrote them. The table is bounded: one more than fits replaces the one that was
// not heard of longest.
class StallTable {
 public:
  static constexpr std::size_t entries_max = 256;
  // Leaders repeat themselves at least twice a second, as often as workers ask.
  static constexpr Duration lifetime = std::chrono::seconds(3);

  StallTable();

  // The newest note about a block counts; it stays stalled since the first. `payload` is that of
  // `header`, which is a pending.
  void note(const wire::CanaryHeader& header, wire::Bytes payload, wire::Ipv4Address leader,
            Time now);
  // Lets notes go that nobody has repeated for their lifetime. That is cheap while there are none.
  void expire(Time now) {
    if (now >= next_expiry_) {
      forget_expired(now);
    }
  }
  // Forgets the block of this id, which is no longer stalled, whatever the attempt.
  void forget(std::uint32_t job, std::uint32_t id);

  bool empty() const { return keys_.empty(); }

  struct Row {
    std::uint32_t job = 0;
    const Stall* stall = nullptr;
  };
  // Returns those that have not expired.
  std::vector<Row> rows(Time now) const;

 private:
  // Returns the index of `key`, or the number of entries.
  std::size_t find(std::uint64_t key) const;
  std::size_t make_room();
  void erase(std::size_t at);
  void forget_expired(Time now);

  // Keys are apart from what they stand for, because every result is looked up while there are any.
  std::vector<std::uint64_t> keys_;
  std::vector<Stall> stalls_;
  Time next_expiry_ = never;  // none expires before that
};

}  // namespace tributary::canary
