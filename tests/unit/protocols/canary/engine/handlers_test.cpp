// SPDX-License-Identifier: BSD-3-Clause
// Tests operators that are handlers: who may begin a block, and what is added to its fingerprint.
#include "support/handlers.h"

#include <cstdint>
#include <memory>
#include <vector>

#include "fixture.h"
#include "reduce/handlers/budget.h"
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

// Blocks of two contributions by a handler that takes too long, until it is closed.
class CanarySlowHandler : public CanaryTest {
 protected:
  CanarySlowHandler() {
    const auto op = wire::handler_operator(number);
    EXPECT_TRUE(slow.is_loaded());
    for (std::uint32_t id = 100; id < 200 && !reduce::is_too_slow(op); ++id) {
      feed(by_slow(id, 0), Ints{1, 2});
      feed(by_slow(id, 1), Ints{1, 2});
    }
    EXPECT_TRUE(reduce::is_too_slow(op));
  }

  static CanarySpec by_slow(std::uint32_t id, std::uint8_t n) {
    auto spec = block(id, n);
    spec.op = wire::handler_operator(number);
    return spec;
  }

  test::LoadedHandler slow{number, std::make_unique<test::SlowOneLess>()};
};

TEST_F(CanarySlowHandler, NoBlockBeginsAndNoneGoesOn) {
  expect_drop(test::make_canary(pool, by_slow(300, 0), Ints{1, 2}), DropReason::handler_too_slow);
  expect_drop(test::make_canary(pool, by_slow(100, 2), Ints{1, 2}), DropReason::handler_too_slow);
}

TEST_F(CanarySlowHandler, AnotherJobIsAddedUpAsBefore) {
  const test::LoadedHandler other{number + 1, std::make_unique<test::OneLess>()};
  for (const auto op : {wire::Operator::sum, wire::handler_operator(number + 1)}) {
    std::vector<test::Sent> sums;
    for (std::uint8_t n = 0; n < 3; ++n) {
      auto spec = block(300 + static_cast<std::uint32_t>(op), n);
      spec.op = op;
      sums = feed(spec, Ints{n, 10});
    }
    ASSERT_EQ(sums.size(), 1u);
    EXPECT_EQ(Seen(sums[0]).elements<std::int32_t>(),
              op == wire::Operator::sum ? (Ints{3, 30}) : (Ints{1, 28}));
  }
}

}  // namespace
}  // namespace tributary::canary
