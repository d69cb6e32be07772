// SPDX-License-Identifier: BSD-3-Clause
#include <map>

#include "fixture.h"

namespace tributary::canary {
namespace {

using wire::ElementType;
using wire::Operator;

// Small whole numbers, encoded without the code under test.
std::vector<std::byte> encode(ElementType type, int value) {
  static const std::map<int, std::uint16_t> f16 = {
      {1, 0x3c00}, {2, 0x4000}, {3, 0x4200}, {6, 0x4600}};
  static const std::map<int, std::uint16_t> bf16 = {
      {1, 0x3f80}, {2, 0x4000}, {3, 0x4040}, {6, 0x40c0}};
  const auto bytes_of = [](auto number) {
    std::vector<std::byte> bytes(sizeof number);
    std::memcpy(bytes.data(), &number, sizeof number);
    return bytes;
  };
  switch (type) {
    case ElementType::f32:
      return bytes_of(static_cast<float>(value));
    case ElementType::f64:
      return bytes_of(static_cast<double>(value));
    case ElementType::f16:
      return bytes_of(f16.at(value));
    case ElementType::bf16:
      return bytes_of(bf16.at(value));
    case ElementType::i8:
      return bytes_of(static_cast<std::int8_t>(value));
    case ElementType::i16:
      return bytes_of(static_cast<std::int16_t>(value));
    case ElementType::i32:
      return bytes_of(std::int32_t{value});
    case ElementType::i64:
      break;
  }
  return bytes_of(std::int64_t{value});
}

std::vector<std::byte> repeat(const std::vector<std::byte>& element, std::size_t count) {
  std::vector<std::byte> all;
  for (std::size_t i = 0; i < count; ++i) {
    all.insert(all.end(), element.begin(), element.end());
  }
  return all;
}

// Of the contributions 1, 2 and 3.
int expected(Operator op) {
  constexpr int results[wire::operator_count] = {6, 1, 3, 6, 1 & 2 & 3, 1 | 2 | 3, 1 ^ 2 ^ 3};
  return results[static_cast<std::size_t>(op)];
}

class Exactness : public CanaryTest,
                  public ::testing::WithParamInterface<std::pair<ElementType, Operator>> {};

TEST_P(Exactness, ThreeContributionsAreReducedAtEveryLength) {
  const auto [type, op] = GetParam();
  std::uint32_t id = 1;
  for (const std::size_t count : {0u, 1u, 3u, 17u, 359u, 1113u}) {
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

using Pair = std::pair<ElementType, Operator>;

std::vector<Pair> valid_pairs() {
  std::vector<Pair> pairs;
  for (std::size_t type = 0; type < wire::element_type_count; ++type) {
    for (std::size_t op = 0; op < wire::operator_count; ++op) {
      const Pair pair{static_cast<ElementType>(type), static_cast<Operator>(op)};
      if (wire::is_valid(pair.first, pair.second)) {
        pairs.push_back(pair);
      }
    }
  }
  return pairs;
}

std::string pair_name(const ::testing::TestParamInfo<Pair>& info) {
  return std::string(wire::name(info.param.first)) + "_" +
         std::string(wire::name(info.param.second));
}

INSTANTIATE_TEST_SUITE_P(ValidPairs, Exactness, ::testing::ValuesIn(valid_pairs()), pair_name);

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
