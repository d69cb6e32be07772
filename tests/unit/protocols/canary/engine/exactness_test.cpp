// SPDX-License-Identifier: BSD-3-Clause
#include "fixture.h"
#include "support/reduction_samples.h"

namespace tributary::canary {
namespace {

using test::encode;
using test::expected;
using test::Pair;
using test::repeat;
using wire::ElementType;

class Exactness : public CanaryTest, public ::testing::WithParamInterface<Pair> {};

// The payload of a jumbo frame.
constexpr std::size_t payload_bytes_max = 8904;

TEST_P(Exactness, ThreeContributionsAreReducedAtEveryLength) {
  const auto [type, op] = GetParam();
  std::uint32_t id = 1;
  for (const std::size_t count : {0u, 1u, 3u, 17u, 359u, 1113u}) {
    if (count * wire::element_bytes(type) > payload_bytes_max) {
      continue;
    }
    ++id;
    std::vector<test::Sent> sums;
    for (std::uint8_t n = 0; n < 3; ++n) {
      auto spec = worker(n);
      spec.id = id;
      spec.type = type;
      spec.op = op;
      sums = feed(spec, repeat(encode(type, n + 1), count));
    }
    ASSERT_EQ(sums.size(), 1u);
    EXPECT_EQ(Seen(sums[0]).elements<std::byte>(), repeat(encode(type, expected(op)), count));
  }
}

INSTANTIATE_TEST_SUITE_P(ValidPairs, Exactness, ::testing::ValuesIn(test::valid_pairs()),
                         test::pair_name);

class HalfPrecision : public CanaryTest {};

// 2048 + 1 rounds to 2048 in f16, twice; 2048 + 2 does not.
TEST_F(HalfPrecision, IsRoundedOnceWhenTheSumIsSentOn) {
  constexpr std::uint16_t values[] = {0x6800, 0x3c00, 0x3c00};
  std::vector<test::Sent> sums;
  for (std::uint8_t n = 0; n < 3; ++n) {
    auto spec = worker(n);
    spec.type = ElementType::f16;
    sums = feed(spec, std::vector<std::uint16_t>{values[n]});
  }
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(Seen(sums[0]).elements<std::uint16_t>(), (std::vector<std::uint16_t>{0x6801}));
}

TEST_F(HalfPrecision, BlocksThatGatherAtOnceDoNotShareAnAccumulator) {
  for (std::uint8_t n = 0; n < 3; ++n) {
    for (std::uint32_t id = 1; id <= 64; ++id) {
      auto spec = worker(n);
      spec.id = id;
      spec.type = ElementType::bf16;
      const auto one_or_two = static_cast<std::uint16_t>(id % 2 == 0 ? 0x3f80 : 0x4000);
      const auto three_or_six = static_cast<std::uint16_t>(id % 2 == 0 ? 0x4040 : 0x40c0);
      const auto sums = feed(spec, std::vector<std::uint16_t>{one_or_two});
      if (n == 2) {
        ASSERT_EQ(sums.size(), 1u);
        EXPECT_EQ(Seen(sums[0]).elements<std::uint16_t>()[0], three_or_six) << id;
      }
    }
  }
}

TEST_F(HalfPrecision, AccumulatorsAreGivenBackWhenTheSumIsSentOn) {
  auto spec = worker(0);
  spec.type = ElementType::bf16;
  spec.hosts = 2;
  for (int round = 0; round < 200; ++round) {
    EXPECT_EQ(feed(spec, std::vector<std::uint16_t>{0x3f80}).size(), 1u);
    EXPECT_EQ(feed(as_result(spec), std::vector<std::uint16_t>{0x4000}).size(), 1u);
  }
}

}  // namespace
}  // namespace tributary::canary
