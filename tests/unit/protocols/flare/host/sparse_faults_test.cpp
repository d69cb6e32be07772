// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model_network.h"
#include "protocols/flare/host/sparse_collective.h"
#include "sparse_reduction.h"
#include "unit/host/sparse_vectors.h"
#include "unit/host/vectors.h"

// Tests faults in sparse allreduces.
namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;
using wire::ElementType;
using wire::Operator;

constexpr FlareModel::Options small_packets = {
    .ranks = 3, .payload_bytes = 128, .window = 16, .sparse_window = 4};

void expect_next_is_right(FlareModel& model) {
  model.on_wire = [](const FlareFlight&) { return 1; };
  const SparseVectors vectors(model.size(), 1500, ElementType::i32, drawn(60));
  SparseReduction reduction(model, vectors);
  reduction.begin_all();
  model.run();
  EXPECT_EQ(reduction.wrong(), 0u);
}

class SparseDisturbances : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Seeds, SparseDisturbances, testing::Range(0, 12));

TEST_P(SparseDisturbances, LossDuplicationReorderingAndForgettingChangeNothing) {
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  FlareModel model(small_packets);
  unsigned packets = 0;
  model.on_wire = [&](const FlareFlight&) -> unsigned {
    if (++packets % 150 == 0) {
      model.forget();
    }
    const auto drawn_number = random() % 100;
    return drawn_number < 10 ? 0 : drawn_number < 20 ? 2 : 1;
  };
  model.late = [&] { return random() % 10 == 0 ? FlareModel::delay * 8 : Duration{}; };
  for (const std::uint32_t permille : {5, 60, 500}) {
    const SparseVectors vectors(3, 1500, ElementType::i32, drawn(permille));
    SparseReduction reduction(model, vectors);
    reduction.begin_all();
    model.run();
    EXPECT_EQ(reduction.wrong(), 0u) << permille;
  }
  EXPECT_GT(model[0].statistics().retransmissions_sent, 0u);
}

TEST(FlareSparseFaults, EachShardThatIsLostIsSentAgain) {
  for (const bool up : {true, false}) {
    for (std::uint8_t shard = 0; shard < 3; ++shard) {
      FlareModel model(small_packets);
      bool lost = false;
      model.on_wire = [&](const FlareFlight& flight) -> unsigned {
        const bool victim = !lost && flight.is_sparse() && flight.up == up && flight.rank == 1 &&
                            flight.sparse_header().shard == shard;
        lost = lost || victim;
        return victim ? 0 : 1;
      };
      const SparseVectors vectors(3, 1500, ElementType::i32, drawn(900));
      SparseReduction reduction(model, vectors);
      reduction.begin_all();
      model.run();
      EXPECT_EQ(reduction.wrong(), 0u);
      EXPECT_TRUE(lost || shard > 0);
    }
  }
}

// No rank gets the whole result of the first edition.
TEST(FlareSparseFaults, AResultOfWhichTwoEditionsCameInPartIsOfOne) {
  FlareModel model(small_packets);
  const SparseVectors vectors(3, 768, ElementType::i32, [](std::uint32_t rank, std::size_t index) {
    return index % 3 == rank && index < 120;
  });
  std::uint64_t first = 0;
  bool forgot = false;
  model.on_wire = [&](const FlareFlight& flight) -> unsigned {
    if (!flight.is_sparse() || !flight.is_result()) {
      return 1;
    }
    const auto& header = flight.sparse_header();
    first = first == 0 ? header.edition.value() : first;
    return header.edition.value() == first && header.shard != 0 ? 0 : 1;
  };
  model.on_arrival = [&](const FlareFlight& flight) {
    if (flight.is_sparse() && flight.is_result() && !forgot) {
      forgot = true;
      model.forget();
    }
  };
  SparseReduction reduction(model, vectors);
  reduction.begin_all();
  model.run();
  EXPECT_TRUE(forgot);
  EXPECT_EQ(reduction.wrong(), 0u);
}

TEST(FlareSparseFaults, WhatIsNoResultIsNotTaken) {
  struct Case {
    const char* what;
    std::function<void(wire::FlareSparseHeader&)> change;
    Verdict verdict;
  };
  const Case cases[] = {
      {"job", [](auto& h) { h.job = 8; }, Verdict::foreign},
      {"kind", [](auto& h) { h.kind = wire::FlareKind::contribution; }, Verdict::foreign},
      {"run", [](auto& h) { h.run = h.run.value() + 1; }, Verdict::stale},
      {"block", [](auto& h) { h.block = 9; }, Verdict::early},
      {"type", [](auto& h) { h.element_type = ElementType::f32; }, Verdict::mismatch},
      {"workers", [](auto& h) { h.workers = h.contributions = 4; }, Verdict::mismatch},
      {"window", [](auto& h) { h.window = 8; }, Verdict::mismatch},
      {"span", [](auto& h) { h.span = h.span.value() + 1; }, Verdict::mismatch},
      {"full", [](auto& h) { h.full = 112; }, Verdict::mismatch},
      {"fingerprint", [](auto& h) { h.fingerprint = h.fingerprint.value() + 1; }, Verdict::taken},
      {"version", [](auto& h) { h.flags = 0x89; }, Verdict::malformed},
      {"contributions", [](auto& h) { h.contributions = 1; }, Verdict::malformed},
  };
  for (const auto& one : cases) {
    FlareModel model({.ranks = 2, .payload_bytes = 128, .sparse_window = 4});
    const SparseVectors vectors(2, 100, ElementType::i32, drawn(20));
    SparseReduction reduction(model, vectors);
    bool changed = false;
    std::uint64_t refused = 0;
    model.on_wire = [&](const FlareFlight& flight) {
      return flight.is_sparse() && !flight.up && flight.rank == 0 && changed ? 0 : 1;
    };
    reduction.begin_all();
    const auto is_sparse_result = [](const FlareFlight& flight) {
      return flight.is_sparse() && flight.is_result() && flight.rank == 0;
    };
    while (!changed) {
      model.collect(0);
      model.collect(1);
      ASSERT_FALSE(model.queue().empty());
      auto& flight = model.queue().front();
      if (is_sparse_result(flight)) {
        one.change(flight.sparse_header());
        wire::seal(flight.sparse_header(),
                   wire::Bytes(flight.bytes).subspan(sizeof(wire::FlareSparseHeader)));
        changed = true;
      }
      model.deliver();
    }
    EXPECT_TRUE(model[0].running()) << one.what;
    const auto statistics = model[0].statistics();
    refused = one.verdict == Verdict::taken ? statistics.fingerprint_rejections
                                            : statistics.ignored[one.verdict];
    EXPECT_EQ(refused, 1u) << one.what;
    EXPECT_EQ(statistics.refused(), 1u) << one.what;
    EXPECT_EQ(statistics.sparse_results_received, 0u) << one.what;
  }
}

TEST(FlareSparseFaults, AnErrorNamesTheSparseBlocksThatAreMissing) {
  FlareModel model(small_packets);
  model.on_wire = [](const FlareFlight& flight) {
    return flight.is_sparse() && flight.header().block.value() == 2 ? 0 : 1;
  };
  const SparseVectors vectors(3, 3000, ElementType::i32, drawn(50));
  SparseReduction reduction(model, vectors);
  reduction.begin_all();
  model.run();
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    ASSERT_TRUE(model[rank].failure());
    EXPECT_EQ(model[rank].failure()->code, Error::Code::timeout);
    const auto& said = model[rank].failure()->message;
    EXPECT_EQ(said.find("sparse_allreduce made no progress for 10 s: tree 239.192.0.1 gave no "
                        "result of sparse block"),
              0u)
        << said;
    EXPECT_NE(said.find("'tributaryctl stalled'"), std::string::npos) << said;
    EXPECT_EQ(reduction.sum(rank).count, 0u) << "a sum in part is none";
  }
  expect_next_is_right(model);
}

TEST(FlareSparseFaults, WhereNoSparseResultCameAnErrorNamesTheSetting) {
  FlareModel model(small_packets);
  model.on_wire = [](const FlareFlight& flight) { return flight.is_sparse() ? 0 : 1; };
  const SparseVectors vectors(3, 300, ElementType::i32, drawn(50));
  SparseReduction reduction(model, vectors);
  reduction.begin_all({model.now + 3s});
  model.run();
  ASSERT_TRUE(model[0].failure());
  const auto& said = model[0].failure()->message;
  for (const auto* named : {"within its deadline of 3 s", "flare_not_sparse", "sparse_window"}) {
    EXPECT_NE(said.find(named), std::string::npos) << named << " in " << said;
  }
  expect_next_is_right(model);
}

TEST(FlareSparseFaults, ACallThatOneRankRefusedIsNoPartOfTheNext) {
  FlareModel model(small_packets);
  const SparseVectors vectors(3, 2000, ElementType::i32, drawn(50));
  SparseReduction refused(model, vectors);
  refused.begin(0);
  refused.begin(2);
  const SparseCall of_rank_1{vectors.of(1), nullptr};
  model[1].skip(sparse_call_of(of_rank_1));
  model.run();
  EXPECT_TRUE(model[0].failure() && model[2].failure());
  expect_next_is_right(model);
  Vectors dense(3, 100, ElementType::i32, Operator::sum);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    model[rank].begin(dense.apart(rank), model.now, {never, 10s});
  }
  model.run();
  EXPECT_EQ(dense.wrong(), 0u);
}

// One rank gave up before it knew of the call's blocks, another in the middle of them.
TEST(FlareSparseFaults, RanksThatGaveUpAtDifferentPlacesMeetInTheNextCall) {
  FlareModel model(small_packets);
  expect_next_is_right(model);
  const SparseVectors vectors(3, 6000, ElementType::i32, drawn(50));
  SparseReduction reduction(model, vectors);
  model.on_wire = [](const FlareFlight& flight) {
    return flight.rank == 1 && flight.is_result() ? 0 : 1;
  };
  reduction.begin_all();
  model.run(1s);
  ASSERT_TRUE(model[0].running());
  model[1].abandon();
  model.run();
  EXPECT_TRUE(model[0].failure());
  EXPECT_TRUE(model[2].failure());
  expect_next_is_right(model);
}

TEST(FlareSparseFaults, VectorsThatDifferAreAnErrorOnAllRanksAtOnce) {
  for (const bool by_type : {true, false}) {
    FlareModel model(small_packets);
    const SparseVectors vectors(3, 300, ElementType::i32, drawn(50));
    const SparseVectors other(3, by_type ? 300 : 301, by_type ? ElementType::f32 : ElementType::i32,
                              drawn(50));
    SparseReduction reduction(model, vectors);
    SparseReduction differing(model, other);
    const auto start = model.now;
    reduction.begin(0);
    differing.begin(1);
    reduction.begin(2);
    model.run();
    EXPECT_LT(model.now - start, 1s);
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      EXPECT_FALSE(model[rank].running());
      ASSERT_TRUE(model[rank].failure());
      EXPECT_EQ(model[rank].failure()->code, Error::Code::mismatch);
      const auto& said = model[rank].failure()->message;
      EXPECT_NE(said.find(by_type ? "differ in type" : "from 300 to 301 elements"),
                std::string::npos)
          << said;
    }
    expect_next_is_right(model);
  }
}

// The last one has no result of the opening, and those that have one have failed.
TEST(FlareSparseFaults, WhoFailedByTheOpeningAnswersForItsResult) {
  FlareModel model(small_packets);
  const SparseVectors vectors(3, 300, ElementType::i32, drawn(50));
  const SparseVectors other(3, 301, ElementType::i32, drawn(50));
  SparseReduction reduction(model, vectors);
  SparseReduction differing(model, other);
  bool lost = false;
  model.on_wire = [&](const FlareFlight& flight) -> unsigned {
    const bool victim = !lost && flight.is_result() && flight.rank == 2;
    lost = lost || victim;
    if (victim) {
      model.forget();
    }
    return victim ? 0 : 1;
  };
  reduction.begin(0);
  differing.begin(1);
  reduction.begin(2);
  model.run();
  EXPECT_TRUE(lost);
  ASSERT_TRUE(model[2].failure());
  EXPECT_EQ(model[2].failure()->code, Error::Code::mismatch);
}

// Switches that restart over and over send shards, and no whole result.
TEST(FlareSparseFaults, ShardsOfResultsThatNeverComeWholeAreNoProgress) {
  FlareModel model(small_packets);
  model.on_wire = [&](const FlareFlight& flight) -> unsigned {
    if (!flight.is_sparse() || !flight.is_result()) {
      return 1;
    }
    model.forget();
    return flight.sparse_header().shard == 0 ? 1 : 0;
  };
  const SparseVectors vectors(3, 768, ElementType::i32, [](std::uint32_t rank, std::size_t index) {
    return index % 3 == rank && index < 120;  // results of 8 shards
  });
  SparseReduction reduction(model, vectors);
  reduction.begin_all();
  model.run(30s);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    EXPECT_TRUE(model[rank].failure()) << rank;
  }
}

}  // namespace
}  // namespace tributary::host::test
