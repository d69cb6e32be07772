// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "wire/canary.h"
#include "wire/ipv4.h"

namespace tributary::canary {

// How many contributions to a block of one job come by here on their way to one leader: as many as
// came for the block before. A switch that has seen that many need not wait for its timeout. When
// the guess is wrong (paths or workers changed), late ones pass as stragglers and correct it, and
// missing ones are waited for until the timeout: it saves time and never decides about a sum.
class Expectations {
 public:
  // 0 if nothing is known.
  std::uint32_t of(std::uint32_t job, wire::Ipv4Address leader) const {
    const auto key = key_of(job, leader);
    const auto& entry = entries_[slot_of(key)];
    return entry.key == key ? entry.contributions : 0;
  }

  void learn(std::uint32_t job, wire::Ipv4Address leader, std::uint32_t contributions) {
    const auto key = key_of(job, leader);
    entries_[slot_of(key)] = {key, contributions};
  }

 private:
  static constexpr std::size_t slots = 1024;
  struct Entry {
    std::uint64_t key = 0;
    std::uint32_t contributions = 0;
  };

  static std::uint64_t key_of(std::uint32_t job, wire::Ipv4Address leader) {
    return (std::uint64_t{job} << 32) | leader.value();
  }
  static std::size_t slot_of(std::uint64_t key) { return wire::mix_key(key, slots) % slots; }

  std::array<Entry, slots> entries_{};
};

}  // namespace tributary::canary
