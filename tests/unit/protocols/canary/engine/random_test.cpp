// SPDX-License-Identifier: BSD-3-Clause
#include <map>
#include <random>

#include "fixture.h"

namespace tributary::canary {
namespace {

// Random sequences of contributions, duplicates, results, restorations and damaged packets over few
// descriptors, so that everything meets everything. Block `id` is made of contributions whose only
// element is 1000 * id + worker, which tells where a sum comes from.
class RandomSequence : public CanaryTest, public ::testing::WithParamInterface<unsigned> {
 protected:
  struct Totals {
    std::uint64_t counter = 0;
    std::uint64_t fingerprint = 0;
    std::int64_t sum = 0;
    friend bool operator==(const Totals&, const Totals&) = default;
  };

  CanarySpec random_spec() {
    auto spec = worker(static_cast<std::uint8_t>(draw(6)));
    spec.id = draw(12);
    spec.job = 1 + draw(2);
    spec.hosts = 7;
    spec.fingerprint = (std::uint64_t{draw(0x10000)} << 40) + draw(0x10000);
    spec.encapsulation =
        spec.id % 3 == 0 ? wire::Encapsulation::ethernet : wire::Encapsulation::udp;
    return spec;
  }

  std::uint32_t draw(std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); }

  static Totals totals_of(const wire::CanaryHeader& header, std::int32_t element) {
    return {header.counter.value(), header.fingerprint.value(), element};
  }
  static void add(Totals& to, const Totals& more) {
    to.counter += more.counter;
    to.fingerprint += more.fingerprint;
    to.sum += more.sum;
  }

  // Records packets to leaders, as the leader will count them.
  void note(const std::vector<test::Sent>& departures) {
    for (const auto& departure : departures) {
      const Seen seen(departure);
      if (seen.header().kind == wire::CanaryKind::contribution) {
        add(left, totals_of(seen.header(), seen.elements<std::int32_t>().at(0)));
      }
    }
  }

  std::mt19937 random{GetParam()};
  Totals entered;
  Totals left;
};

TEST_P(RandomSequence, WhatEntersLeavesExactlyOnce) {
  restart(config_with(8));
  Time now{};
  for (int step = 0; step < 3000; ++step) {
    now += std::chrono::microseconds(draw(200));
    note(harness->expire(now));
    auto spec = random_spec();
    const bool is_result = draw(6) == 0;
    if (is_result) {
      // A result before its block's sum has left would rightly discard the accumulator.
      while (engine->deadline() <= now + 1ms) {
        now = engine->deadline();
        note(harness->expire(now));
      }
      feed(as_result(spec), Ints{1}, now);
      continue;
    }
    const auto element = static_cast<std::int32_t>(1000 * spec.id + spec.rank);
    auto packet = test::make_canary(pool, spec, Ints{element});
    if (draw(8) == 0) {
      // The change is in the bytes that the CRC covers: header, and one element.
      packet->data()[packet->length - 1 - draw(68)] ^= static_cast<std::byte>(1 + draw(255));
      note(feed(std::move(packet), now));
      continue;
    }
    const auto dropped = harness->ledger.dropped();
    const auto totals = totals_of(*test::canary_header(*packet), element);
    note(feed(std::move(packet), now));
    if (harness->ledger.dropped() == dropped) {
      add(entered, totals);
    }
  }
  while (harness->figure("descriptors_in_use") > 0) {
    now = engine->deadline();
    note(harness->expire(now));
  }
  EXPECT_EQ(entered, left);
  EXPECT_GT(harness->figure("collisions_total"), 0u);
  EXPECT_GT(harness->figure("stragglers_total"), 0u);
  EXPECT_GT(harness->figure("results_total"), 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomSequence, ::testing::Range(1u, 21u));

}  // namespace
}  // namespace tributary::canary
