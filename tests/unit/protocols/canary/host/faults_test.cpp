// SPDX-License-Identifier: BSD-3-Clause
// Tests loss, duplicates and ranks that are late or dead, each mechanism by itself.
#include <map>
#include <optional>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "memory_network.h"
#include "vectors.h"

namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;
using wire::CanaryKind;
using wire::ElementType;
using wire::Operator;

// Drops or doubles datagrams, each rule as often as it says.
struct Script {
  using Match = std::function<bool(const InFlight&)>;
  struct Rule {
    Match match;
    int times = 1;
    int copies = 0;
  };
  std::vector<Rule> rules;

  void drop(Match match, int times = 1) { rules.push_back({std::move(match), times, 0}); }
  void twice(Match match) { rules.push_back({std::move(match), 1, 2}); }
  void operator()(InFlight datagram, std::deque<InFlight>& queue) {
    for (auto& rule : rules) {
      if (rule.times > 0 && rule.match(datagram)) {
        --rule.times;
        for (int i = 0; i < rule.copies; ++i) {
          queue.push_back(datagram);
        }
        return;
      }
    }
    queue.push_back(std::move(datagram));
  }
};

Script::Match kind_is(CanaryKind kind, std::uint32_t sequence) {
  return [=](const InFlight& datagram) {
    return datagram.header().kind == kind &&
           wire::canary_sequence(datagram.header().id.value()) == sequence;
  };
}
Script::Match contribution_of(std::uint32_t rank, std::uint32_t sequence) {
  return [=](const InFlight& datagram) {
    return kind_is(CanaryKind::contribution, sequence)(datagram) &&
           datagram.header().rank.value() == rank;
  };
}

struct Faults : testing::Test {
  // Blocks of 16 elements; rank r leads block r, r + 4, and so on.
  void make(std::uint32_t ranks = 4, std::size_t count = 16 * 12, const CanaryTuning& tuning = {}) {
    script = {};
    network = std::make_unique<MemoryNetwork>(ranks, 64, 4, 0, tuning);
    network->on_wire = [this](InFlight datagram, std::deque<InFlight>& queue) {
      script(std::move(datagram), queue);
    };
    vectors = std::make_unique<Vectors>(ranks, count, ElementType::i32, Operator::sum);
  }
  void reduce() {
    begin_all(*network, *vectors);
    network->run();
    expect_all_done(*network);
    EXPECT_EQ(vectors->wrong(), 0u);
  }
  const CanaryStatistics& of(std::uint32_t rank) { return (*network)[rank].statistics(); }
  std::uint64_t sum(std::uint64_t CanaryStatistics::*figure) {
    std::uint64_t total = 0;
    for (std::uint32_t rank = 0; rank < network->size(); ++rank) {
      total += of(rank).*figure;
    }
    return total;
  }

  Script script;
  std::unique_ptr<MemoryNetwork> network;
  std::unique_ptr<Vectors> vectors;
};

TEST_F(Faults, NothingIsAskedForWhenNothingIsLost) {
  make();
  reduce();
  EXPECT_EQ(sum(&CanaryStatistics::requests_sent), 0u);
  EXPECT_EQ(sum(&CanaryStatistics::blocks_reissued), 0u);
  EXPECT_EQ(sum(&CanaryStatistics::blocks_by_hosts), 12u) << "there is no switch";
}

TEST_F(Faults, ALostResultIsReplayed) {
  make();
  script.drop(kind_is(CanaryKind::result, 5));
  reduce();
  EXPECT_EQ(of(1).replays_sent, 1u);
  EXPECT_EQ(sum(&CanaryStatistics::blocks_reissued), 0u);
}

// The result was only late: the answer to the request comes first, then the result itself.
TEST_F(Faults, ARequestIsNeedlessIfTheResultComesWithoutIt) {
  make(4, 16 * 40);
  std::optional<InFlight> late;
  network->on_wire = [&](InFlight datagram, std::deque<InFlight>& queue) {
    const bool is_it = kind_is(CanaryKind::result, 5)(datagram) &&
                       datagram.destination == MemoryNetwork::address_of(3);
    if (is_it && !late) {
      late = std::move(datagram);
      return;
    }
    queue.push_back(std::move(datagram));
    if (is_it) {
      queue.push_back(*late);
    }
  };
  reduce();
  EXPECT_EQ(of(3).requests_sent, 1u);
  EXPECT_EQ(of(3).requests_needless, 1u);
  EXPECT_EQ(of(3).ignored[Verdict::duplicate], 1u);
}

TEST_F(Faults, ARequestForWhatWasLostIsNotNeedless) {
  make();
  script.drop(kind_is(CanaryKind::result, 5));
  reduce();
  EXPECT_EQ(sum(&CanaryStatistics::requests_sent), 1u);
  EXPECT_EQ(sum(&CanaryStatistics::requests_needless), 0u);
}

TEST_F(Faults, ALostRequestIsRepeated) {
  make();
  script.drop(kind_is(CanaryKind::result, 5));
  script.drop(kind_is(CanaryKind::request, 5), 3);
  reduce();
  EXPECT_EQ(of(1).replays_sent, 1u);
  EXPECT_EQ(sum(&CanaryStatistics::requests_sent), 4u);
}

TEST_F(Faults, ALostContributionHasTheBlockReducedAgainUnderANewId) {
  make();
  script.drop(contribution_of(3, 5));
  std::map<std::uint32_t, int> ids;
  script.drop([&](const InFlight& datagram) {
    if (kind_is(CanaryKind::contribution, 5)(datagram)) {
      ++ids[datagram.header().id.value()];
    }
    return false;
  });
  reduce();
  EXPECT_EQ(of(1).blocks_reissued, 1u);
  EXPECT_EQ(sum(&CanaryStatistics::failures_sent), 3u);
  EXPECT_EQ(ids[wire::canary_id(5, 1)], 3);
  EXPECT_EQ(sum(&CanaryStatistics::contributions_direct_sent), 0u);
}

TEST_F(Faults, ALostFailureIsRepeatedToWhoDoesNotKnowOfIt) {
  make();
  script.drop(contribution_of(3, 5));
  script.drop(kind_is(CanaryKind::failure, 5), 2);
  reduce();
  EXPECT_EQ(of(1).blocks_reissued, 1u);
  EXPECT_EQ(of(1).failures_sent, 5u);
}

// The counter of the paper alone would accept this sum: four hosts, three contributions.
TEST_F(Faults, OneLostAndOneDoubledContributionNeverBecomeASum) {
  make();
  // This looks as if a switch had passed both on, so that the leader cannot tell whose they are.
  unsigned number = 0;
  network->on_wire = [&number](InFlight datagram, std::deque<InFlight>& queue) {
    auto& header = datagram.header();
    if (header.kind == CanaryKind::contribution && header.id.value() == 0) {
      const auto rank = header.rank.value();
      if (rank == 3) {
        return;
      }
      for (int copy = 0; copy < (rank == 1 ? 2 : 1); ++copy) {
        header.rank = wire::CanaryHeader::no_rank;
        header.child_address = wire::Ipv4Address(0x0a090900u + ++number);
        seal(header, datagram.payload());
        queue.push_back(datagram);
      }
      return;
    }
    queue.push_back(std::move(datagram));
  };
  reduce();
  EXPECT_EQ(of(0).fingerprint_rejections, 1u);
  EXPECT_EQ(of(0).blocks_reissued, 1u);
  EXPECT_EQ(of(0).releases_sent, 3u);
}

TEST_F(Faults, ADuplicateIsCountedOnce) {
  make();
  script.twice(contribution_of(1, 0));
  script.twice(contribution_of(2, 4));
  reduce();
  EXPECT_EQ(sum(&CanaryStatistics::blocks_reissued), 0u);
  EXPECT_EQ(of(0).ignored[Verdict::duplicate], 2u);
}

TEST_F(Faults, ABlockThatFailsTooOftenIsReducedByItsLeaderAlone) {
  make(4, 16 * 12, {.attempts_max = 3});
  script.drop(
      [](const InFlight& datagram) {
        return contribution_of(2, 5)(datagram) &&
               wire::canary_attempt(datagram.header().id.value()) != wire::canary_direct_attempt;
      },
      1000);
  reduce();
  EXPECT_EQ(of(1).blocks_reissued, 3u);
  EXPECT_EQ(sum(&CanaryStatistics::contributions_direct_sent), 3u);
}

TEST_F(Faults, DirectContributionsAreSentAgainOneByOne) {
  make(4, 16 * 12, {.attempts_max = 1});
  std::map<std::uint32_t, int> direct;
  script.drop(contribution_of(2, 5));
  script.drop([&](const InFlight& datagram) {
    if (kind_is(CanaryKind::contribution, 5)(datagram) && datagram.header().bypass()) {
      ++direct[datagram.header().rank.value()];
    }
    return false;
  });
  script.drop(
      [](const InFlight& datagram) {
        return contribution_of(3, 5)(datagram) && datagram.header().bypass();
      },
      2);
  script.twice([](const InFlight& datagram) {
    return contribution_of(0, 5)(datagram) && datagram.header().bypass();
  });
  reduce();
  EXPECT_EQ(direct[0], 1);
  EXPECT_EQ(direct[2], 1);
  EXPECT_GE(direct[3], 3);
  EXPECT_LE(direct[3], 4) << "once each for its own request and the leader's reminder";
}

// Requests may all be lost, too: leaders have timers of their own.
TEST_F(Faults, ALeaderDoesNotNeedRequestsOnceABlockHasFailed) {
  make(4, 16 * 12, {.attempts_max = 2});
  script.drop(contribution_of(2, 5), 3);
  int requests = 0;
  script.drop(
      [&](const InFlight& datagram) {
        return kind_is(CanaryKind::request, 5)(datagram) && ++requests > 3;
      },
      1000);
  const auto start = network->now;
  reduce();
  EXPECT_LT(network->now - start, 1s);
  EXPECT_EQ(of(1).blocks_reissued, 2u);
}

TEST_F(Faults, AnErrorInsteadOfAFallbackThatIsNotAllowed) {
  make(4, 16 * 12, {.attempts_max = 2, .host_fallback = false});
  script.drop(contribution_of(2, 5), 1000);
  begin_all(*network, *vectors);
  network->run(1s);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    ASSERT_TRUE((*network)[rank].failure()) << "at once, not by the deadline";
    EXPECT_EQ((*network)[rank].failure()->code, Error::Code::network);
    EXPECT_NE((*network)[rank].failure()->message.find("block 5"), std::string::npos);
  }
  EXPECT_NE((*network)[1].failure()->message.find("block 5 (led by rank 1)"), std::string::npos)
      << (*network)[1].failure()->message;
}

TEST_F(Faults, WhoDoesNotHearThatABlockWasGivenUpIsToldAgain) {
  make(4, 16 * 12, {.attempts_max = 2, .host_fallback = false});
  script.drop(contribution_of(2, 5), 1000);
  script.drop([](const InFlight& datagram) {
    return datagram.header().kind == CanaryKind::failure &&
           wire::canary_attempt(datagram.header().id.value()) == wire::canary_direct_attempt &&
           datagram.destination == MemoryNetwork::address_of(3);
  });
  begin_all(*network, *vectors);
  network->run(5s);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    ASSERT_TRUE((*network)[rank].failure()) << rank;
    EXPECT_EQ((*network)[rank].failure()->code, Error::Code::network) << rank;
  }
  EXPECT_TRUE((*network)[1].listening());
}

// Tests switches on the way that have lost their engines, and switches that have not.
TEST_F(Faults, WithoutAnySwitchABlockIsReducedByHostsEvenIfNothingIsLost) {
  for (const bool switched : {false, true}) {
    make(4, 16 * 12, {.host_fallback = false});
    network->on_wire = [&](InFlight datagram, std::deque<InFlight>& queue) {
      auto& header = datagram.header();
      if (switched && header.kind == CanaryKind::contribution) {
        header.rank = wire::CanaryHeader::no_rank;
        seal(header, datagram.payload());
      }
      queue.push_back(std::move(datagram));
    };
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      (*network)[rank].require_switches();
    }
    begin_all(*network, *vectors);
    network->run(1s);
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      ASSERT_FALSE((*network)[rank].running());
      EXPECT_EQ((*network)[rank].failure().has_value(), !switched);
    }
    EXPECT_EQ(sum(&CanaryStatistics::blocks_in_network), switched ? 12u : 0u);
  }
}

// Rank 0 refuses what the others begin; nothing of that gets into the sums of the next call.
TEST_F(Faults, ACallThatOneRankRefusedDoesNotSpoilTheNext) {
  for (const auto op : {Operator::sum, Operator::minloc}) {  // which i32 lacks
    make();
    auto refused = vectors->apart(0);
    refused.buffers.op = op;
    (*network)[0].skip(refused);
    for (const std::uint32_t rank : {1u, 2u, 3u}) {
      vectors->in[rank][0] ^= std::byte{0x55};
      (*network)[rank].begin(vectors->apart(rank), network->now, network->now + 1s);
    }
    network->run();
    for (const std::uint32_t rank : {1u, 2u, 3u}) {
      ASSERT_TRUE((*network)[rank].failure()) << rank;
    }
    for (int call = 0; call < 2; ++call) {
      vectors = std::make_unique<Vectors>(4, 16 * 12, ElementType::i32, Operator::sum);
      reduce();
    }
  }
}

// Ids come round after 2^28 blocks: what was recorded of an earlier call has the same one.
TEST_F(Faults, ARecordedContributionOfAnEarlierCallIsAStrangers) {
  make();
  std::optional<InFlight> recorded;
  network->on_wire = [&](InFlight datagram, std::deque<InFlight>& queue) {
    if (contribution_of(3, 5)(datagram)) {
      recorded = datagram;
    }
    queue.push_back(std::move(datagram));
  };
  reduce();
  ASSERT_TRUE(recorded);

  network = std::make_unique<MemoryNetwork>(4, 64, 4, wire::canary_sequence_mask);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    (*network)[rank].skip({Collective::barrier, {}});
  }
  vectors = std::make_unique<Vectors>(4, 16 * 12, ElementType::i32, Operator::sum);
  begin_all(*network, *vectors);
  recorded->payload()[0] ^= std::byte{0x55};
  seal(recorded->header(), recorded->payload());
  (*network)[1].receive(recorded->bytes, network->now);
  network->run();
  expect_all_done(*network);
  EXPECT_EQ(vectors->wrong(), 0u);
  EXPECT_EQ(of(1).fingerprint_rejections, 1u);
}

// Their packets neither stay nor keep honest ones out.
TEST_F(Faults, StrangersDoNotFillTheRoomForWhatComesEarly) {
  make();
  network->on_wire = [&](InFlight datagram, std::deque<InFlight>& queue) {
    queue.push_back(std::move(datagram));
  };
  begin_all(*network, *vectors);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    network->collect(1);
    for (const auto rank : {std::uint16_t{2}, wire::CanaryHeader::no_rank}) {
      auto forged = network->queue().front();
      auto& header = forged.header();
      header.kind = CanaryKind::contribution;
      header.id = 12 + (rank == 2 ? 4 : 1'000'000) + i;
      header.counter = 1;
      header.rank = rank;
      header.destination = MemoryNetwork::address_of(0).address;
      header.fingerprint = 1234567;
      forged.destination = MemoryNetwork::address_of(0);
      seal(header, forged.payload());
      (*network)[0].receive(forged.bytes, network->now);
    }
  }
  EXPECT_EQ(of(0).stashed, 0u);
  network->run();
  expect_all_done(*network);
  EXPECT_EQ(vectors->wrong(), 0u);
}

TEST_F(Faults, ALateRankCostsNoAttempt) {
  make();
  for (const std::uint32_t rank : {0u, 1u, 2u}) {
    (*network)[rank].begin(vectors->apart(rank), network->now, network->now + deadline_after);
  }
  network->run(3s);
  EXPECT_GT(sum(&CanaryStatistics::requests_sent), 0u);
  EXPECT_GT(sum(&CanaryStatistics::pendings_sent), 0u);
  EXPECT_LT(sum(&CanaryStatistics::requests_sent), 200u);
  (*network)[3].begin(vectors->apart(3), network->now, network->now + deadline_after);
  network->run();
  expect_all_done(*network);
  EXPECT_EQ(vectors->wrong(), 0u);
  EXPECT_EQ(sum(&CanaryStatistics::blocks_reissued), 0u);
}

TEST_F(Faults, ADeadRankIsNamedInTheErrorsOfAllOthers) {
  for (const std::uint32_t dies : {0u, 2u, 3u}) {
    make();
    bool dead = false;
    network->on_wire = [&](InFlight datagram, std::deque<InFlight>& queue) {
      const auto from = datagram.header().child_address;
      dead = dead || datagram.header().id.value() == 6;
      if (!dead || (from != MemoryNetwork::address_of(dies).address &&
                    datagram.destination != MemoryNetwork::address_of(dies))) {
        queue.push_back(std::move(datagram));
      }
    };
    begin_all(*network, *vectors);
    network->run();
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      if (rank == dies) {
        continue;
      }
      ASSERT_TRUE((*network)[rank].failure()) << rank;
      const auto& message = (*network)[rank].failure()->message;
      const auto name = "rank " + std::to_string(dies);
      const bool silent = message.find(name + " does not answer") != std::string::npos;
      const bool missing = message.find("no contribution of " + name) != std::string::npos;
      EXPECT_TRUE(silent || missing) << message;
      for (std::uint32_t other = 0; other < 4; ++other) {
        if (other != dies) {
          EXPECT_EQ(message.find("no contribution of rank " + std::to_string(other)),
                    std::string::npos)
              << message;
        }
      }
    }
  }
}

// Requests, and what leaders answer to them, pass in any case.
TEST_F(Faults, WhereFullPacketsVanishTheErrorsOfAllRanksNameThePath) {
  make();
  bool smaller = false;
  network->on_wire = [&](InFlight datagram, std::deque<InFlight>& queue) {
    const auto other = MemoryNetwork::address_of(3);
    smaller = smaller || datagram.header().id.value() == 6;
    const auto kind = datagram.header().kind;
    const bool full = kind == CanaryKind::contribution || kind == CanaryKind::result;
    const bool passes_it =
        datagram.destination == other || datagram.header().child_address == other.address;
    if (!(smaller && full && passes_it)) {
      queue.push_back(std::move(datagram));
    }
  };
  begin_all(*network, *vectors);
  network->run();
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    ASSERT_TRUE((*network)[rank].failure()) << rank;
    const auto& message = (*network)[rank].failure()->message;
    EXPECT_NE(message.find("a link has a smaller MTU"), std::string::npos) << message;
  }
}

TEST_F(Faults, WhereARankDoesNotComeNoErrorNamesThePath) {
  make();
  for (const std::uint32_t rank : {0u, 1u, 2u}) {
    (*network)[rank].begin(vectors->apart(rank), network->now, network->now + deadline_after);
  }
  network->run();
  for (const std::uint32_t rank : {0u, 1u, 2u}) {
    ASSERT_TRUE((*network)[rank].failure()) << rank;
    const auto& message = (*network)[rank].failure()->message;
    EXPECT_EQ(message.find("MTU"), std::string::npos) << message;
  }
}

// Rank 3 dies as soon as it is done, and only rank 0, which leads the completion, lacks a result.
TEST_F(Faults, WhoWaitsForTheCompletionNamesTheDeadRankAndNotTheOneThatWaits) {
  make(4, 16 * 12, {.implicit_release_max = 64});
  bool dead = false;
  network->on_wire = [&](InFlight datagram, std::deque<InFlight>& queue) {
    const auto dies = MemoryNetwork::address_of(3);
    const bool lost = kind_is(CanaryKind::result, 7)(datagram) &&
                      datagram.destination == MemoryNetwork::address_of(0);
    if (!lost && !(dead && (datagram.destination == dies ||
                            datagram.header().child_address == dies.address))) {
      queue.push_back(datagram);
    }
    dead = dead || contribution_of(3, 12)(datagram);
  };
  begin_all(*network, *vectors);
  network->run();
  ASSERT_TRUE(dead);
  for (const std::uint32_t rank : {0u, 1u, 2u}) {
    ASSERT_TRUE((*network)[rank].failure()) << rank;
    const auto& message = (*network)[rank].failure()->message;
    EXPECT_NE(message.find(rank == 0 ? "rank 3 does not answer" : "waits for rank 3"),
              std::string::npos)
        << message;
  }
}

TEST_F(Faults, ALeaderThatIsDoneAnswersFromItsCopy) {
  make();
  // The last results of rank 0, for rank 3, which asks when rank 0's caller has left.
  script.drop([](const InFlight& datagram) {
    return kind_is(CanaryKind::result, 8)(datagram) &&
           datagram.destination == MemoryNetwork::address_of(3);
  });
  begin_all(*network, *vectors);
  network->settle();
  ASSERT_FALSE((*network)[0].running());
  ASSERT_TRUE((*network)[3].running());
  EXPECT_TRUE((*network)[0].retaining());
  EXPECT_EQ((*network)[0].deadline(), never);
  const auto kept = vectors->out[0];
  std::fill(vectors->out[0].begin(), vectors->out[0].end(), std::byte{0x77});
  network->run();
  vectors->out[0] = kept;
  expect_all_done(*network);
  EXPECT_EQ(vectors->wrong(), 0u);
  EXPECT_EQ(of(0).replays_sent, 1u);
}

TEST_F(Faults, WhatIsKeptIsReleasedByABlockOfTheNextCollective) {
  make();
  reduce();
  EXPECT_TRUE((*network)[0].retaining());
  for (const std::uint32_t rank : {0u, 1u, 2u}) {
    (*network)[rank].begin(vectors->apart(rank), network->now, network->now + deadline_after);
  }
  network->settle();
  EXPECT_TRUE((*network)[0].retaining());
  (*network)[3].begin(vectors->apart(3), network->now, network->now + deadline_after);
  bool released = false;
  for (int step = 0; step < 10'000 && (*network)[0].running(); ++step) {
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      network->collect(rank);
    }
    network->deliver();
    released |= !(*network)[0].retaining();
  }
  EXPECT_TRUE(released);
  network->run();
  expect_all_done(*network);
  EXPECT_EQ(vectors->wrong(), 0u);
}

TEST_F(Faults, ALargeCollectiveEndsWithAnExplicitCompletion) {
  make(4, 16 * 12, {.implicit_release_max = 16});
  // Block 12, of rank 0, is the completion; rank 2 lacks a data block of rank 1 for a while.
  script.drop([](const InFlight& datagram) {
    return kind_is(CanaryKind::result, 9)(datagram) &&
           datagram.destination == MemoryNetwork::address_of(2);
  });
  begin_all(*network, *vectors);
  network->settle();
  EXPECT_TRUE((*network)[2].running());
  EXPECT_TRUE((*network)[1].running()) << "a leader left before all had its results";
  network->run();
  expect_all_done(*network);
  EXPECT_EQ(vectors->wrong(), 0u);
  EXPECT_TRUE((*network)[0].retaining());
  EXPECT_FALSE((*network)[1].retaining());
}

TEST_F(Faults, TheLeaderOfTheCompletionAnswersForItAfterwards) {
  make(4, 16 * 12, {.implicit_release_max = 16});
  script.drop(kind_is(CanaryKind::result, 12), 2);
  reduce();
  EXPECT_EQ(of(0).replays_sent, 2u);
}

TEST_F(Faults, InPlaceVectorsSurviveLossOfEverything) {
  make(5, 16 * 40);
  std::mt19937 random(3);
  script.drop([&](const InFlight&) { return random() % 5 == 0; }, 1'000'000);
  for (std::uint32_t rank = 0; rank < 5; ++rank) {
    (*network)[rank].begin(vectors->in_place(rank), network->now, network->now + 60s);
  }
  network->run(100s);
  expect_all_done(*network);
  EXPECT_EQ(vectors->wrong(), 0u);
  EXPECT_GT(sum(&CanaryStatistics::blocks_reissued), 0u);
}

TEST_F(Faults, IdsWrapAlsoWhenBlocksAreReducedAgain) {
  make();
  network = std::make_unique<MemoryNetwork>(4, 64, 4, wire::canary_sequence_mask - 5);
  std::mt19937 random(5);
  network->on_wire = [&](InFlight datagram, std::deque<InFlight>& queue) {
    if (random() % 10 != 0) {
      queue.push_back(std::move(datagram));
    }
  };
  for (int collective = 0; collective < 3; ++collective) {
    reduce();
  }
}

// Loss, duplicates, reordering and damage at once, over several collectives.
TEST_F(Faults, EveryCollectiveEndsExactlyWhateverTheNetworkDoes) {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    std::mt19937 random(seed);
    const std::uint32_t ranks = 2 + seed % 6;
    make(ranks, 1 + random() % 600,
         {.attempts_max = 1 + seed % 4, .implicit_release_max = seed % 2 == 0 ? 64u : 1u << 20});
    network->on_wire = [&](InFlight datagram, std::deque<InFlight>& queue) {
      const auto dice = random() % 100;
      if (dice < 8) {
        return;
      }
      if (dice < 16) {
        queue.push_back(datagram);
      }
      if (dice < 18) {
        datagram.bytes[random() % datagram.bytes.size()] ^= std::byte{4};
      }
      if (dice < 40) {
        queue.insert(queue.begin() + static_cast<std::ptrdiff_t>(random() % (queue.size() + 1)),
                     std::move(datagram));
      } else {
        queue.push_back(std::move(datagram));
      }
    };
    for (int collective = 0; collective < 3; ++collective) {
      reduce();
      ASSERT_FALSE(HasFailure()) << "seed " << seed << " collective " << collective;
    }
  }
}

}  // namespace
}  // namespace tributary::host::test
