// SPDX-License-Identifier: BSD-3-Clause
#include "host/communicator.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <mutex>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "host/call_check.h"
#include "host/clock.h"
#include "loopback.h"
#include "ports.h"
#include "sparse_vectors.h"
#include "values.h"

// These tests use real sockets between addresses of the loopback interface.
namespace tributary::host::test {
namespace {

using wire::ElementType;
using wire::Operator;
using namespace std::chrono_literals;

CommunicatorOptions options_of(std::uint32_t rank, std::uint32_t world_size, std::uint16_t port) {
  auto options = options_on_loopback(rank, world_size, port);
  options.algorithm = "canary";  // the loopback has no switch that aggregates
  return options;
}

// Runs `body` as every rank, each in a thread with its own communicator, with options that `change`
// has changed.
void run_world(std::uint32_t world_size, const std::function<void(Communicator&)>& body,
               const std::function<void(CommunicatorOptions&)>& change = {}) {
  const auto port = next_ports();
  run_ranks(world_size, [=, &body, &change](std::uint32_t rank) {
    auto options = options_of(rank, world_size, port);
    if (change) {
      change(options);
    }
    auto communicator = Communicator::create(options);
    ASSERT_TRUE(communicator) << communicator.error().message;
    body(*communicator);
  });
}

void expect_reduced(Communicator& communicator, std::size_t count, bool ring) {
  const auto rank = communicator.rank();
  const auto in = input(rank, count, ElementType::f32, Operator::sum);
  Elements out(in.size());
  const auto done =
      ring ? communicator.ring_allreduce(in.data(), out.data(), count, ElementType::f32,
                                         Operator::sum)
           : communicator.allreduce(in.data(), out.data(), count, ElementType::f32, Operator::sum);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(wrong_elements(out, communicator.world_size(), count, ElementType::f32, Operator::sum),
            0u);
}

class Worlds : public testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Ranks, Worlds, testing::Values(1, 2, 3, 8));

TEST_P(Worlds, AllreduceOverSockets) {
  run_world(GetParam(), [](Communicator& communicator) {
    for (const std::size_t count : {0, 1, 351, 352, 353, 100003}) {
      expect_reduced(communicator, count, false);
    }
  });
}

TEST_P(Worlds, RingAllreduceOverSockets) {
  run_world(GetParam(), [](Communicator& communicator) {
    for (const std::size_t count : {0, 1, 5, 353, 300007}) {
      expect_reduced(communicator, count, true);
    }
  });
}

void expect_rooted(Communicator& communicator, std::size_t count, std::uint32_t root, bool ring) {
  const auto ranks = communicator.world_size();
  const auto in = input(communicator.rank(), count, ElementType::f32, Operator::sum);
  Elements out(in.size());
  const auto reduced = ring ? communicator.ring_reduce(in.data(), out.data(), count,
                                                       ElementType::f32, Operator::sum, root)
                            : communicator.reduce(in.data(), out.data(), count, ElementType::f32,
                                                  Operator::sum, root);
  ASSERT_TRUE(reduced) << reduced.error().message;
  const auto wrong = wrong_elements(out, ranks, count, ElementType::f32, Operator::sum);
  EXPECT_TRUE(communicator.rank() != root || wrong == 0);
  const auto sent = ring ? communicator.ring_broadcast(out.data(), count, ElementType::f32, root)
                         : communicator.broadcast(out.data(), count, ElementType::f32, root);
  ASSERT_TRUE(sent) << sent.error().message;
  EXPECT_EQ(wrong_elements(out, ranks, count, ElementType::f32, Operator::sum), 0u);
}

TEST_P(Worlds, ReduceAndBroadcastOverSockets) {
  run_world(GetParam(), [](Communicator& communicator) {
    for (const bool ring : {false, true}) {
      for (const std::size_t count : {0, 1, 353, 100007}) {
        for (const auto root : {0u, communicator.world_size() - 1}) {
          expect_rooted(communicator, count, root, ring);
        }
      }
    }
    EXPECT_TRUE(communicator.barrier());
    EXPECT_TRUE(communicator.ring_barrier());
  });
}

TEST_P(Worlds, AllgatherAndReduceScatterOverSockets) {
  run_world(GetParam(), [](Communicator& communicator) {
    const auto ranks = communicator.world_size();
    const auto rank = static_cast<std::int32_t>(communicator.rank());
    for (const std::size_t count : {0, 1, 1003}) {
      const std::vector<std::int32_t> mine(count, rank - 7);
      std::vector<std::int32_t> all(count * ranks, 99);
      auto done = communicator.allgather(mine.data(), all.data(), count, ElementType::i32);
      ASSERT_TRUE(done) << done.error().message;
      std::vector<std::int32_t> part(count);
      done = communicator.reduce_scatter(all.data(), part.data(), count, ElementType::i32,
                                         Operator::sum);
      ASSERT_TRUE(done) << done.error().message;
      for (std::size_t i = 0; i < all.size(); ++i) {
        ASSERT_EQ(all[i], static_cast<std::int32_t>(i / count) - 7);
      }
      EXPECT_EQ(part, std::vector(count, (rank - 7) * static_cast<std::int32_t>(ranks)));
    }
    EXPECT_FALSE(communicator.allgather(nullptr, nullptr, host::elements_max, ElementType::f64));
    EXPECT_FALSE(communicator.allgather(nullptr, nullptr, 1, ElementType::f64));
    // More bytes than a vector can have.
    const auto most = host::elements_max / communicator.world_size();
    EXPECT_FALSE(
        communicator.reduce_scatter(nullptr, nullptr, most, ElementType::f64, Operator::sum));
  });
}

TEST(Communicator, AnAbortEndsTheCollectiveThatIsRunning) {
  std::atomic<bool> over = false;
  run_world(2, [&](Communicator& communicator) {
    if (communicator.rank() == 1) {
      over.wait(false);  // is there, but not in it
      return;
    }
    std::jthread other([&communicator] {
      std::this_thread::sleep_for(50ms);
      communicator.abort();
    });
    std::vector<float> elements(10'000);
    const auto done = communicator.allreduce(std::span(elements));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Error::Code::aborted) << done.error().message;
    const auto later = communicator.barrier();
    ASSERT_FALSE(later);
    EXPECT_EQ(later.error().code, Error::Code::aborted) << later.error().message;
    over = true;
    over.notify_all();
  });
}

// Pairs are wider than any integer, and have no sum.
TEST(Communicator, BroadcastPairsOverSockets) {
  run_world(3, [](Communicator& communicator) {
    for (const bool ring : {false, true}) {
      std::vector<reduce::indexed<double>> pairs(1001);
      if (communicator.rank() == 1) {
        for (std::size_t i = 0; i < pairs.size(); ++i) {
          pairs[i] = {static_cast<double>(i) / -8, static_cast<std::int32_t>(i * 3)};
        }
      }
      const auto done =
          ring ? communicator.ring_broadcast(pairs.data(), pairs.size(), ElementType::f64_i32, 1)
               : communicator.broadcast(std::span(pairs), 1);
      ASSERT_TRUE(done) << done.error().message;
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        const reduce::indexed<double> expected{static_cast<double>(i) / -8,
                                               static_cast<std::int32_t>(i * 3)};
        ASSERT_EQ(pairs[i], expected) << i;
      }
    }
  });
}

TEST_P(Worlds, SparseAllreduceOverSockets) {
  run_world(GetParam(), [](Communicator& communicator) {
    const auto ranks = communicator.world_size();
    for (const std::size_t count : {0, 1, 5, 100003}) {
      for (const std::uint32_t permille : {0, 10, 300, 1000}) {
        const SparseVectors vectors(ranks, count, ElementType::f32, drawn(permille));
        const auto mine = vectors.of(communicator.rank());
        const auto sum = communicator.sparse_allreduce(mine.indices, mine.values, count,
                                                       ElementType::f32, Operator::sum);
        ASSERT_TRUE(sum) << sum.error().message;
        EXPECT_EQ(expanded(*sum), vectors.sum());
      }
    }
    EXPECT_EQ(communicator.statistics()["collectives_by_ring"], ranks == 1 ? 0 : 12u);
  });
}

TEST(Communicator, SparseAllreduceOfWhatIsSelected) {
  run_world(2, [](Communicator& communicator) {
    ErrorFeedback<float> feedback(4);
    const std::vector<std::vector<float>> inputs = {{1, 5, 0, 2}, {3, 1, 0, 2}};
    const auto& in = inputs[communicator.rank()];
    const std::vector<std::vector<float>> sums = {{3, 5, 0, 0}, {0, 5, 0, 4}, {6, 0, 0, 6}};
    for (const auto& expected : sums) {
      const auto sum = communicator.sparse_allreduce(in, TopK{1}, feedback);
      ASSERT_TRUE(sum) << sum.error().message;
      std::vector<float> out(4);
      sum->expand(out);
      EXPECT_EQ(out, expected);
    }
  });
}

// The next call tells the other ranks that this rank refused a call.
TEST(Communicator, ASparseAllreduceThatOneRankRefusesIsNoLaterOne) {
  run_world(2, [](Communicator& communicator) {
    const std::vector<std::uint32_t> unsorted = {5, 2};
    const std::vector<std::int32_t> values = {1, 2};
    if (communicator.rank() == 1) {
      const auto refused =
          communicator.sparse_allreduce(std::span(unsorted), std::span(values), 64);
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code, Error::Code::invalid_argument);
    }
    ErrorFeedback<float> feedback(64);
    const std::vector<float> in(64, 1.5f);
    const auto sum = communicator.sparse_allreduce(in, TopK{8}, feedback);
    ASSERT_FALSE(sum);
    EXPECT_EQ(sum.error().code, Error::Code::mismatch);
    EXPECT_EQ(std::vector<float>(feedback.residual().begin(), feedback.residual().end()), in);
  });
}

// Ranks are created within the stall timeout, too.
void be_patient(CommunicatorOptions& options) {
  options.deadline.reset();
  options.stall_timeout = 3s;
  options.late_timeout = 60s;
}

TEST(Communicator, WaitsForARankThatIsLateButThere) {
  run_world(
      3,
      [](Communicator& communicator) {
        ASSERT_TRUE(communicator.barrier());
        if (communicator.rank() == 2) {
          std::this_thread::sleep_for(4s);
        }
        expect_reduced(communicator, 100003, false);
      },
      be_patient);
}

TEST(Communicator, WaitsForNobodyWhoIsGoneHoweverFarAway) {
  constexpr std::uint32_t ranks = 8;
  for (const bool ring : {false, true}) {
    std::barrier all_gave_up(ranks - 1);
    run_world(
        ranks,
        [&, ring](Communicator& communicator) {
          ASSERT_TRUE(communicator.ring_barrier());
          if (communicator.rank() == ranks - 1) {
            return;
          }
          const auto began = host::Clock::now();
          float inout = 1;
          EXPECT_FALSE(
              ring ? communicator.ring_allreduce(&inout, &inout, 1, ElementType::f32, Operator::sum)
                   : communicator.allreduce(&inout, &inout, 1, ElementType::f32, Operator::sum));
          EXPECT_LT(host::Clock::now() - began, 30s);
          all_gave_up.arrive_and_wait();  // their communicators are still there
        },
        be_patient);
  }
}

// The same holds for other calls.
void expect_no_later_one(
    const std::function<Result<void>(Communicator& communicator, float* inout)>& call,
    const std::function<void(CommunicatorOptions&)>& change = {}) {
  run_world(
      2,
      [&](Communicator& communicator) {
        if (communicator.rank() == 1) {
          const auto refused = call(communicator, nullptr);
          ASSERT_FALSE(refused);
          EXPECT_EQ(refused.error().code, Error::Code::invalid_argument);
        }
        std::vector<float> values(64, 1.5f);
        const auto done = call(communicator, values.data());
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().code, Error::Code::mismatch);
      },
      change);
}

TEST(Communicator, ACallByTheRingThatOneRankRefusesIsNoLaterOne) {
  expect_no_later_one([](Communicator& communicator, float* inout) {
    return communicator.ring_allreduce(inout, inout, 64, ElementType::f32, Operator::sum);
  });
  expect_no_later_one([](Communicator& communicator, float* inout) {
    return communicator.ring_broadcast(inout, 64, ElementType::f32, 0);
  });
}

TEST(Communicator, ACountThatOneRankRefusesIsNoLaterCall) {
  const auto by_ring = [](CommunicatorOptions& options) { options.algorithm = "ring"; };
  const auto count_of = [](const float* in, std::size_t impossible) {
    return in == nullptr ? impossible : std::size_t{64};
  };
  expect_no_later_one(
      [&](Communicator& communicator, float* in) {
        std::vector<float> all(128);
        const auto count = count_of(in, host::elements_max);
        return communicator.allgather(in, all.data(), count, ElementType::f32);
      },
      by_ring);
  expect_no_later_one(
      [&](Communicator& communicator, float* inout) {
        const auto count = count_of(inout, host::elements_max + 1);
        return communicator.allreduce(inout, inout, count, ElementType::f32, Operator::sum);
      },
      by_ring);
}

TEST(Communicator, AReproducibleProductThatOneRankRefusesIsNoLaterOne) {
  expect_no_later_one(
      [](Communicator& communicator, float* inout) {
        return communicator.allreduce(inout, inout, 64, ElementType::f32, Operator::prod);
      },
      [](CommunicatorOptions& options) { options.reproducible = true; });
}

// Others may have made the call, and found nothing to do.
TEST(Communicator, AnEmptyCallThatIsRefusedCountsForNothing) {
  run_world(2, [](Communicator& communicator) {
    const auto nobodys = wire::handler_operator(63);
    EXPECT_TRUE(communicator.rank() == 0 ||
                !communicator.ring_allreduce(nullptr, nullptr, 0, ElementType::f32, nobodys));
    expect_reduced(communicator, 64, true);
  });
}

TEST_P(Worlds, SketchedAllreduceOverSockets) {
  run_world(GetParam(), [](Communicator& communicator) {
    const auto ranks = communicator.world_size();
    for (const std::size_t count : {0, 1, 5, 100003}) {
      for (const auto rounding : {Rounding::stochastic, Rounding::nearest}) {
        GradientSketch sketch(count, {SketchKind::grid, 16, rounding});
        std::vector<float> in(count);
        for (std::size_t i = 0; i < count; ++i) {
          const bool has_bound = i % 512 == 0;
          in[i] = has_bound ? static_cast<float>(32767 / ranks)
                            : static_cast<float>((i + communicator.rank()) % 100) - 50.0f;
        }
        std::vector<float> out(count);
        const auto done = communicator.sketched_allreduce(in, out, sketch);
        ASSERT_TRUE(done) << done.error().message;
        for (std::size_t i = 0; i < count; ++i) {
          float expected = 0;
          for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            expected += i % 512 == 0 ? in[i] : static_cast<float>((i + rank) % 100) - 50.0f;
          }
          // A unit is 1, and a little more where the bound was rounded up.
          ASSERT_NEAR(out[i], expected, ranks == 1 ? 0 : 1.01f * static_cast<float>(ranks)) << i;
        }
      }
    }
    const auto statistics = communicator.statistics();
    const auto elements = ranks == 1 ? 0 : 2u * (1 + 5 + 100003);
    EXPECT_EQ(statistics["collectives_by_canary"], ranks == 1 ? 0 : 6u);
    EXPECT_EQ(statistics["sketch_bytes_of_floats"], 4u * elements);
    EXPECT_EQ(statistics["sketch_bytes"], ranks == 1 ? 0 : 2 * elements + 2 * 2 * (1 + 1 + 196));
  });
}

TEST(Communicator, SketchedAllreduceByQuantilesAndInPlace) {
  run_world(3, [](Communicator& communicator) {
    GradientSketch sketch(4, {SketchKind::quantiles, 2, Rounding::stochastic});
    std::vector<float> inout = {1, 2, 3, static_cast<float>(communicator.rank())};
    const auto done = communicator.sketched_allreduce(inout, sketch);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(inout, (std::vector<float>{3, 6, 9, 3})) << "as many values as codes";
  });
}

// Element (i, j) is a sum of two products, so that all sums have rank two.
std::vector<float> matrix_of(std::uint32_t rank, const LowRank& shape) {
  std::vector<float> matrix(shape.rows * shape.columns);
  for (std::size_t i = 0; i < shape.rows; ++i) {
    for (std::size_t j = 0; j < shape.columns; ++j) {
      const auto row = static_cast<float>(i % 7 + rank);
      matrix[i * shape.columns + j] = row * static_cast<float>(j % 5) - static_cast<float>(i % 3);
    }
  }
  return matrix;
}

TEST_P(Worlds, SketchedAllreduceOfMatricesOverSockets) {
  std::vector<std::vector<float>> sums(GetParam());
  for (const bool reproducible : {false, true}) {
    run_world(
        GetParam(),
        [&](Communicator& communicator) {
          const auto ranks = communicator.world_size();
          constexpr LowRank shape = {120, 300, 3};
          for (const unsigned bits : {16u, 32u}) {
            GradientSketch sketch(shape, {SketchKind::grid, bits});
            auto sum = matrix_of(communicator.rank(), shape);
            const auto done = communicator.sketched_allreduce(sum, sketch);
            ASSERT_TRUE(done) << done.error().message;
            std::vector<float> expected(sum.size());
            for (std::uint32_t rank = 0; rank < ranks; ++rank) {
              const auto of_rank = matrix_of(rank, shape);
              std::transform(expected.begin(), expected.end(), of_rank.begin(), expected.begin(),
                             std::plus<>());
            }
            for (std::size_t i = 0; i < sum.size(); ++i) {
              ASSERT_NEAR(sum[i], expected[i], bits == 32 ? 1e-2 : 1) << bits << ' ' << i;
            }
            sums[communicator.rank()] = std::move(sum);
          }
          const auto statistics = communicator.statistics();
          const auto factors = ranks == 1 ? 0u : 3u * (120 + 300);
          EXPECT_EQ(statistics["sketch_bytes_of_floats"], ranks == 1 ? 0u : 2u * 4 * 120 * 300);
          EXPECT_EQ(statistics["sketch_bytes"], (2 + 4) * factors + (ranks == 1 ? 0 : 2 * (1 + 2)));
        },
        [&](CommunicatorOptions& options) { options.reproducible = reproducible; });
    for (const auto& sum : sums) {
      EXPECT_EQ(sum, sums[0]) << "all ranks have the same bits";
    }
  }
}

TEST(Communicator, ASketchedAllreduceThatOneRankRefusesIsNoLaterOne) {
  run_world(
      2,
      [](Communicator& communicator) {
        std::vector<float> values(64, 1.5f);
        if (communicator.rank() == 1) {
          GradientSketch of_others(65);
          const auto refused = communicator.sketched_allreduce(values, of_others);
          ASSERT_FALSE(refused);
          EXPECT_EQ(refused.error().code, Error::Code::invalid_argument);
        }
        GradientSketch sketch(64);
        EXPECT_EQ(communicator.sketched_allreduce(values, sketch).has_value(), false);
        EXPECT_EQ(std::vector<float>(sketch.residual().begin(), sketch.residual().end()), values);
      },
      [](CommunicatorOptions& options) { options.algorithm = "ring"; });
}

TEST(Communicator, ASketchedAllreduceOfAnEmptyVectorIsNoLaterOneEither) {
  run_world(
      2,
      [](Communicator& communicator) {
        std::vector<float> values(64, 1.5f);
        GradientSketch sketch(64);
        if (communicator.rank() == 1) {
          EXPECT_FALSE(communicator.sketched_allreduce(std::span<float>(), sketch));
        }
        EXPECT_FALSE(communicator.sketched_allreduce(values, sketch));
      },
      [](CommunicatorOptions& options) { options.algorithm = "ring"; });
}

// Chunks and elements are as many on both ranks.
TEST(Communicator, SketchesOfOtherLayersAreAMismatchOnAllRanks) {
  run_world(2, [](Communicator& communicator) {
    const std::vector<std::size_t> layers[] = {{300, 700}, {400, 600}};
    GradientSketch sketch(layers[communicator.rank()]);
    const std::vector<float> in(1000, 1.5f);
    std::vector<float> out(1000, 7.0f);
    const auto done = communicator.sketched_allreduce(in, out, sketch);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Error::Code::mismatch);
    EXPECT_EQ(out, std::vector<float>(1000, 7.0f));
    EXPECT_EQ(std::vector<float>(sketch.residual().begin(), sketch.residual().end()), in);
    GradientSketch of_all(layers[0], {.feedback = false});
    const auto next = communicator.sketched_allreduce(in, out, of_all);
    ASSERT_TRUE(next) << next.error().message;
    EXPECT_NEAR(out[350], 3.0f, 0.1f);
  });
}

TEST(Communicator, RefusesSketchesThatCannotBe) {
  auto alone = Communicator::create({});
  ASSERT_TRUE(alone);
  std::vector<float> values = {1.0f, 2.0f};
  const auto refused = [&](std::size_t count, const SketchOptions& options) {
    GradientSketch sketch(count, options);
    const auto done = alone->sketched_allreduce(values, sketch);
    return !done && done.error().code == Error::Code::invalid_argument;
  };
  EXPECT_TRUE(refused(3, {}));
  EXPECT_TRUE(refused(2, {SketchKind::grid, 2}));
  EXPECT_TRUE(refused(2, {SketchKind::grid, 0}));
  EXPECT_TRUE(refused(2, {SketchKind::quantiles, 16}));
  EXPECT_FALSE(refused(2, {SketchKind::quantiles, 2}));
  EXPECT_FALSE(refused(2, {}));
  EXPECT_TRUE(refused(2, {SketchKind::grid, 32})) << "only factors are floats";
  const auto refused_matrix = [&](const LowRank& matrix, const SketchOptions& options) {
    GradientSketch sketch(matrix, options);
    const auto done = alone->sketched_allreduce(values, sketch);
    return !done && done.error().code == Error::Code::invalid_argument;
  };
  EXPECT_TRUE(refused_matrix({1, 2, 0}, {}));
  EXPECT_TRUE(refused_matrix({1, 2, 2}, {}));
  EXPECT_TRUE(refused_matrix({2, 2, 1}, {})) << "of four elements";
  EXPECT_TRUE(refused_matrix({(std::size_t{1} << 63) + 1, 2, 1}, {})) << "of 2^64 + 2";
  EXPECT_TRUE(refused_matrix({1, 2, 1}, {SketchKind::quantiles, 8}));
  EXPECT_TRUE(refused_matrix({1, 2, 1}, {SketchKind::grid, 2}));
  EXPECT_FALSE(refused_matrix({1, 2, 1}, {SketchKind::grid, 32}));
  EXPECT_EQ(values, (std::vector<float>{1, 2})) << "a single rank rounds nothing";
}

TEST(Communicator, GivesWhatASketchHasKeptBackToASingleRank) {
  GradientSketch sketch(2);
  {
    auto aborted = Communicator::create({});
    ASSERT_TRUE(aborted);
    aborted->abort();
    std::vector<float> lost = {1.0f, 2.0f};
    EXPECT_FALSE(aborted->sketched_allreduce(lost, sketch));
    EXPECT_EQ(std::vector<float>(sketch.residual().begin(), sketch.residual().end()), lost);
  }
  auto alone = Communicator::create({});
  ASSERT_TRUE(alone);
  std::vector<float> values = {10.0f, 20.0f};
  EXPECT_TRUE(alone->sketched_allreduce(values, sketch));
  EXPECT_EQ(values, (std::vector<float>{11, 22}));
  EXPECT_EQ(sketch.rounds(), 1u);
  values = {-0.0f, 3.0f};
  EXPECT_TRUE(alone->sketched_allreduce(values, sketch));
  EXPECT_TRUE(std::signbit(values[0])) << "its own bits";
  EXPECT_EQ(values[1], 3.0f);
  GradientSketch empty(0);
  EXPECT_TRUE(alone->sketched_allreduce(std::span<float>(), empty));
  EXPECT_EQ(empty.rounds(), 0u) << "it does nothing";
}

// There are too many ranks for four bits.
TEST(Communicator, RefusesAGridOfWhichSumsHaveNoRoom) {
  run_world(8, [](Communicator& communicator) {
    std::vector<float> values = {1.0f, 2.0f};
    GradientSketch narrow(2, {SketchKind::grid, 4});
    EXPECT_EQ(communicator.sketched_allreduce(values, narrow).error().code,
              Error::Code::invalid_argument);
    GradientSketch wide(2);
    EXPECT_TRUE(communicator.sketched_allreduce(values, wide));
  });
}

TEST(Communicator, RefusesSparseVectorsThatCannotBe) {
  auto alone = Communicator::create({});
  ASSERT_TRUE(alone);
  const std::vector<std::uint32_t> indices = {1, 2};
  const std::vector<float> one = {1.0f};
  const auto uneven = alone->sparse_allreduce(std::span(indices), std::span(one), 4);
  EXPECT_EQ(uneven.error().code, Error::Code::invalid_argument);
  ErrorFeedback<float> feedback(3);
  const auto longer = alone->sparse_allreduce(one, TopK{1}, feedback);
  EXPECT_EQ(longer.error().code, Error::Code::invalid_argument);
  const SparseVector<float> vector{4, {1}, {2.0f}};
  EXPECT_EQ(alone->sparse_allreduce(vector, Operator::min).error().code,
            Error::Code::invalid_argument);
  EXPECT_EQ(alone->sparse_allreduce(vector)->indices, vector.indices);
  const SparseVector<float> dense{2, {}, {1.0f, 2.0f}};  // as a sum may come back
  EXPECT_EQ(alone->sparse_allreduce(dense)->values, dense.values);
}

TEST(Communicator, LateRankIsWaitedFor) {
  run_world(3, [](Communicator& communicator) {
    if (communicator.rank() == 1) {
      std::this_thread::sleep_for(300ms);
    }
    expect_reduced(communicator, 50000, false);
    if (communicator.rank() == 2) {
      std::this_thread::sleep_for(300ms);
    }
    expect_reduced(communicator, 50000, true);
  });
}

TEST(Communicator, BarrierWaitsForTheLast) {
  std::atomic<int> arrived = 0;
  run_world(4, [&](Communicator& communicator) {
    std::this_thread::sleep_for(communicator.rank() * 30ms);
    ++arrived;
    ASSERT_TRUE(communicator.barrier());
    EXPECT_EQ(arrived.load(), 4);
  });
}

TEST(Communicator, TwoAtOnce) {
  const auto port = next_ports();
  const auto other_port = next_ports();
  std::vector<std::jthread> threads;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    for (const auto place : {port, other_port}) {
      threads.emplace_back([=] {
        auto communicator = Communicator::create(options_of(rank, 3, place));
        ASSERT_TRUE(communicator) << communicator.error().message;
        for (int i = 0; i < 5; ++i) {
          expect_reduced(*communicator, 20011, false);
        }
        EXPECT_EQ(communicator->statistics()["ignored_foreign"], 0u);
      });
    }
  }
}

TEST(Communicator, MissingRankEndsInATimeoutThatNamesTheBlock) {
  const auto port = next_ports();
  run_ranks(3, [=](std::uint32_t rank) {
    auto options = options_of(rank, 3, port);
    options.deadline = 1s;
    auto communicator = Communicator::create(options);
    ASSERT_TRUE(communicator) << communicator.error().message;
    if (rank == 2) {
      std::this_thread::sleep_for(1500ms);
      return;
    }
    std::vector<float> values(5000);
    const auto done = communicator->allreduce(std::span(values));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Error::Code::timeout);
    const auto expected = "block " + std::to_string(rank) + " (led by rank " +
                          std::to_string(rank) + "): 1 of 2 contributions missing";
    EXPECT_NE(done.error().message.find(expected), std::string::npos) << done.error().message;
  });
}

class Notices {
 public:
  void add(const std::string& line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(line);
  }
  std::vector<std::string> lines() const { return lines_; }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

TEST(Communicator, WithoutASwitchTheRingIsUsedAndOneLineSaysSo) {
  Notices notices;
  run_world(
      3,
      [](Communicator& communicator) {
        EXPECT_EQ(communicator.algorithm(), "ring");
        EXPECT_EQ(communicator.job(), 77u);
        expect_reduced(communicator, 5000, false);
        EXPECT_TRUE(communicator.barrier());
        EXPECT_EQ(communicator.statistics()["collectives_by_ring"], 2u);
        EXPECT_EQ(communicator.statistics()["collectives_by_canary"], 0u);
      },
      [&](CommunicatorOptions& options) {
        options.algorithm = "auto";
        options.job = 77;
        options.on_notice = [&](const std::string& line) { notices.add(line); };
      });
  ASSERT_EQ(notices.lines().size(), 3u);  // on every rank
  for (const auto& line : notices.lines()) {
    EXPECT_EQ(
        line.find("job 77, 3 ranks: ring, the hosts reduce alone: no switch between the ranks "
                  "aggregates; put [switch.canary]"),
        0u)
        << line;
    EXPECT_EQ(line.find('\n'), std::string::npos);
  }
}

TEST(Communicator, CanaryCanBeForcedWithoutASwitch) {
  Notices notices;
  run_world(
      2,
      [](Communicator& communicator) {
        EXPECT_EQ(communicator.algorithm(), "canary");
        expect_reduced(communicator, 5000, false);
        EXPECT_EQ(communicator.statistics()["collectives_by_canary"], 1u);
      },
      [&](CommunicatorOptions& options) {
        options.on_notice = [&](const std::string& line) { notices.add(line); };
      });
  ASSERT_EQ(notices.lines().size(), 2u);
  EXPECT_NE(notices.lines()[0].find("canary without switches"), std::string::npos);
}

TEST(Communicator, FallbackCanBeAnError) {
  const auto port = next_ports();
  run_ranks(3, [=](std::uint32_t rank) {
    for (const auto* const algorithm : {"auto", "canary"}) {
      auto options = options_of(rank, 3, port);
      options.algorithm = algorithm;
      options.fallback = Fallback::error;
      const auto communicator = Communicator::create(options);
      ASSERT_FALSE(communicator);
      for (const auto* part : {"no switch", "[switch.canary]", "TRIBUTARY_FALLBACK=allow"}) {
        EXPECT_NE(communicator.error().message.find(part), std::string::npos)
            << communicator.error().message;
      }
    }
  });
}

// Numbers whose sum depends on the order; one of rank 1 is a NaN, if asked for.
std::vector<float> scattered(std::uint32_t rank, std::size_t count, bool with_nan = false) {
  std::mt19937 random(rank + 1);
  std::uniform_real_distribution<float> values(-1, 1);
  std::vector<float> floats(count);
  std::generate(floats.begin(), floats.end(), [&] { return values(random); });
  if (with_nan && rank == 1) {
    floats[count / 2] = std::numeric_limits<float>::quiet_NaN();
  }
  return floats;
}

std::vector<std::uint32_t> bits_of(const std::vector<float>& floats) {
  std::vector<std::uint32_t> bits(floats.size());
  std::memcpy(bits.data(), floats.data(), floats.size() * sizeof(float));
  return bits;
}

void reproducibly(CommunicatorOptions& options) {
  options.reproducible = true;
}

TEST_P(Worlds, ReproducibleSumsHaveTheSameBitsByEveryMeans) {
  run_world(
      GetParam(),
      [](Communicator& communicator) {
        EXPECT_TRUE(communicator.reproducible());
        for (const bool with_nan : {false, true}) {
          for (const std::size_t count : {1, 257, 50003}) {
            const auto in = scattered(communicator.rank(), count, with_nan);
            auto by_canary = in;
            auto by_ring = in;
            std::vector<float> rooted(count);
            ASSERT_TRUE(communicator.allreduce(std::span(by_canary)));
            ASSERT_TRUE(communicator.ring_allreduce(std::span(by_ring)));
            ASSERT_TRUE(communicator.reduce(std::span(in), std::span(rooted), 0));
            EXPECT_EQ(bits_of(by_canary), bits_of(by_ring)) << count;
            EXPECT_TRUE(communicator.rank() != 0 || bits_of(rooted) == bits_of(by_canary)) << count;
          }
        }
        const auto by_canary = communicator.world_size() == 1 ? 0u : 12u;
        EXPECT_EQ(communicator.statistics()["collectives_by_canary"], by_canary);
        EXPECT_EQ(communicator.statistics()["collectives_by_ring"], 0u);
      },
      reproducibly);
}

TEST(Communicator, ReducesEveryTypeReproducibly) {
  run_world(
      3,
      [](Communicator& communicator) {
        for (std::size_t t = 0; t < wire::element_type_count; ++t) {
          for (const auto op : {Operator::sum, Operator::min, Operator::prod, Operator::maxloc}) {
            const auto type = static_cast<ElementType>(t);
            if (!wire::is_valid(type, op)) {
              continue;
            }
            const auto in = input(communicator.rank(), 1001, type, op);
            Elements out(in.size());
            const auto done = communicator.allreduce(in.data(), out.data(), 1001, type, op);
            ASSERT_TRUE(done) << done.error().message;
            EXPECT_EQ(wrong_elements(out, 3, 1001, type, op), 0u)
                << wire::name(type) << ", " << wire::name(op);
          }
        }
      },
      reproducibly);
}

// The vector has one piece, and some elements of the next one.
TEST(Communicator, LongReproducibleSumsGoInPieces) {
  run_world(
      2,
      [](Communicator& communicator) {
        constexpr std::size_t count = (std::size_t{8} << 20) + 300;
        std::vector<float> values(count);
        for (std::size_t i = 0; i < count; ++i) {
          values[i] = static_cast<float>(i % 1000);
        }
        ASSERT_TRUE(communicator.ring_allreduce(std::span(values)));
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < count; ++i) {
          wrong += values[i] == 2 * static_cast<float>(i % 1000) ? 0 : 1;
        }
        EXPECT_EQ(wrong, 0u);
      },
      reproducibly);
}

// The others wait in its first step until they give up; then all are at the same number.
TEST(Communicator, AReproducibleSumThatOneRankRefusesIsNoPartOfTheNext) {
  std::barrier<> given_up(3);
  run_world(
      3,
      [&](Communicator& communicator) {
        const bool refuses = communicator.rank() == 1;
        auto values = scattered(communicator.rank(), 1000);
        auto* const data = refuses ? nullptr : values.data();
        const auto refused =
            communicator.allreduce(data, data, 1000, ElementType::f32, Operator::sum);
        EXPECT_FALSE(refused);
        given_up.arrive_and_wait();
        expect_reduced(communicator, 1000, false);
      },
      [](CommunicatorOptions& options) {
        options.reproducible = true;
        options.deadline = 2s;
      });
}

TEST(Communicator, RanksMustAgreeThatSumsAreReproducible) {
  const auto port = next_ports();
  run_ranks(2, [=](std::uint32_t rank) {
    auto options = options_of(rank, 2, port);
    options.reproducible = rank == 0;
    const auto communicator = Communicator::create(options);
    ASSERT_FALSE(communicator);
    EXPECT_NE(
        communicator.error().message.find("rank 1 does not ask for reproducible sums, rank 0 does"),
        std::string::npos)
        << communicator.error().message;
  });
}

TEST(Communicator, RanksMustAgreeThatHostsDouble) {
  const auto port = next_ports();
  run_ranks(2, [=](std::uint32_t rank) {
    auto options = options_of(rank, 2, port);
    options.set("doubling", rank == 0 ? "on" : "off");
    const auto communicator = Communicator::create(options);
    ASSERT_FALSE(communicator);
    EXPECT_EQ(communicator.error().code, Error::Code::rendezvous);
    EXPECT_NE(communicator.error().message.find("rank 1 and rank 0 differ in TRIBUTARY_DOUBLING"),
              std::string::npos)
        << communicator.error().message;
  });
}

TEST(Communicator, RanksMustAgreeOnTheJob) {
  const auto port = next_ports();
  run_ranks(2, [=](std::uint32_t rank) {
    auto options = options_of(rank, 2, port);
    options.job = 5 + rank;
    const auto communicator = Communicator::create(options);
    ASSERT_FALSE(communicator);
    EXPECT_NE(communicator.error().message.find("rank 1 was started with job 6, rank 0 with 5"),
              std::string::npos)
        << communicator.error().message;
  });
}

TEST(Communicator, IsNotDestroyedBeforeTheOthers) {
  std::atomic<int> arrived = 0;
  const auto port = next_ports();
  run_ranks(3, [=, &arrived](std::uint32_t rank) {
    {
      auto communicator = Communicator::create(options_of(rank, 3, port));
      ASSERT_TRUE(communicator) << communicator.error().message;
      expect_reduced(*communicator, 5000, false);
      std::this_thread::sleep_for(rank * 200ms);
      ++arrived;
    }
    EXPECT_EQ(arrived.load(), 3);
  });
}

// Neither a rank that keeps the others waiting nor one that is gone delays an end for long.
TEST(Communicator, DestructionEndsWithoutTheOthers) {
  const auto port = next_ports();
  run_ranks(3, [=](std::uint32_t rank) {
    auto start = Clock::now();
    {
      auto communicator = Communicator::create(options_of(rank, 3, port));
      ASSERT_TRUE(communicator) << communicator.error().message;
      expect_reduced(*communicator, 5000, false);
      std::this_thread::sleep_for(rank == 2 ? 4s : 0s);
      start = Clock::now();
    }
    EXPECT_LT(Clock::now() - start, rank == 2 ? 1s : 3s);
  });
}

TEST(Communicator, RefusesWhatCannotBe) {
  CommunicatorOptions options;
  options.rank = 3;
  options.world_size = 3;
  EXPECT_EQ(Communicator::create(options).error().code, Error::Code::invalid_argument);
  options.rank = 0;
  options.rendezvous = "nowhere";
  EXPECT_EQ(Communicator::create(options).error().code, Error::Code::invalid_argument);
  options = {};
  options.set("attempts", "16");
  EXPECT_EQ(Communicator::create(options).error().code, Error::Code::invalid_argument);
  options = {};
  options.algorithm = "ring";
  options.fallback = Fallback::error;
  EXPECT_EQ(Communicator::create(options).error().code, Error::Code::invalid_argument);
  options = {};
  options.algorithm = "tree";
  EXPECT_EQ(Communicator::create(options).error().message,
            "there is no algorithm 'tree', but auto, canary, panama, netreduce, roce-ring, flare, "
            "bcube, mesh, bcube-switches, mesh-switches or ring");
  options = {};
  options.set("tries", "3");
  const auto refused = Communicator::create(options).error().message;
  EXPECT_EQ(refused.find("there is no parameter 'tries', but report, timeline, "), 0u) << refused;

  auto alone = Communicator::create({});
  ASSERT_TRUE(alone);
  std::vector<float> values(8);
  EXPECT_EQ(alone->allreduce(values.data(), values.data() + 1, 4, ElementType::f32, Operator::sum)
                .error()
                .code,
            Error::Code::invalid_argument);
  EXPECT_EQ(alone->allreduce(values.data(), values.data(), 4, ElementType::f32, Operator::bit_xor)
                .error()
                .code,
            Error::Code::invalid_argument);
  EXPECT_EQ(alone->allreduce(values.data(), values.data(), 4, ElementType::f32_i32, Operator::max)
                .error()
                .code,
            Error::Code::invalid_argument);
  EXPECT_EQ(alone->reduce(values.data(), values.data(), 4, ElementType::f32, Operator::sum, 1)
                .error()
                .code,
            Error::Code::invalid_argument);
}

}  // namespace
}  // namespace tributary::host::test
