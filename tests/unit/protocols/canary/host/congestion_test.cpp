// SPDX-License-Identifier: BSD-3-Clause
// Tests marks of congestion, from the first rank that hears of it to all that contribute to the
// block.
#include <set>

#include <gtest/gtest.h>

#include "memory_network.h"
#include "vectors.h"

namespace tributary::host::test {
namespace {

using wire::CanaryKind;
using wire::ElementType;
using wire::Operator;

constexpr std::uint32_t rank_count = 4;
constexpr std::size_t block_count = 12;  // of 16 elements; rank r leads block r, r + 4, and so on

struct Congestion : testing::Test {
  using Rule = std::function<void(InFlight&)>;

  // Applies to every packet on its way; `drops`: to those that are lost.
  void watch(Rule rule, std::function<bool(const InFlight&)> drops = {}) {
    network.on_wire = [this, rule = std::move(rule), drops = std::move(drops)](
                          InFlight datagram, std::deque<InFlight>& queue) {
      rule(datagram);
      if (datagram.header().kind == CanaryKind::result && datagram.header().congested()) {
        told.insert(wire::canary_sequence(datagram.header().id.value()));
      }
      if (!drops || !drops(datagram)) {
        queue.push_back(std::move(datagram));
      }
    };
  }
  void reduce() {
    begin_all(network, vectors);
    network.run();
    expect_all_done(network);
    EXPECT_EQ(vectors.wrong(), 0u);
  }
  std::uint64_t marked(std::uint32_t rank) { return network[rank].statistics().blocks_marked; }

  MemoryNetwork network{rank_count};
  Vectors vectors{rank_count, 16 * block_count, ElementType::i32, Operator::sum};
  std::set<std::uint32_t> told;  // sequence numbers of blocks whose results told of congestion
};

bool is(const InFlight& datagram, CanaryKind kind, std::uint32_t sequence) {
  return datagram.header().kind == kind &&
         wire::canary_sequence(datagram.header().id.value()) == sequence;
}

TEST_F(Congestion, NobodyHearsOfWhatIsNot) {
  watch([](InFlight&) {});
  reduce();
  EXPECT_TRUE(told.empty());
  for (std::uint32_t rank = 0; rank < rank_count; ++rank) {
    EXPECT_EQ(marked(rank), 0u);
    EXPECT_EQ(network[rank].statistics().window, 4u);
  }
}

TEST_F(Congestion, AMarkedContributionMarksTheResultForAll) {
  watch([](InFlight& datagram) {
    if (is(datagram, CanaryKind::contribution, 5) && datagram.header().rank.value() == 3) {
      datagram.ecn = wire::ecn::ce;
    }
  });
  reduce();
  EXPECT_EQ(told, std::set<std::uint32_t>{5});
  for (std::uint32_t rank = 0; rank < rank_count; ++rank) {
    EXPECT_EQ(marked(rank), 1u) << "its leader included";
    EXPECT_LT(network[rank].statistics().window, 4u);
  }
}

// The header was set by a switch that has added the packet up, or had no room for it.
TEST_F(Congestion, SoDoesOneWhoseHeaderTells) {
  watch([](InFlight& datagram) {
    if (is(datagram, CanaryKind::contribution, 6) && datagram.header().rank.value() == 0) {
      datagram.header().flags |= wire::CanaryHeader::congested_bit;
      wire::reseal(datagram.header());
    }
  });
  reduce();
  EXPECT_EQ(told, std::set<std::uint32_t>{6});
}

TEST_F(Congestion, AMarkedResultTellsWhoeverGetsIt) {
  watch([](InFlight& datagram) {
    if (is(datagram, CanaryKind::result, 5) &&
        datagram.destination == MemoryNetwork::address_of(2)) {
      datagram.ecn = wire::ecn::ce;
    }
  });
  reduce();
  EXPECT_EQ(marked(2), 1u);
  EXPECT_EQ(marked(3), 0u);
  EXPECT_TRUE(told.empty());
}

// The result is lost, and with it what it told; the request and its answer are marked.
TEST_F(Congestion, ARequestsMarkComesBackWithTheAnswer) {
  int lost = 0;
  watch(
      [](InFlight& datagram) {
        if (is(datagram, CanaryKind::request, 5)) {
          datagram.ecn = wire::ecn::ce;
        }
      },
      [&lost](const InFlight& datagram) {
        return is(datagram, CanaryKind::result, 5) &&
               datagram.destination == MemoryNetwork::address_of(2) && lost++ == 0;
      });
  reduce();
  EXPECT_EQ(lost, 2) << "the second came";
  EXPECT_EQ(marked(2), 1u);
  EXPECT_EQ(marked(1), 0u) << "it was done before";
}

// The block lacks a contribution, so the mark goes with its result, to all.
TEST_F(Congestion, ARequestsMarkWaitsForTheResult) {
  int lost = 0;
  watch(
      [](InFlight& datagram) {
        if (is(datagram, CanaryKind::request, 5) && datagram.header().rank.value() == 2) {
          datagram.ecn = wire::ecn::ce;
        }
      },
      [&lost](const InFlight& datagram) {
        return is(datagram, CanaryKind::contribution, 5) && datagram.header().rank.value() == 3 &&
               lost++ == 0;
      });
  reduce();
  EXPECT_EQ(told, std::set<std::uint32_t>{5});
  EXPECT_EQ(marked(0), 1u);
}

// Contributions to the next call are kept with their marks.
TEST_F(Congestion, WhatCameEarlyKeepsItsMark) {
  watch([](InFlight& datagram) {
    if (datagram.header().kind == CanaryKind::contribution) {
      datagram.ecn = wire::ecn::ce;
    }
  });
  for (std::uint32_t rank = 1; rank < rank_count; ++rank) {
    network[rank].begin(vectors.apart(rank), network.now, network.now + deadline_after);
  }
  network.settle();
  EXPECT_GT(network[0].statistics().stashed, 0u);
  watch([](InFlight&) {});
  network[0].begin(vectors.apart(0), network.now, network.now + deadline_after);
  network.run();
  expect_all_done(network);
  EXPECT_EQ(vectors.wrong(), 0u);
  EXPECT_TRUE(told.contains(0));
}

}  // namespace
}  // namespace tributary::host::test
