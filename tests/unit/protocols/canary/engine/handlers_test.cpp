// SPDX-License-Identifier: BSD-3-Clause
// Tests operators that are handlers: who may begin a block, and what is added to its fingerprint.
#include "support/handlers.h"

#include <cstdint>
#include <memory>
#include <vector>

#include "fixture.h"
#include "wire/element.h"

namespace tributary::canary {
namespace {

constexpr unsigned number = 5;
constexpr auto mark = test::OneLess::usual_mark;

class CanaryHandlers : public CanaryTest {
 protected:
  CanaryHandlers() { EXPECT_TRUE(loaded.is_loaded()); }

  static CanarySpec from(std::uint8_t n, unsigned handler = number) {
    auto spec = worker(n);
    spec.op = wire::handler_operator(handler);
    return spec;
  }
  static std::uint64_t tags_of(std::uint8_t workers) {
    std::uint64_t sum = 0;
    for (std::uint8_t n = 0; n < workers; ++n) {
      sum += worker(n).fingerprint;
    }
    return sum;
  }

  test::LoadedHandler loaded{number, std::make_unique<test::OneLess>()};
};

TEST_F(CanaryHandlers, EachCombinationIsMarked) {
  feed(from(0), Ints{1, 10});
  feed(from(1), Ints{2, 20});
  const auto sums = feed(from(2), Ints{3, 30});
  ASSERT_EQ(sums.size(), 1u);
  const Seen sum(sums[0]);
  EXPECT_EQ(sum.elements<std::int32_t>(), (Ints{4, 58}));
  EXPECT_EQ(sum.header().counter.value(), 3u);
  EXPECT_EQ(sum.header().fingerprint.value(), tags_of(3) + 2 * mark);
}

TEST_F(CanaryHandlers, WhoIsAloneHasNoMark) {
  feed(from(0), Ints{1});
  const auto sums = harness->expire(Time{} + 1ms);
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(Seen(sums[0]).header().fingerprint.value(), tags_of(1));
}

TEST_F(CanaryHandlers, WithoutTheHandlerNoBlockBegins) {
  expect_drop(test::make_canary(pool, from(0, number + 1), Ints{1}), DropReason::no_handler);
  loaded.close();
  expect_drop(test::make_canary(pool, from(0), Ints{1}), DropReason::no_handler);
}

TEST_F(CanaryHandlers, AHandlerIsForOneTypeOnly) {
  auto spec = from(0);
  spec.type = wire::ElementType::f32;
  expect_drop(test::make_canary(pool, spec, std::vector<float>{1}), DropReason::no_handler);
}

TEST_F(CanaryHandlers, ABlockWithoutElementsNeedsNone) {
  for (std::uint8_t n = 0; n < 2; ++n) {
    feed(from(n, number + 1), Ints{});
  }
  const auto sums = feed(from(2, number + 1), Ints{});
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(Seen(sums[0]).header().fingerprint.value(), tags_of(3));
}

// Ranks do not accept such a sum.
TEST_F(CanaryHandlers, WhatIsCombinedWhileTheHandlerGoesHasNoMark) {
  feed(from(0), Ints{1});
  feed(from(1), Ints{2});
  loaded.close();
  const auto sums = feed(from(2), Ints{3});
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(Seen(sums[0]).header().fingerprint.value(), tags_of(3) + mark);
}

}  // namespace
}  // namespace tributary::canary
