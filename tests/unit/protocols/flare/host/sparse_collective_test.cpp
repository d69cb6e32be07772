// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/host/sparse_collective.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/ring/sparse_schedule.h"
#include "model_network.h"
#include "sparse_reduction.h"
#include "unit/host/sparse_vectors.h"
#include "unit/host/vectors.h"

// These tests go through FlareCollectives, whose calls sparse collectives are.
namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;
using wire::ElementType;
using wire::Operator;

// Behind the sparse header 96 bytes: 16 pairs of i32 or f32, or 24 elements.
constexpr FlareModel::Options three_ranks = {
    .ranks = 3, .payload_bytes = 128, .window = 16, .sparse_window = 4};

void expect_reduced_sparse(FlareModel& model, const SparseVectors& vectors) {
  SparseReduction reduction(model, vectors);
  reduction.begin_all();
  model.run();
  EXPECT_EQ(reduction.wrong(), 0u);
}

TEST(FlareSparse, ReducesEveryTypeAtEveryDensity) {
  for (std::size_t t = 0; t <= static_cast<std::size_t>(ElementType::i64); ++t) {
    const auto type = static_cast<ElementType>(t);
    for (const std::uint32_t permille : {0, 1, 50, 300, 1000}) {
      FlareModel model(three_ranks);
      SCOPED_TRACE(std::string(wire::name(type)) + ", " + std::to_string(permille));
      expect_reduced_sparse(model, SparseVectors(3, 3001, type, drawn(permille)));
      EXPECT_EQ(model[0].statistics().refused(), 0u);
    }
  }
}

TEST(FlareSparse, ReducesForAnyNumberOfRanksAndAnyWindow) {
  for (std::uint32_t ranks = 2; ranks <= 8; ++ranks) {
    for (const std::uint32_t window : {1u, 2u, 3u, 8u}) {
      FlareModel model({.ranks = ranks, .payload_bytes = 128, .sparse_window = window});
      const SparseVectors vectors(ranks, 5000, ElementType::i32, drawn(40));
      SCOPED_TRACE(std::to_string(ranks) + " ranks, window " + std::to_string(window));
      expect_reduced_sparse(model, vectors);
      EXPECT_EQ(model[0].statistics().retransmissions_sent, 0u);
      EXPECT_GT(model[0].statistics().sparse_results_received, 10u);
    }
  }
}

TEST(FlareSparse, ReducesWhereOneRankHasAllElementsAndTheOthersNone) {
  FlareModel model(three_ranks);
  expect_reduced_sparse(model,
                        SparseVectors(3, 1000, ElementType::f32,
                                      [](std::uint32_t rank, std::size_t) { return rank == 1; }));
}

TEST(FlareSparse, ASumHasTheFormThatTheRingGivesIt) {
  for (const std::uint32_t permille : {10, 150, 400}) {
    FlareModel model(three_ranks);
    const SparseVectors vectors(3, 2000, ElementType::i32, drawn(permille));
    SparseReduction reduction(model, vectors);
    reduction.begin_all();
    model.run();
    ASSERT_EQ(reduction.wrong(), 0u);
    std::vector<std::uint32_t> indices(2000);
    for (std::uint32_t i = 0; i < 2000; ++i) {
      indices[i] = i;
    }
    const auto all = vectors.sum();
    const auto expected =
        SparseSchedule({indices, all.data(), 2000, ElementType::i32, Operator::sum}, 0, 1).sum();
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      EXPECT_EQ(reduction.sum(rank).indices, expected.indices);
      EXPECT_EQ(reduction.sum(rank).values, expected.values);
    }
  }
}

TEST(FlareSparse, TakesOneDenseBlockForEachCall) {
  FlareModel model(three_ranks);
  std::uint64_t dense_end = 0;
  std::map<std::uint64_t, std::uint64_t> of_sparse;  // dense block -> sparse blocks before it
  std::uint64_t sparse_end = 0;
  model.on_wire = [&](const FlareFlight& flight) {
    const auto block = flight.header().block.value();
    if (flight.is_sparse()) {
      sparse_end = std::max(sparse_end, block + 1);
    } else {
      dense_end = std::max(dense_end, block + 1);
      of_sparse.try_emplace(block, sparse_end);
    }
    return 1;
  };
  for (const std::size_t count : {1u, 2000u, 77u}) {
    expect_reduced_sparse(model, SparseVectors(3, count, ElementType::i32, drawn(30)));
    Vectors dense(3, 32, ElementType::i32, Operator::sum);  // a block
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      model[rank].begin(dense.apart(rank), model.now, {never, 10s});
    }
    model.run();
    EXPECT_EQ(dense.wrong(), 0u);
  }
  EXPECT_EQ(dense_end, 6u);
  EXPECT_EQ(of_sparse.at(1), 1u);
  EXPECT_EQ(of_sparse.at(4), of_sparse.at(3)) << "a dense call has no sparse blocks";
  EXPECT_GT(of_sparse.at(4), 2u);
}

TEST(FlareSparse, NoBlockIsSentAWindowBeyondOneWithoutAResult) {
  FlareModel model(three_ranks);
  std::map<std::uint32_t, std::uint64_t> lowest;  // by rank, without a result
  std::vector<std::map<std::uint64_t, bool>> has(3);
  model.on_arrival = [&](const FlareFlight& flight) {
    if (flight.is_sparse() && flight.is_result()) {
      has[flight.rank][flight.header().block.value()] = true;
      for (; has[flight.rank].contains(lowest[flight.rank]); ++lowest[flight.rank]) {
      }
    }
  };
  model.on_wire = [&](const FlareFlight& flight) {
    if (flight.is_sparse() && flight.is_contribution()) {
      EXPECT_LT(flight.header().block.value(), lowest[flight.rank] + 4);
    }
    return 1;
  };
  for (int i = 0; i < 3; ++i) {
    expect_reduced_sparse(model, SparseVectors(3, 20000, ElementType::i32, drawn(3)));
  }
  EXPECT_GT(lowest[0], 20u);
}

// Returns the rank's answers to a switch that asks for that block.
std::vector<FlareFlight> answers_of(FlareModel& model, std::uint32_t rank, std::uint64_t block,
                                    std::uint16_t span) {
  auto& machine = model[rank];
  wire::FlareSparseHeader header;
  header.job = machine.job().id;
  header.run = run_of(machine.job().key);
  header.block = block;
  header.flags = wire::FlareSparseHeader::current_version | wire::FlareSparseHeader::sparse_bit;
  header.kind = wire::FlareKind::inquiry;
  header.workers = static_cast<std::uint16_t>(machine.job().world_size());
  header.window = 4;
  header.span = span;
  header.full = 96;
  wire::seal(header, {});
  auto bytes = sparse_packet_of(header, {});
  const Arrival arrival{bytes};
  machine.receive({&arrival, 1}, model.now);
  model.collect(rank);
  std::vector<FlareFlight> sent;
  for (auto& flight : model.queue()) {
    sent.push_back(flight);
    EXPECT_EQ(wire::parse_flare_sparse(sent.back().bytes).error, wire::FlareError::none);
  }
  model.queue().clear();
  return sent;
}

TEST(FlareSparse, WhoHasAResultAnswersWithAllItsShards) {
  FlareModel model(three_ranks);
  const SparseVectors vectors(3, 1000, ElementType::i32, drawn(900));  // runs of 24 elements
  SparseReduction reduction(model, vectors);
  reduction.begin_all();
  model.run();
  ASSERT_EQ(reduction.wrong(), 0u);
  EXPECT_TRUE(model[0].retaining());
  const auto blocks = model[0].statistics().sparse_results_received;
  ASSERT_GT(blocks, 4u);
  const auto sent = answers_of(model, 0, blocks - 2, 24);
  ASSERT_FALSE(sent.empty());
  ASSERT_EQ(sent.size(), sent.front().sparse_header().shards);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const auto& header = sent[i].sparse_header();
    EXPECT_EQ(header.kind, wire::FlareKind::result);
    EXPECT_EQ(header.block.value(), blocks - 2);
    EXPECT_EQ(header.shard, i);
    EXPECT_EQ(header.contributions.value(), 3);
    EXPECT_NE(header.edition.value(), 0u);
    EXPECT_TRUE(header.answers() && !header.retransmission());
  }
  EXPECT_TRUE(answers_of(model, 0, blocks - 5, 24).empty()) << "nobody can lack that";
  EXPECT_TRUE(answers_of(model, 0, blocks, 24).empty()) << "it has not begun that one";
}

TEST(FlareSparse, WhoHasOnlyContributedAnswersWithAllItsShards) {
  FlareModel model(three_ranks);
  const SparseVectors vectors(3, 768, ElementType::i32, [](std::uint32_t rank, std::size_t index) {
    return rank == 0 ? index < 40 : index == 0;  // a block of 3 shards
  });
  model.on_wire = [](const FlareFlight& flight) {
    return flight.is_sparse() && flight.rank == 1 ? 0 : 1;
  };
  SparseReduction reduction(model, vectors);
  reduction.begin_all();
  model.run(10 * FlareModel::delay);
  ASSERT_TRUE(model[0].running());
  model.queue().clear();
  const auto span = static_cast<std::uint16_t>(wire::FlareSparseShape{4, 96}.span(40, 768));
  const auto sent = answers_of(model, 0, 0, span);
  ASSERT_EQ(sent.size(), 3u);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const auto& header = sent[i].sparse_header();
    const bool is_last = header.shard == 2;
    EXPECT_EQ(header.kind, wire::FlareKind::contribution);
    EXPECT_EQ(header.shard, (sent[0].sparse_header().shard + i) % 3);
    EXPECT_EQ(header.shards, is_last ? 3 : 0);
    EXPECT_EQ(header.contributions.value(), is_last ? 1 : 0);
    EXPECT_TRUE(header.answers() && header.retransmission() && !header.asks());
  }
}

TEST(FlareSparse, ARankKeepsResultsUntilAllHaveBegunTheNextCollective) {
  FlareModel model(three_ranks);
  const SparseVectors vectors(3, 500, ElementType::i32, drawn(30));
  expect_reduced_sparse(model, vectors);
  ASSERT_TRUE(model[0].retaining());
  SparseReduction next(model, vectors);
  next.begin(0);
  next.begin(1);
  model.run(1s);
  EXPECT_TRUE(model[0].retaining()) << "the third may lack a result of the first";
  next.begin(2);
  model.on_wire = [](const FlareFlight& flight) { return flight.is_sparse() ? 0 : 1; };
  model.run(1s);
  EXPECT_TRUE(model[0].running());
  model.on_wire = [](const FlareFlight&) { return 1; };
  model.run();
  EXPECT_EQ(next.wrong(), 0u);
  EXPECT_TRUE(model[0].retaining());
}

TEST(FlareSparse, OnlyWhereThereIsAWindowForIt) {
  EXPECT_TRUE(FlareModel(three_ranks)[0].has_sparse());
  EXPECT_FALSE(FlareModel({.payload_bytes = 128})[0].has_sparse());
  EXPECT_FALSE(FlareModel({.payload_bytes = 64, .sparse_window = 4})[0].has_sparse());
}

}  // namespace
}  // namespace tributary::host::test
