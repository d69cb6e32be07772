// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "packet/clock.h"
#include "protocols/canary/engine/recent_least.h"
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
// A switch expects of a leader that it has not met what it learned of the job's other leaders, but
// for its own hosts. Not all of them get as many by here: a spine passes a pod's contributions on
// to leaders in other pods, and those of all others to leaders in its own. So it expects the least
// that came for a share of the blocks: one too few costs a straggler, one too many a timeout.
// Single blocks with fewer do not count: where a leaf moved one away from a crowded queue, its
// contributions come by here alone, and a sum that leaves with so few has all others pass as
// stragglers.
class Expectations {
 public:
  Expectation of(std::uint32_t job, wire::Ipv4Address leader) const {
    const auto key = key_of(job, leader);
    const auto& entry = entries_[slot_of(key)];
    return entry.key == key ? entry.expectation : of_any(job);
  }

  // `last_hop` means that `leader` is a host of this switch, so that all contributions come by
  // here.
  void learn(std::uint32_t job, wire::Ipv4Address leader, bool last_hop,
             const Observation& observed) {
    auto& expectation = claim(job, leader);
    expectation.contributions = observed.contributions;
    learn(expectation.spread, observed);
    if (!last_hop) {
      auto& others = claim(job);
      others.contributions.add(observed.contributions);
      learn(others.spread, observed);
    }
  }
  // Learns that a contribution came so long after the first one of its block, whose sum had left.
  // The block's result comes when windows of others have begun: too late to tell them.
  void learn_late(std::uint32_t job, wire::Ipv4Address leader, Duration spread) {
    claim(job, leader).spread.stretch(spread);
    claim(job).spread.stretch(spread);
  }

 private:
  static constexpr std::size_t slots = 1024;
  static constexpr std::size_t job_slots = 256;
  static constexpr std::uint64_t no_key = ~std::uint64_t{0};  // no host is 255.255.255.255
  struct Entry {
    std::uint64_t key = no_key;
    Expectation expectation;
  };
  struct OfJob {
    std::uint64_t job = no_key;
    RecentLeast contributions;
    Spread spread;
  };

  static std::uint64_t key_of(std::uint32_t job, wire::Ipv4Address leader) {
    return (std::uint64_t{job} << 32) | leader.value();
  }
  static std::size_t slot_of(std::uint64_t key) { return wire::mix_key(key, slots) % slots; }
  static std::size_t slot_of_job(std::uint32_t job) {
    return wire::mix_key(job, job_slots) % job_slots;
  }
  Expectation of_any(std::uint32_t job) const {
    const auto& known = jobs_[slot_of_job(job)];
    return known.job == job ? Expectation{known.contributions.value(), known.spread}
                            : Expectation{};
  }
  Expectation& claim(std::uint32_t job, wire::Ipv4Address leader) {
    const auto key = key_of(job, leader);
    auto& entry = entries_[slot_of(key)];
    if (entry.key != key) {
      entry = {key, of_any(job)};
    }
    return entry.expectation;
  }
  OfJob& claim(std::uint32_t job) {
    auto& known = jobs_[slot_of_job(job)];
    if (known.job != job) {
      known = {job, {}, {}};
    }
    return known;
  }
  static void learn(Spread& spread, const Observation& observed) {
    if (observed.spread) {
      spread.add(*observed.spread, observed.memory);
    }
  }

  std::array<Entry, slots> entries_{};
  std::array<OfJob, job_slots> jobs_{};
};

}  // namespace tributary::canary
