// SPDX-License-Identifier: BSD-3-Clause
#include "sample.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reduce/kernel.h"
#include "sketch_sample.h"

namespace tributary::bench {
namespace {

using wire::ElementType;
using wire::Operator;

std::vector<std::byte> input(Problem problem, std::uint32_t rank, std::size_t iteration) {
  problem.rank = rank;
  std::vector<std::byte> bytes(problem.count * wire::element_bytes(problem.type));
  Sample::make(problem)->fill(iteration, bytes.data());
  return bytes;
}

// Reduces the inputs of `ranks` in that order, rounding to the element type after every step.
std::vector<std::byte> reduced(const Problem& problem, const std::vector<std::uint32_t>& ranks,
                               std::size_t iteration = 0) {
  const reduce::Kernel& kernel = reduce::kernel(problem.type, problem.op);
  std::vector<std::byte> result = input(problem, ranks[0], iteration);
  std::vector<std::byte> accumulator(problem.count * kernel.accumulator_bytes);
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    kernel.load(accumulator.data(), result.data(), problem.count);
    kernel.accumulate(accumulator.data(), input(problem, ranks[i], iteration).data(),
                      problem.count);
    kernel.store(result.data(), accumulator.data(), problem.count);
  }
  return result;
}

std::vector<std::uint32_t> all_ranks(std::uint32_t world_size) {
  std::vector<std::uint32_t> ranks(world_size);
  std::iota(ranks.begin(), ranks.end(), 0u);
  return ranks;
}

struct SampleOf : testing::TestWithParam<std::tuple<int, int>> {
  void SetUp() override {
    if (!wire::is_valid(problem.type, problem.op)) {
      GTEST_SKIP() << wire::valid_combinations;
    }
  }
  Problem problem{static_cast<ElementType>(std::get<0>(GetParam())),
                  static_cast<Operator>(std::get<1>(GetParam())), 1501, 0, 8};
};

TEST_P(SampleOf, AcceptsEveryOrderOfReduction) {
  for (const std::uint32_t world_size : {1u, 2u, 5u, 8u}) {
    problem.world_size = world_size;
    const auto sample = Sample::make(problem);
    auto ranks = all_ranks(world_size);
    EXPECT_EQ(sample->wrong_results(0, reduced(problem, ranks).data()), 0u);
    std::reverse(ranks.begin(), ranks.end());
    EXPECT_EQ(sample->wrong_results(0, reduced(problem, ranks).data()), 0u);
  }
}

TEST_P(SampleOf, NoticesAnotherIteration) {
  const auto sample = Sample::make(problem);
  const auto result = reduced(problem, all_ranks(8), 3);
  EXPECT_EQ(sample->wrong_results(3, result.data()), 0u);
  EXPECT_GT(sample->wrong_results(4, result.data()), problem.count / 10);
}

TEST_P(SampleOf, NoticesAMissingContribution) {
  const auto sample = Sample::make(problem);
  EXPECT_GT(sample->wrong_results(0, reduced(problem, all_ranks(7)).data()), 10u);
}

TEST_P(SampleOf, NoticesADuplicateUnlessItIsIdempotent) {
  auto ranks = all_ranks(8);
  ranks.push_back(3);
  const std::uint64_t wrong =
      Sample::make(problem)->wrong_results(0, reduced(problem, ranks).data());
  const bool idempotent = problem.op != Operator::sum && problem.op != Operator::prod &&
                          problem.op != Operator::bit_xor && problem.op != Operator::logical_xor;
  if (idempotent) {
    EXPECT_EQ(wrong, 0u);
  } else {
    EXPECT_GT(wrong, problem.count / 10);
  }
}

// The last of these elements are the first of the unrotated sample.
TEST_P(SampleOf, KnowsWhatPartialResultsLack) {
  const auto sample = Sample::make(problem);
  const std::vector<PartialResult> partial = {{100, 50, {7}}, {1400, 101, {0, 3}}};
  auto result = reduced(problem, all_ranks(8), 3);
  const auto put = [&](const PartialResult& lacking, const std::vector<std::uint32_t>& ranks) {
    const auto some = reduced(problem, ranks, 3);
    const auto bytes = wire::element_bytes(problem.type);
    std::memcpy(result.data() + lacking.first * bytes, some.data() + lacking.first * bytes,
                lacking.count * bytes);
  };
  put(partial[0], {0, 1, 2, 3, 4, 5, 6});
  put(partial[1], {1, 2, 4, 5, 6, 7});
  EXPECT_EQ(sample->wrong_results(3, result.data(), partial), 0u);
  EXPECT_GT(sample->wrong_results(3, result.data()), 0u);
  EXPECT_GT(sample->wrong_results(3, result.data(), {{100, 50, {7}}, {1400, 101, {0}}}), 0u);
}

std::string case_name(const testing::TestParamInfo<std::tuple<int, int>>& info) {
  return std::string(wire::name(static_cast<ElementType>(std::get<0>(info.param)))) + "_" +
         std::string(wire::name(static_cast<Operator>(std::get<1>(info.param))));
}

INSTANTIATE_TEST_SUITE_P(EveryTypeAndOperator, SampleOf,
                         testing::Combine(testing::Range(0, int{wire::built_in_type_count}),
                                          testing::Range(0, int{wire::operator_count})),
                         case_name);

TEST(Sample, CountsEveryWrongElement) {
  const Problem problem{ElementType::i32, Operator::sum, 100, 0, 2};
  auto result = reduced(problem, all_ranks(2));
  result[0] ^= std::byte{1};
  result[396] ^= std::byte{1};
  EXPECT_EQ(Sample::make(problem)->wrong_results(0, result.data()), 2u);
}

TEST(Sample, NoticesANotANumber) {
  const Problem problem{ElementType::f32, Operator::max, 10, 0, 2};
  auto result = reduced(problem, all_ranks(2));
  std::memset(result.data() + 8, 0xff, 4);
  EXPECT_EQ(Sample::make(problem)->wrong_results(0, result.data()), 1u);
}

TEST(Sample, NoticesAChangedInput) {
  const Problem problem{ElementType::f16, Operator::sum, 10, 1, 2};
  auto bytes = input(problem, 1, 7);
  const auto sample = Sample::make(problem);
  EXPECT_EQ(sample->wrong_inputs(7, bytes.data()), 0u);
  bytes[3] ^= std::byte{1};
  EXPECT_EQ(sample->wrong_inputs(7, bytes.data()), 1u);
}

TEST(Sample, CanBeEmpty) {
  const auto sample = Sample::make({ElementType::f64, Operator::prod, 0, 0, 3});
  sample->fill(5, nullptr);
  EXPECT_EQ(sample->wrong_results(5, nullptr), 0u);
}

TEST(Sample, HasAsManyElementsAsItsDensitySays) {
  const auto present = [](double density, std::uint32_t rank) {
    const Problem problem{ElementType::f64, Operator::sum, 10000, 0, 3, density};
    const auto bytes = input(problem, rank, 0);
    std::vector<double> values(problem.count);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values.size() - static_cast<std::size_t>(std::count(values.begin(), values.end(), 0.0));
  };
  for (const std::uint32_t rank : {0u, 1u, 2u}) {
    EXPECT_EQ(present(0, rank), 0u);
    EXPECT_NEAR(static_cast<double>(present(0.01, rank)), 100, 50);
    EXPECT_NEAR(static_cast<double>(present(0.5, rank)), 5000, 250);
    EXPECT_EQ(present(1, rank), 10000u);
  }
}

TEST(Sample, OfSparseVectorsIsTheirSum) {
  const Problem problem{ElementType::i32, Operator::sum, 2000, 0, 5, 0.1};
  EXPECT_EQ(Sample::make(problem)->wrong_results(2, reduced(problem, all_ranks(5), 2).data()), 0u);
  EXPECT_GT(Sample::make(problem)->wrong_results(2, reduced(problem, all_ranks(4), 2).data()), 50u);
}

TEST(Sample, OfSketchesSaysHowFarResultsAreOff) {
  constexpr std::uint32_t ranks = 3;
  Problem problem{ElementType::f32, Operator::sum, 1000, 0, ranks};
  const auto sample = make_sketch_sample(problem, 0.01);
  std::vector<float> sum(problem.count);
  for (problem.rank = 0; problem.rank < ranks; ++problem.rank) {
    std::vector<float> in(problem.count);
    make_sketch_sample(problem, 0.01)->fill(7, in.data());
    std::transform(sum.begin(), sum.end(), in.begin(), sum.begin(), std::plus<>());
  }
  EXPECT_EQ(sample->wrong_results(7, sum.data()), 0u);
  EXPECT_LT(sample->relative_error(7, sum.data()), 1e-6);
  EXPECT_GT(sample->relative_error(8, sum.data()), 0.5) << "of another iteration";
  for (auto& element : sum) {
    element *= 1.01f;
  }
  EXPECT_NEAR(sample->relative_error(7, sum.data()), 0.01, 1e-5);
  sum[3] += 0.05f;
  EXPECT_EQ(sample->wrong_results(7, sum.data()), 1u);
}

TEST(Sample, OfSketchesIsWrongWhereNothingWasWritten) {
  Problem problem{ElementType::f32, Operator::sum, 1000, 1, 2};
  SketchOptions quantiles;
  quantiles.kind = SketchKind::quantiles;
  const auto sample = make_sketch_sample(problem, sketch_slack(quantiles, problem));
  std::vector<float> result(problem.count);
  EXPECT_EQ(sample->wrong_results(0, result.data()), problem.count) << "zeros";
  std::memset(result.data(), 0xa5, result.size() * sizeof(float));
  EXPECT_EQ(sample->wrong_results(0, result.data()), problem.count) << "untouched";
  sample->fill(0, result.data());
  EXPECT_EQ(sample->wrong_results(0, result.data()), problem.count) << "its own gradient";
}

TEST(Sample, OfMatricesIsWrongAsAWhole) {
  constexpr LowRank shape = {20, 50, 2};
  Problem problem{ElementType::f32, Operator::sum, shape.rows * shape.columns, 0, 3};
  const auto sample = make_matrix_sample(problem, shape, 0.02);
  std::vector<float> sum(problem.count);
  for (problem.rank = 0; problem.rank < problem.world_size; ++problem.rank) {
    std::vector<float> in(problem.count);
    make_matrix_sample(problem, shape, 0.02)->fill(7, in.data());
    std::transform(sum.begin(), sum.end(), in.begin(), sum.begin(), std::plus<>());
  }
  EXPECT_LT(sample->relative_error(7, sum.data()), 1e-6);
  EXPECT_GT(sample->relative_error(8, sum.data()), 0.5) << "of another iteration";
  // All minors of three rows and columns of a matrix of rank two are zero.
  const auto at = [&](std::size_t i, std::size_t j) {
    return static_cast<double>(sum[(3 * i + 1) * shape.columns + 7 * j]);
  };
  double minor = 0;
  double magnitude = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto forth = at(0, i) * at(1, (i + 1) % 3) * at(2, (i + 2) % 3);
    const auto back = at(0, i) * at(1, (i + 2) % 3) * at(2, (i + 1) % 3);
    minor += forth - back;
    magnitude += std::abs(forth) + std::abs(back);
  }
  EXPECT_LT(std::abs(minor), 1e-5 * magnitude);
  EXPECT_EQ(sample->wrong_results(7, sum.data()), 0u);
  for (auto& element : sum) {
    element *= 1.03f;
  }
  EXPECT_EQ(sample->wrong_results(7, sum.data()), problem.count);
}

std::vector<float> sum_of_matrices(Problem problem, const LowRank& shape) {
  std::vector<float> sum(problem.count);
  for (problem.rank = 0; problem.rank < problem.world_size; ++problem.rank) {
    std::vector<float> in(problem.count);
    make_matrix_sample(problem, shape, 1)->fill(0, in.data());
    std::transform(sum.begin(), sum.end(), in.begin(), sum.begin(), std::plus<>());
  }
  return sum;
}

TEST(Sample, OfMatricesIsWrongWhereNothingWasWritten) {
  constexpr LowRank shape = {20, 50, 2};
  for (const std::uint32_t ranks : {2u, 4u, 64u}) {
    Problem problem{ElementType::f32, Operator::sum, shape.rows * shape.columns, 1, ranks};
    for (const unsigned bits : {4u, 8u, 16u}) {
      if (bits == 4 && ranks == 64) {
        continue;  // fewer than one level each
      }
      SCOPED_TRACE(testing::Message() << ranks << " ranks, " << bits << " bits");
      SketchOptions sketch;
      sketch.bits = bits;
      const auto sample = make_matrix_sample(problem, shape, matrix_slack(sketch, problem));
      std::vector<float> result(problem.count);
      EXPECT_EQ(sample->wrong_results(0, result.data()), problem.count) << "zeros";
      std::memset(result.data(), 0xa5, result.size() * sizeof(float));
      EXPECT_EQ(sample->wrong_results(0, result.data()), problem.count) << "untouched";
      sample->fill(0, result.data());
      EXPECT_EQ(sample->wrong_results(0, result.data()), problem.count) << "its own matrix";
      const auto sum = sum_of_matrices(problem, shape);
      EXPECT_EQ(sample->wrong_results(0, sum.data()), 0u);
    }
  }
}

TEST(Sample, OfMatricesMayBeOffByWhatWasMeasured) {
  const auto slack = [](std::uint32_t ranks, unsigned bits, std::size_t count) {
    SketchOptions sketch;
    sketch.bits = bits;
    return matrix_slack(sketch, Problem{ElementType::f32, Operator::sum, count, 0, ranks});
  };
  EXPECT_EQ(slack(4, 32, 4096), 1e-4);
  EXPECT_LT(slack(2, 16, 4096), 0.1);
  EXPECT_LT(slack(4, 16, 4096), 0.25);
  for (const std::uint32_t ranks : {2u, 4u, 8u, 16u}) {
    EXPECT_LT(slack(ranks, 8, 4096), 1) << ranks;
  }
  EXPECT_LT(slack(4, 8, 9), 1) << "nine elements";
  EXPECT_GT(slack(64, 8, 4096), 1.7) << "of one level";
}

}  // namespace
}  // namespace tributary::bench
