// SPDX-License-Identifier: BSD-3-Clause
// Tests the collectives besides allreduce (section 6), on a good network and on a bad one.
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "host/share.h"
#include "memory_network.h"
#include "vectors.h"

namespace tributary::host::test {
namespace {

using wire::ElementType;
using wire::Operator;

constexpr std::byte untouched{0xee};

// Loses every seventh datagram on average, depending on the seed.
void make_lossy(MemoryNetwork& network, unsigned seed) {
  network.on_wire = [random = std::mt19937(seed)](InFlight datagram,
                                                  std::deque<InFlight>& queue) mutable {
    if (random() % 7 != 0) {
      queue.push_back(std::move(datagram));
    }
  };
}

class Rooted : public testing::TestWithParam<bool> {
 protected:
  void prepare(MemoryNetwork& network, unsigned seed) {
    if (GetParam()) {
      make_lossy(network, seed);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Network, Rooted, testing::Values(false, true),
                         [](const auto& tested) { return tested.param ? "Lossy" : "Good"; });

TEST_P(Rooted, ReduceGivesTheSumToTheRootAlone) {
  for (std::uint32_t root = 0; root < 5; ++root) {
    MemoryNetwork network(5);
    prepare(network, root);
    for (const std::size_t count : {1u, 16u, 1000u}) {
      Vectors vectors(5, count, ElementType::f64, Operator::sum);
      for (std::uint32_t rank = 0; rank < 5; ++rank) {
        auto call = vectors.apart(rank);
        call.collective = Collective::reduce;
        call.root = root;
        network[rank].begin(call, network.now, network.now + deadline_after);
      }
      network.run();
      expect_all_done(network);
      EXPECT_EQ(wrong_elements(vectors.out[root], 5, count, vectors.type, vectors.op), 0u);
      for (std::uint32_t rank = 0; rank < 5; ++rank) {
        if (rank != root) {
          EXPECT_EQ(vectors.out[rank], Elements(vectors.out[rank].size(), untouched));
        }
      }
    }
  }
}

TEST_P(Rooted, ReduceSendsNoDataBack) {
  MemoryNetwork network(3);
  prepare(network, 9);
  auto lose_or_not = std::move(network.on_wire);
  network.on_wire = [&](InFlight datagram, std::deque<InFlight>& queue) {
    if (datagram.header().kind == wire::CanaryKind::result) {
      EXPECT_TRUE(datagram.payload().empty());
    }
    lose_or_not(std::move(datagram), queue);
  };
  Vectors vectors(3, 100, ElementType::i32, Operator::max);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    auto call = vectors.apart(rank);
    call.collective = Collective::reduce;
    call.buffers.out = rank == 0 ? call.buffers.out : nullptr;
    network[rank].begin(call, network.now, network.now + deadline_after);
  }
  network.run();
  expect_all_done(network);
  EXPECT_EQ(wrong_elements(vectors.out[0], 3, 100, vectors.type, vectors.op), 0u);
}

TEST_P(Rooted, BroadcastGivesTheRootsDataToAll) {
  for (std::uint32_t root = 0; root < 4; ++root) {
    for (const std::size_t release : {std::size_t{1} << 20, std::size_t{1}}) {
      MemoryNetwork network(4, 64, 4, 0, {.implicit_release_max = release});
      prepare(network, root);
      for (const std::size_t count : {1u, 9u, 1001u}) {
        std::vector<Elements> data;
        for (std::uint32_t rank = 0; rank < 4; ++rank) {
          data.push_back(input(rank, count, ElementType::i64, Operator::sum));
        }
        const auto expected = data[root];
        for (std::uint32_t rank = 0; rank < 4; ++rank) {
          auto* const inout = data[rank].data();
          network[rank].begin(
              {Collective::broadcast, {inout, inout, count, ElementType::i64}, root}, network.now,
              network.now + deadline_after);
        }
        network.run();
        expect_all_done(network);
        for (const auto& vector : data) {
          EXPECT_EQ(vector, expected);
        }
      }
    }
  }
}

// Begins the collective on all ranks, whose data it is in place.
void run_in_place(MemoryNetwork& network, Collective collective, std::vector<Elements>& data,
                  std::size_t count) {
  for (std::uint32_t rank = 0; rank < network.size(); ++rank) {
    auto* const inout = data[rank].data();
    network[rank].begin({collective, {inout, inout, count, ElementType::i32}}, network.now,
                        network.now + deadline_after);
  }
  network.run();
  expect_all_done(network);
}

std::vector<Elements> inputs(std::uint32_t ranks, std::size_t count) {
  std::vector<Elements> all;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    all.push_back(input(rank, count, ElementType::i32, Operator::sum));
  }
  return all;
}

// Copies the rank's share of `from` to the same place of `to`.
void copy_share(const Elements& from, Elements& to, std::uint32_t rank, std::uint32_t ranks,
                std::size_t count) {
  const auto share = share_of(count, rank, ranks);
  std::copy(from.begin() + static_cast<std::ptrdiff_t>(share.begin * sizeof(std::int32_t)),
            from.begin() + static_cast<std::ptrdiff_t>(share.end * sizeof(std::int32_t)),
            to.begin() + static_cast<std::ptrdiff_t>(share.begin * sizeof(std::int32_t)));
}

// Shares differ by an element, or some have none, or one has a block more; with and without a block
// of completion.
constexpr std::size_t shared_counts[] = {1, 3, 4, 63, 64, 65, 1001};

TEST_P(Rooted, ReduceScatterGivesEachRankTheSumOfItsShareAlone) {
  for (const std::size_t release : {std::size_t{1} << 20, std::size_t{1}}) {
    MemoryNetwork network(4, 64, 4, 0, {.implicit_release_max = release});
    prepare(network, 11);
    for (const auto count : shared_counts) {
      auto summed = inputs(4, count);
      run_in_place(network, Collective::allreduce, summed, count);
      auto data = inputs(4, count);
      auto expected = data;
      run_in_place(network, Collective::reduce_scatter, data, count);
      for (std::uint32_t rank = 0; rank < 4; ++rank) {
        copy_share(summed[rank], expected[rank], rank, 4, count);
        EXPECT_EQ(data[rank], expected[rank]) << count << " elements, rank " << rank;
      }
    }
  }
}

TEST_P(Rooted, AllgatherGivesTheSharesOfAllToAll) {
  for (const std::size_t release : {std::size_t{1} << 20, std::size_t{1}}) {
    MemoryNetwork network(4, 64, 4, 0, {.implicit_release_max = release});
    prepare(network, 12);
    for (const auto count : shared_counts) {
      auto data = inputs(4, count);
      Elements expected(data[0].size());
      for (std::uint32_t rank = 0; rank < 4; ++rank) {
        copy_share(data[rank], expected, rank, 4, count);
      }
      run_in_place(network, Collective::allgather, data, count);
      for (std::uint32_t rank = 0; rank < 4; ++rank) {
        EXPECT_EQ(data[rank], expected) << count << " elements, rank " << rank;
      }
    }
  }
}

TEST_P(Rooted, ReduceScatterSendsDataOneWayAndAllgatherTheOther) {
  for (const auto collective : {Collective::reduce_scatter, Collective::allgather}) {
    MemoryNetwork network(3);
    prepare(network, 13);
    auto lose_or_not = std::move(network.on_wire);
    const auto empty = collective == Collective::allgather ? wire::CanaryKind::contribution
                                                           : wire::CanaryKind::result;
    network.on_wire = [&](InFlight datagram, std::deque<InFlight>& queue) {
      EXPECT_TRUE(datagram.header().kind != empty || datagram.payload().empty());
      lose_or_not(std::move(datagram), queue);
    };
    auto data = inputs(3, 100);
    run_in_place(network, collective, data, 100);
  }
}

TEST_P(Rooted, NobodyLeavesABarrierBeforeAllHaveEntered) {
  MemoryNetwork network(6);
  prepare(network, 4);
  for (int round = 0; round < 4; ++round) {
    for (std::uint32_t rank = 0; rank < 6; ++rank) {
      for (std::uint32_t entered = 0; entered < rank; ++entered) {
        EXPECT_TRUE(network[entered].running());
      }
      network[rank].begin({Collective::barrier, {}}, network.now, network.now + deadline_after);
      network.run(std::chrono::milliseconds(300));
    }
    network.run();
    expect_all_done(network);
  }
}

}  // namespace
}  // namespace tributary::host::test
