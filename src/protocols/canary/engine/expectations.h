// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "packet/clock.h"
#include "protocols/canary/engine/spread.h"
#include "protocols/canary/wire.h"
#include "wire/ipv4.h"

namespace tributary::canary {

// A switch knows this of the blocks of a job before they come.
struct Expectation {
  std::uint32_t contributions = 0;  // those that came for the block before; 0: nothing is known
  Spread spread;
};

// Tells what one of these blocks was like.
struct Observation {
  std::uint32_t contributions = 0;
  std::optional<Duration> spread{};  // no value: it tells nothing of others
  Spread::Memory memory = Spread::Memory::brief;
};

// Learns what comes by here of the blocks of one job on their way to one leader. A switch that has
// seen as many contributions as the block before got need not wait for its timeout. When the guess
// is wrong (paths or workers changed), late ones pass as stragglers and correct it, and missing
// ones are waited for until the timeout: it saves time and never decides about a sum.
//
// A switch expects of a leader that it has not met what it learned of the job's other leaders: it
// stands between as many workers and the fabric for all of them, unless they are its own hosts.
class Expectations {
 public:
  Expectation of(std::uint32_t job, wire::Ipv4Address leader) const {
    const auto* entry = find(key_of(job, leader));
    entry = entry != nullptr ? entry : find(key_of(job, any_leader));
    return entry != nullptr ? entry->expectation : Expectation{};
  }

  // `last_hop` means that `leader` is a host of this switch, so that all contributions come by
  // here.
  void learn(std::uint32_t job, wire::Ipv4Address leader, bool last_hop,
             const Observation& observed) {
    learn(claim(job, leader), observed);
    if (!last_hop) {
      learn(claim(job, any_leader), observed);
    }
  }
  // Learns that a contribution came so long after the first one of its block, whose sum had left.
  // The block's result comes when windows of others have begun: too late to tell them.
  void learn_late(std::uint32_t job, wire::Ipv4Address leader, Duration spread) {
    claim(job, leader).spread.stretch(spread);
    claim(job, any_leader).spread.stretch(spread);
  }

 private:
  static constexpr std::size_t slots = 1024;
  static constexpr wire::Ipv4Address any_leader{};
  static constexpr std::uint64_t no_key = ~std::uint64_t{0};  // no host is 255.255.255.255
  struct Entry {
    std::uint64_t key = no_key;
    Expectation expectation;
  };

  static std::uint64_t key_of(std::uint32_t job, wire::Ipv4Address leader) {
    return (std::uint64_t{job} << 32) | leader.value();
  }
  static std::size_t slot_of(std::uint64_t key) { return wire::mix_key(key, slots) % slots; }
  const Entry* find(std::uint64_t key) const {
    const auto& entry = entries_[slot_of(key)];
    return entry.key == key ? &entry : nullptr;
  }
  Expectation& claim(std::uint32_t job, wire::Ipv4Address leader) {
    const auto key = key_of(job, leader);
    auto& entry = entries_[slot_of(key)];
    if (entry.key != key) {
      entry = {key, of(job, leader)};
    }
    return entry.expectation;
  }
  static void learn(Expectation& expectation, const Observation& observed) {
    expectation.contributions = observed.contributions;
    if (observed.spread) {
      expectation.spread.add(*observed.spread, observed.memory);
    }
  }

  std::array<Entry, slots> entries_{};
};

}  // namespace tributary::canary
