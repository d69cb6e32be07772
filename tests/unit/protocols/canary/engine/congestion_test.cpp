// SPDX-License-Identifier: BSD-3-Clause
// Tests how marks of queues get to the leader and back.
#include "fixture.h"
#include "wire/ipv4.h"

namespace tributary::canary {
namespace {

// Returns a packet that was marked by a queue between its sender and this switch.
CanarySpec marked(CanarySpec spec) {
  spec.tos = wire::ecn::ce;
  return spec;
}
// Returns a sum of a switch below, to which marked packets came.
CanarySpec congested(CanarySpec spec) {
  spec.tos = wire::ecn::ect0;
  spec.congested = true;
  return spec;
}
CanarySpec unmarked(CanarySpec spec) {
  spec.tos = wire::ecn::ect0;
  return spec;
}

class Congestion : public CanaryTest {
 protected:
  void TearDown() override {
    sums_.clear();
    CanaryTest::TearDown();
  }

  // Returns the sum of three contributions.
  Seen sum(const CanarySpec& first, const CanarySpec& second, const CanarySpec& third) {
    feed(first, Ints{1});
    feed(second, Ints{2});
    sums_ = feed(third, Ints{3});
    EXPECT_EQ(sums_.size(), 1u);
    EXPECT_EQ(Seen(sums_.front()).elements<std::int32_t>(), Ints{6});
    return Seen(sums_.front());
  }

 private:
  std::vector<test::Sent> sums_;
};

TEST_F(Congestion, ASumTellsWhetherAnyContributionWasMarked) {
  constexpr std::uint32_t none = 6;
  for (std::uint32_t which = 0; which <= none; ++which) {
    std::vector<CanarySpec> specs;
    for (std::uint8_t n = 0; n < 3; ++n) {
      auto spec = unmarked(worker(n));
      spec.id = 1 + which;
      const bool is_it = which < none && n == which % 3;
      specs.push_back(!is_it ? spec : which < 3 ? marked(spec) : congested(spec));
    }
    EXPECT_EQ(sum(specs[0], specs[1], specs[2]).header().congested(), which < none) << which;
  }
}

TEST_F(Congestion, DirectlyOverEthernetTheHeaderTells) {
  std::vector<CanarySpec> specs;
  for (std::uint8_t n = 0; n < 3; ++n) {
    auto spec = worker(n);
    spec.encapsulation = wire::Encapsulation::ethernet;
    spec.child_port = 0;
    spec.congested = n == 1;
    specs.push_back(spec);
  }
  EXPECT_TRUE(sum(specs[0], specs[1], specs[2]).header().congested());
}

// A straggler goes on by itself, with its own mark, whatever that of the sum was.
TEST_F(Congestion, AStragglerKeepsItsMark) {
  feed(unmarked(worker(0)), Ints{1});
  EXPECT_FALSE(Seen(harness->expire(Time{} + 1ms)[0]).header().congested());
  const auto by_queue = feed(marked(worker(1)), Ints{2});
  EXPECT_EQ(Seen(by_queue[0]).frame.ipv4->tos, wire::ecn::ce);
  EXPECT_FALSE(Seen(by_queue[0]).header().congested());
  EXPECT_TRUE(Seen(feed(congested(worker(2)), Ints{3})[0]).header().congested());
}

TEST_F(Congestion, WhatFindsNoRoomKeepsItsMark) {
  auto config = config_with(1);
  config.job_quota = 1;
  restart(config);
  feed(worker(0), Ints{1});
  auto other = worker(1);
  other.id = 2;
  const auto by_queue = feed(marked(other), Ints{1});
  EXPECT_TRUE(Seen(by_queue[0]).header().bypass());
  EXPECT_EQ(Seen(by_queue[0]).frame.ipv4->tos, wire::ecn::ce);
  other = worker(2);
  other.id = 2;
  const auto by_header = feed(congested(other), Ints{1});
  EXPECT_TRUE(Seen(by_header[0]).header().bypass());
  EXPECT_TRUE(Seen(by_header[0]).header().congested());

  auto restoration = as_result(other);
  restoration.kind = wire::CanaryKind::restoration;
  restoration.ip_source = other.destination;
  restoration.switch_address = self.id;
  restoration.switch_ipv4 = self.address;
  restoration.children = 1u << other.ingress;
  restoration.child_address = other.child_address;
  restoration.child_mac = other.source_mac;
  restoration.congested = true;
  const auto restored = feed(restoration, Ints{3});
  ASSERT_EQ(restored.size(), 1u);
  EXPECT_TRUE(Seen(restored[0]).header().congested());
}

TEST_F(Congestion, EveryChildHearsOfItInTheResult) {
  for (std::uint32_t id = 1; id <= 3; ++id) {
    auto result = as_result(unmarked(worker(0)));
    for (std::uint8_t n = 0; n < 3; ++n) {
      auto spec = unmarked(worker(n));
      spec.id = id;
      feed(spec, Ints{1});
    }
    result.id = id;
    result.congested = id == 1;
    result.tos = id == 2 ? wire::ecn::ce : wire::ecn::ect0;
    const auto copies = feed(result, Ints{4});
    ASSERT_EQ(copies.size(), 3u);
    for (const auto& copy : copies) {
      EXPECT_EQ(Seen(copy).header().congested(), id == 1);
      EXPECT_EQ(Seen(copy).frame.ipv4->tos, result.tos);
    }
  }
}

}  // namespace
}  // namespace tributary::canary
