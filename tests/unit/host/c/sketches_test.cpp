// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/c/tributary.h"
#include "world.h"

namespace tributary::host::test {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t sketch_world = 3;
constexpr std::size_t sketched_count = 5000;

struct DestroySketch {
  void operator()(tributary_sketch* sketch) const { tributary_sketch_destroy(sketch); }
};
using CSketch = std::unique_ptr<tributary_sketch, DestroySketch>;

CSketch c_sketch(const tributary_sketch_options* options = nullptr) {
  tributary_sketch* sketch = nullptr;
  EXPECT_EQ(tributary_sketch_create(&sketch, sketched_count, options), TRIBUTARY_SUCCESS)
      << tributary_last_error();
  return CSketch(sketch);
}

std::vector<float> c_gradient(std::uint32_t rank) {
  std::vector<float> values(sketched_count);
  for (std::size_t i = 0; i < sketched_count; ++i) {
    values[i] = std::sin(static_cast<float>(i * (rank + 1)));
  }
  return values;
}

TEST(CSketches, ASumIsNearAndTheRestIsKeptBack) {
  std::vector<std::vector<float>> sums(sketch_world);
  run_c_world(sketch_world, [&](tributary_comm* comm) {
    const auto rank = tributary_comm_rank(comm);
    const auto in = c_gradient(rank);
    auto& out = sums[rank];
    out.resize(sketched_count);
    const auto sketch = c_sketch();
    ASSERT_EQ(
        tributary_sketched_allreduce(comm, in.data(), out.data(), sketched_count, sketch.get()),
        TRIBUTARY_SUCCESS)
        << tributary_last_error();
    const auto* const residual = tributary_sketch_residual(sketch.get());
    ASSERT_NE(residual, nullptr);
    // 42 units on either side of 0 with three ranks.
    constexpr float unit = 1.01f / 42;
    for (std::size_t i = 0; i < sketched_count; ++i) {
      float exact = 0;
      for (std::uint32_t of = 0; of < sketch_world; ++of) {
        exact += std::sin(static_cast<float>(i * (of + 1)));
      }
      ASSERT_NEAR(out[i], exact, sketch_world * unit);
      ASSERT_LE(std::abs(residual[i]), unit);
    }
  });
  EXPECT_EQ(sums[0], sums[1]);
  EXPECT_EQ(sums[0], sums[2]);
}

TEST(CSketches, OptionsAreThoseOfTheSketch) {
  run_c_world(2, [](tributary_comm* comm) {
    const tributary_sketch_options options{TRIBUTARY_SKETCH_QUANTILES, 4, TRIBUTARY_ROUND_NEAREST,
                                           0, 7};
    const auto sketch = c_sketch(&options);
    EXPECT_EQ(tributary_sketch_residual(sketch.get()), nullptr);
    auto inout = c_gradient(tributary_comm_rank(comm));
    tributary_request* request = nullptr;
    ASSERT_EQ(tributary_isketched_allreduce(comm, inout.data(), inout.data(), sketched_count,
                                            sketch.get(), &request),
              TRIBUTARY_SUCCESS);
    ASSERT_EQ(tributary_wait(&request), TRIBUTARY_SUCCESS) << tributary_last_error();
    std::uint64_t bytes = 0;
    ASSERT_EQ(tributary_comm_statistic(comm, "sketch_bytes_of_floats", &bytes), TRIBUTARY_SUCCESS);
    EXPECT_EQ(bytes, sketched_count * sizeof(float));
  });
}

TEST(CSketches, AMatrixGoesAsItsFactors) {
  std::vector<std::vector<float>> sums(sketch_world);
  run_c_world(sketch_world, [&](tributary_comm* comm) {
    const auto rank = tributary_comm_rank(comm);
    tributary_sketch_options options = TRIBUTARY_SKETCH_DEFAULTS;
    options.bits = 32;
    tributary_sketch* made = nullptr;
    ASSERT_EQ(tributary_sketch_create_low_rank(&made, 50, 100, 2, &options), TRIBUTARY_SUCCESS);
    const CSketch sketch(made);
    auto& inout = sums[rank];
    for (std::size_t i = 0; i < sketched_count; ++i) {
      inout.push_back(static_cast<float>(i / 100 * (i % 100) + rank));
    }
    ASSERT_EQ(tributary_sketched_allreduce(comm, inout.data(), inout.data(), sketched_count,
                                           sketch.get()),
              TRIBUTARY_SUCCESS)
        << tributary_last_error();
    for (std::size_t i = 0; i < sketched_count; ++i) {
      ASSERT_NEAR(inout[i], static_cast<float>(3 * (i / 100) * (i % 100) + 3), 0.05) << i;
    }
    std::uint64_t bytes = 0;
    ASSERT_EQ(tributary_comm_statistic(comm, "sketch_bytes", &bytes), TRIBUTARY_SUCCESS);
    EXPECT_EQ(bytes, (50 + 100) * 2 * sizeof(float));
  });
  EXPECT_EQ(sums[0], sums[1]);
  EXPECT_EQ(sums[0], sums[2]);
}

// A unit of the second layer is greater than all of the first one.
TEST(CSketches, LayersHaveUnitsOfTheirOwn) {
  run_c_world(2, [](tributary_comm* comm) {
    constexpr std::size_t layers[] = {10, 600};
    tributary_sketch* made = nullptr;
    ASSERT_EQ(tributary_sketch_create_layers(&made, layers, 2, nullptr), TRIBUTARY_SUCCESS);
    const CSketch sketch(made);
    std::vector<float> inout(610, 1000);
    std::fill_n(inout.begin(), 10, 0.25f);
    ASSERT_EQ(
        tributary_sketched_allreduce(comm, inout.data(), inout.data(), inout.size(), sketch.get()),
        TRIBUTARY_SUCCESS)
        << tributary_last_error();
    EXPECT_NEAR(inout[9], 0.5, 0.01);
    EXPECT_NEAR(inout[10], 2000, 40);
    std::uint64_t bytes = 0;
    ASSERT_EQ(tributary_comm_statistic(comm, "sketch_bytes", &bytes), TRIBUTARY_SUCCESS);
    EXPECT_EQ(bytes, 610 + 2 * (1 + 2 + 4)) << "there is nothing between layers";
  });
}

TEST(CSketches, ASketchMayEndBeforeItsCollectives) {
  run_c_world(2, [](tributary_comm* comm) {
    std::vector<std::vector<float>> vectors(5, c_gradient(tributary_comm_rank(comm)));
    std::vector<tributary_request*> requests(vectors.size());
    auto sketch = c_sketch();
    for (std::size_t i = 0; i < vectors.size(); ++i) {
      ASSERT_EQ(tributary_isketched_allreduce(comm, vectors[i].data(), vectors[i].data(),
                                              sketched_count, sketch.get(), &requests[i]),
                TRIBUTARY_SUCCESS);
    }
    sketch.reset();
    for (auto& request : requests) {
      ASSERT_EQ(tributary_wait(&request), TRIBUTARY_SUCCESS) << tributary_last_error();
    }
  });
}

// Its buffer belongs to the caller again at once, so it must not be read when its turn comes.
TEST(CSketches, OneThatWasGivenUpBeforeItsTurnLeavesItsBufferAlone) {
  run_c_world(2, [&](tributary_comm* comm) {
    const auto sketch = c_sketch();
    auto values = c_gradient(tributary_comm_rank(comm));
    tributary_request* request = nullptr;
    ASSERT_EQ(tributary_group_begin(comm), TRIBUTARY_SUCCESS);
    ASSERT_EQ(tributary_isketched_allreduce(comm, values.data(), values.data(), sketched_count,
                                            sketch.get(), &request),
              TRIBUTARY_SUCCESS);
    ASSERT_EQ(tributary_request_deadline(request, 0), TRIBUTARY_SUCCESS);
    EXPECT_EQ(tributary_wait(&request), TRIBUTARY_TIMEOUT);
    const std::vector<float> others(sketched_count, 1e30f);
    values = others;
    ASSERT_EQ(tributary_group_end(comm), TRIBUTARY_SUCCESS);
    ASSERT_EQ(tributary_barrier(comm), TRIBUTARY_SUCCESS) << tributary_last_error();
    EXPECT_EQ(values, others);
    const auto* const residual = tributary_sketch_residual(sketch.get());
    EXPECT_EQ(std::vector<float>(residual, residual + sketched_count),
              std::vector<float>(sketched_count, 0));
  });
}

TEST(CSketches, WhatMakesNoSenseIsRefused) {
  tributary_sketch* sketch = nullptr;
  tributary_sketch_options options = TRIBUTARY_SKETCH_DEFAULTS;
  EXPECT_EQ(tributary_sketch_create(nullptr, sketched_count, nullptr), TRIBUTARY_INVALID_ARGUMENT);
  options.kind = 2;
  EXPECT_EQ(tributary_sketch_create(&sketch, sketched_count, &options), TRIBUTARY_INVALID_ARGUMENT);
  EXPECT_THAT(tributary_last_error(), HasSubstr("no kind of sketches 2"));
  options = TRIBUTARY_SKETCH_DEFAULTS;
  options.rounding = 3;
  EXPECT_EQ(tributary_sketch_create(&sketch, sketched_count, &options), TRIBUTARY_INVALID_ARGUMENT);
  EXPECT_EQ(sketch, nullptr);
  sketch = reinterpret_cast<tributary_sketch*>(&options);  // what was in the place is gone
  EXPECT_EQ(tributary_sketch_create_low_rank(&sketch, SIZE_MAX / 2, 3, 1, nullptr),
            TRIBUTARY_INVALID_ARGUMENT);
  EXPECT_THAT(tributary_last_error(), HasSubstr("too great"));
  EXPECT_EQ(sketch, nullptr);
  const std::size_t too_long[] = {SIZE_MAX, 2};
  EXPECT_EQ(tributary_sketch_create_layers(&sketch, too_long, 2, nullptr),
            TRIBUTARY_INVALID_ARGUMENT);
  EXPECT_THAT(tributary_last_error(), HasSubstr("too great"));
  const std::size_t layers[] = {3, 2};
  EXPECT_EQ(tributary_sketch_create_layers(&sketch, nullptr, 2, nullptr),
            TRIBUTARY_INVALID_ARGUMENT);
  options = TRIBUTARY_SKETCH_DEFAULTS;
  options.kind = TRIBUTARY_SKETCH_QUANTILES;
  EXPECT_EQ(tributary_sketch_create_layers(&sketch, layers, 2, &options),
            TRIBUTARY_INVALID_ARGUMENT);
  EXPECT_THAT(tributary_last_error(), HasSubstr("a sketch of its own"));
  EXPECT_EQ(sketch, nullptr);
  tributary_sketch_destroy(sketch);
  run_c_world(2, [](tributary_comm* comm) {
    std::vector<float> values(sketched_count, 1);
    EXPECT_EQ(
        tributary_sketched_allreduce(comm, values.data(), values.data(), sketched_count, nullptr),
        TRIBUTARY_INVALID_ARGUMENT);
    tributary_sketch_options five_bits = TRIBUTARY_SKETCH_DEFAULTS;
    five_bits.bits = 5;
    EXPECT_EQ(tributary_sketched_allreduce(comm, values.data(), values.data(), sketched_count,
                                           c_sketch(&five_bits).get()),
              TRIBUTARY_INVALID_ARGUMENT);
    EXPECT_THAT(tributary_last_error(), HasSubstr("5 bits"));
    EXPECT_EQ(tributary_sketched_allreduce(comm, values.data(), values.data(), sketched_count - 1,
                                           c_sketch().get()),
              TRIBUTARY_INVALID_ARGUMENT);
    const auto sketch_of_all = c_sketch();
    EXPECT_EQ(tributary_sketched_allreduce(comm, values.data(), values.data(), sketched_count,
                                           sketch_of_all.get()),
              TRIBUTARY_SUCCESS)
        << tributary_last_error();
    EXPECT_EQ(values.front(), 2);
  });
}

}  // namespace
}  // namespace tributary::host::test
