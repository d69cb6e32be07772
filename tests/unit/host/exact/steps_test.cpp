// SPDX-License-Identifier: BSD-3-Clause
#include "host/exact/steps.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "host/exact/formats.h"
#include "numbers.h"
#include "worlds.h"

namespace tributary::host::exact::test {
namespace {

using wire::ElementType;
using wire::Operator;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float greatest = std::numeric_limits<float>::max();
constexpr float least = std::numeric_limits<float>::denorm_min();

TEST(Manner, FollowsFromTypeAndOperator) {
  const auto manner = [](ElementType type, Operator op,
                         Collective collective = Collective::allreduce) {
    return manner_of(call_of(8, type, op, collective));
  };
  for (const auto type : float_types) {
    EXPECT_EQ(manner(type, Operator::sum), Manner::in_steps);
    EXPECT_EQ(manner(type, Operator::max, Collective::reduce), Manner::in_steps);
    EXPECT_EQ(manner(type, Operator::prod), Manner::by_ring);
    EXPECT_EQ(manner(type, Operator::sum, Collective::broadcast), Manner::as_it_is);
  }
  EXPECT_EQ(manner(ElementType::i32, Operator::sum), Manner::as_it_is);
  EXPECT_EQ(manner(ElementType::i4, Operator::prod), Manner::as_it_is);
  EXPECT_EQ(manner(ElementType::i32_i32, Operator::minloc), Manner::as_it_is);
  EXPECT_EQ(manner(ElementType::i64_i32, Operator::minloc), Manner::in_steps);
  EXPECT_EQ(manner(ElementType::f32, Operator::bit_or), Manner::as_it_is) << "there is none";
}

// Draws the contribution of each rank.
template <typename T>
std::vector<Elements> inputs(std::size_t ranks, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Elements> in;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    in.push_back(elements_of(drawn<T>(count, random)));
  }
  return in;
}

TEST(Steps, MakeTheSameBitsInAnyOrderAndInAnyPlace) {
  constexpr std::size_t count = 515;
  for (const auto type : float_types) {
    with_float(type, [&]<typename T>(T) {
      for (const auto op : {Operator::sum, Operator::min, Operator::max}) {
        auto in = inputs<T>(9, count, 4);
        const auto first = reduced(call_of(count, type, op), in);
        std::mt19937_64 random(8);
        for (std::uint64_t seed = 2; seed < 12; ++seed) {
          std::shuffle(in.begin(), in.end(), random);  // the ranks get other numbers
          EXPECT_EQ(reduced(call_of(count, type, op), in, seed), first) << wire::name(type);
        }
      }
    });
  }
}

// The bound of docs/reference/library.md: half a unit of each rank, and half of the distance
// between two numbers of the type.
template <typename T>
void expect_near(ElementType type, std::size_t ranks, std::size_t count) {
  const auto in = inputs<T>(ranks, count, ranks);
  const auto sums = values_of<T>(reduced(call_of(count, type), in));
  const int bits = Quantiser(type, static_cast<std::uint32_t>(ranks)).bits();
  const long double unit = std::ldexp(1.0L, std::max(1 - bits, precision_of(type).least));
  for (std::size_t i = 0; i < count; ++i) {
    long double exact = 0;
    long double magnitude = 0;
    for (const auto& one : in) {
      const auto value = host::test::to_wide(load<T>(one.data(), i));
      exact += value;
      magnitude += std::fabs(value);
    }
    const auto of_reference = 0x1p-63L * static_cast<long double>(ranks) * magnitude;
    const auto allowed =
        static_cast<long double>(ranks) * unit / 2 + spacing(exact, type) / 2 + of_reference;
    const auto got = host::test::to_wide(sums[i]);
    ASSERT_LE(std::fabs(got - exact), allowed) << wire::name(type) << ", " << ranks << " ranks";
  }
}

// Numbers are at most 1, so that all chunks have the exponent 1 or a lower one.
TEST(Steps, SumsAreAsExactAsPromised) {
  for (const std::size_t ranks : {2u, 3u, 8u}) {
    for (const auto type : float_types) {
      with_float(type, [&]<typename T>(T) { expect_near<T>(type, ranks, 600); });
    }
  }
  expect_near<float>(ElementType::f32, 1000, 300);
  expect_near<double>(ElementType::f64, 1000, 300);
  expect_near<reduce::bfloat16>(ElementType::bf16, 1000, 300);
}

std::vector<float> sum_of(const std::vector<std::vector<float>>& in) {
  std::vector<Elements> elements;
  for (const auto& one : in) {
    elements.push_back(elements_of(one));
  }
  return values_of<float>(reduced(call_of(in[0].size(), ElementType::f32), elements));
}

std::uint32_t bits_of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

TEST(Steps, SumsOfExtremeNumbers) {
  EXPECT_EQ(sum_of({{greatest}, {greatest}})[0], infinity);
  EXPECT_EQ(sum_of({{greatest}, {greatest}, {-greatest}})[0], greatest) << "no order overflows";
  EXPECT_EQ(sum_of({{-greatest}, {-greatest}})[0], -infinity);
  EXPECT_EQ(sum_of({{least}, {least}, {least}})[0], 3 * least);
  EXPECT_EQ(sum_of({{0x1p-126f}, {-least}})[0], 0x1p-126f - least);
  EXPECT_EQ(sum_of({{1.0f}, {0x1p-24f}, {0x1p-24f}})[0], 1.0f + 0x1p-23f) << "rounded once";
  EXPECT_EQ(bits_of(sum_of({{-0.0f}, {-0.0f}})[0]), 0u) << "a zero is +0";
  EXPECT_EQ(bits_of(sum_of({{-1.5f}, {1.5f}})[0]), 0u);
}

TEST(Steps, WhatIsFarBelowTheGreatestOfItsChunkIsLostAndNothingOfOtherChunks) {
  std::vector<float> one(chunk_elements + 1, 1.0f);
  one[0] = 0x1p100f;
  const auto sum = sum_of({one, std::vector<float>(chunk_elements + 1, 1.0f)});
  EXPECT_EQ(sum[0], 0x1p100f);
  EXPECT_EQ(sum[1], 0.0f);
  EXPECT_EQ(sum[chunk_elements], 2.0f);
}

TEST(Steps, SumsWithNansAndInfinities) {
  const float nan = std::bit_cast<float>(0xffc01234u);
  const auto sum = sum_of({{nan, infinity, infinity, -infinity, 1.0f, nan},
                           {1.0f, -5.0f, -infinity, -7.0f, 2.0f, infinity},
                           {1.0f, 6.0f, 3.0f, 0.0f, 4.0f, 0.0f}});
  EXPECT_EQ(bits_of(sum[0]), 0x7fc00000u);
  EXPECT_EQ(sum[1], infinity);
  EXPECT_EQ(bits_of(sum[2]), 0x7fc00000u);
  EXPECT_EQ(sum[3], -infinity);
  EXPECT_EQ(sum[4], 7.0f);
  EXPECT_EQ(bits_of(sum[5]), 0x7fc00000u);
}

TEST(Steps, MinimaAndMaximaOfZerosAndNans) {
  const auto reduce_floats = [](Operator op, float a, float b) {
    const std::vector<Elements> in = {elements_of(std::vector<float>{a}),
                                      elements_of(std::vector<float>{b})};
    return bits_of(values_of<float>(reduced(call_of(1, ElementType::f32, op), in))[0]);
  };
  const float nan = std::bit_cast<float>(0xffc01234u);
  for (const auto op : {Operator::min, Operator::max}) {
    EXPECT_EQ(reduce_floats(op, nan, -infinity), 0x7fc00000u);
    EXPECT_EQ(reduce_floats(op, infinity, nan), 0x7fc00000u);
    EXPECT_EQ(reduce_floats(op, 0.0f, -0.0f), op == Operator::max ? 0u : 0x80000000u);
  }
  EXPECT_EQ(reduce_floats(Operator::min, -2.5f, 1.0f), bits_of(-2.5f));
  EXPECT_EQ(reduce_floats(Operator::max, -2.5f, -3.0f), bits_of(-2.5f));
}

TEST(Steps, PairsThatAreEqualLeaveOneResult) {
  using Pair = reduce::indexed<double>;
  const std::vector<Elements> in = {elements_of(std::vector<Pair>{{-0.0, 5, 77}}),
                                    elements_of(std::vector<Pair>{{0.0, 5, 78}}),
                                    elements_of(std::vector<Pair>{{1.0, 2, 79}})};
  const auto result = reduced(call_of(1, ElementType::f64_i32, Operator::minloc), in);
  EXPECT_EQ(result, elements_of(std::vector<Pair>{{0.0, 5, 0}}));
}

TEST(Steps, OnlyTheRootOfAReduceHasTheResult) {
  const auto in = inputs<float>(3, 300, 7);
  World world(call_of(300, ElementType::f32, Operator::sum, Collective::reduce, 2), in);
  Random random(1);
  EXPECT_EQ(world.carry_out(random), 2);
  EXPECT_EQ(world.out(2), reduced(call_of(300, ElementType::f32), in));
  EXPECT_EQ(world.out(0), in[0]) << "left alone";
  EXPECT_EQ(world.out(1), in[1]);
}

TEST(Steps, SumsOfEightBitsAreTheGreatestNumberWhereTheyAreTooGreat) {
  using reduce::float8_e5m2;
  const auto one = elements_of(std::vector{float8_e5m2(40960.0F)});
  EXPECT_EQ(reduced(call_of(1, ElementType::f8e5m2), {one, one}),
            elements_of(std::vector{float8_e5m2(57344.0F)}));
}

TEST(Steps, MarksAreCarriedOnlyWhereThereAreAny) {
  auto in = inputs<float>(3, 300, 7);
  Random random(1);
  EXPECT_EQ(World(call_of(300, ElementType::f32), in).carry_out(random), 2);
  store(in[1].data(), 299, infinity);
  EXPECT_EQ(World(call_of(300, ElementType::f32), in).carry_out(random), 3);
  EXPECT_EQ(World(call_of(0, ElementType::f32), {{}, {}}).carry_out(random), 0);
}

// Returns the steps of a call that was refused, which read no buffer.
std::vector<Step> refused(const Call& call) {
  Scratch scratch;
  Steps steps(call, 0, 8, scratch);
  steps.give_up();
  std::vector<Step> all;
  while (const auto step = steps.next()) {
    all.push_back(*step);
  }
  return all;
}

TEST(Steps, LongVectorsGoInPiecesOfWholeChunks) {
  constexpr std::size_t piece = Steps::piece_bytes / sizeof(std::int64_t);
  const auto all = refused(call_of(2 * piece + 5, ElementType::f32));
  ASSERT_EQ(all.size(), 9u);
  EXPECT_EQ(all[0].call.buffers.count, piece / chunk_elements + 1);
  EXPECT_EQ(all[1].call.buffers.count, piece);
  EXPECT_EQ(all[4].call.buffers.type, ElementType::i64);
  EXPECT_EQ(all[6].call.buffers.count, 2u);
  EXPECT_EQ(all[7].call.buffers.count, 5u);
  EXPECT_TRUE(all[8].by_ring);
  EXPECT_EQ(refused(call_of(2 * piece + 5, ElementType::bf16)).size(), 6u);
  EXPECT_EQ(refused(call_of(Steps::piece_bytes + 1, ElementType::f8e5m2, Operator::max)).size(),
            2u);
}

// A rank that gives up in some step counts as many collectives, of the same shape, as one that
// refuses the call.
TEST(Steps, WhoGivesUpCountsTheRest) {
  const auto in = inputs<float>(1, 300, 7);
  auto call = call_of(300, ElementType::f32);
  const auto expected = refused(call);
  auto out = in[0];
  call.buffers.in = in[0].data();
  call.buffers.out = out.data();
  for (std::size_t last = 0; last < expected.size(); ++last) {
    Scratch scratch;
    Steps steps(call, 0, 8, scratch);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto step = steps.next();
      ASSERT_TRUE(step);
      EXPECT_EQ(step->call.buffers.count, expected[i].call.buffers.count);
      EXPECT_EQ(step->call.buffers.type, expected[i].call.buffers.type);
      EXPECT_EQ(step->by_ring, expected[i].by_ring);
      if (i == last) {
        steps.give_up();
      }
    }
    EXPECT_FALSE(steps.next());
  }
}

}  // namespace
}  // namespace tributary::host::exact::test
