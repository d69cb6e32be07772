// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/host/collectives.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model_tree.h"
#include "protocols/panama/host/packets.h"
#include "unit/host/vectors.h"

namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;
using wire::ElementType;
using wire::Operator;

constexpr auto patience = 10s;

void begin_all(ModelTree& model, Vectors& vectors) {
  for (std::uint32_t rank = 0; rank < model.size(); ++rank) {
    model[rank].begin(vectors.apart(rank), model.now, model.now + patience);
  }
}

void expect_all_done(ModelTree& model) {
  for (std::uint32_t rank = 0; rank < model.size(); ++rank) {
    EXPECT_FALSE(model[rank].running()) << "rank " << rank;
    EXPECT_FALSE(model[rank].failure()) << model[rank].failure()->message;
  }
}

std::uint64_t sent(const PanamaStatistics& statistics) {
  std::uint64_t sum = 0;
  for (const auto& tree : statistics.trees) {
    sum += tree.packets_sent;
  }
  return sum;
}

std::uint64_t sent_again(const PanamaStatistics& statistics) {
  std::uint64_t sum = 0;
  for (const auto& tree : statistics.trees) {
    sum += tree.retransmissions_sent;
  }
  return sum;
}

TEST(PanamaCollectives, ReduceEveryTypeAndOperator) {
  for (std::size_t t = 0; t < wire::element_type_count; ++t) {
    for (std::size_t o = 0; o < wire::operator_count; ++o) {
      const auto type = static_cast<ElementType>(t);
      const auto op = static_cast<Operator>(o);
      if (!wire::is_valid(type, op)) {
        continue;
      }
      ModelTree model({.ranks = 3, .trees = 2});
      Vectors vectors(3, 205, type, op, 1);
      begin_all(model, vectors);
      model.run();
      expect_all_done(model);
      EXPECT_EQ(vectors.wrong(), 0u) << name(type) << ' ' << name(op);
    }
  }
}

TEST(PanamaCollectives, ReduceInPlaceOverAndOver) {
  ModelTree model({.ranks = 4, .trees = 3});
  for (const std::size_t count : {1u, 16u, 17u, 47u, 48u, 1000u}) {
    Vectors vectors(4, count, ElementType::i32, Operator::sum);
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      model[rank].begin(vectors.in_place(rank), model.now, model.now + patience);
    }
    model.run();
    expect_all_done(model);
    EXPECT_EQ(vectors.wrong(), 0u) << count;
  }
}

TEST(PanamaCollectives, PacketsMayBecomeSmallerBetweenCollectives) {
  ModelTree model({.ranks = 3, .trees = 2});
  std::uint64_t sent_before = 0;
  for (const std::uint32_t payload_bytes : {64u, 32u}) {
    for (std::uint32_t rank = 0; rank < model.size(); ++rank) {
      model[rank].set_payload(payload_bytes);
    }
    Vectors vectors(3, 160, ElementType::i32, Operator::sum);
    begin_all(model, vectors);
    model.run();
    expect_all_done(model);
    EXPECT_EQ(vectors.wrong(), 0u);
    const auto sent_now = sent(model[0].statistics());
    EXPECT_EQ(sent_now - sent_before, 160 * sizeof(std::int32_t) / payload_bytes);
    sent_before = sent_now;
  }
}

TEST(PanamaCollectives, ReduceLeavesTheOtherRanksBuffersAlone) {
  ModelTree model({.ranks = 3});
  Vectors vectors(3, 100, ElementType::i32, Operator::sum);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    auto call = vectors.apart(rank);
    call.collective = Collective::reduce;
    call.root = 1;
    call.buffers.out = rank == 1 ? call.buffers.out : nullptr;
    model[rank].begin(call, model.now, model.now + patience);
  }
  model.run();
  expect_all_done(model);
  EXPECT_EQ(wrong_elements(vectors.out[1], 3, 100, ElementType::i32, Operator::sum), 0u);
}

// Bits that addition would change: negative zero, and NaNs that carry something.
TEST(PanamaCollectives, BroadcastEveryBit) {
  for (std::size_t t = 0; t < wire::element_type_count; ++t) {
    const auto type = static_cast<ElementType>(t);
    const std::size_t count = 77;
    ModelTree model({.ranks = 3, .trees = 2});
    std::mt19937 random(static_cast<unsigned>(t));
    std::vector<Elements> vectors(3, Elements(count * wire::element_bytes(type)));
    for (auto& vector : vectors) {
      std::generate(vector.begin(), vector.end(), [&] { return std::byte(random()); });
    }
    const auto original = vectors[2];
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      auto* const data = vectors[rank].data();
      model[rank].begin({Collective::broadcast, {data, data, count, type, Operator::sum}, 2},
                        model.now, model.now + patience);
    }
    model.run();
    expect_all_done(model);
    EXPECT_EQ(vectors, std::vector<Elements>(3, original)) << name(type);
  }
}

TEST(PanamaCollectives, NobodyLeavesABarrierBeforeAllHaveCome) {
  ModelTree model({.ranks = 3, .trees = 2});
  const Call barrier{Collective::barrier, {}, 0};
  model[0].begin(barrier, model.now, model.now + patience);
  model[1].begin(barrier, model.now, model.now + patience);
  model.run(1s);
  EXPECT_TRUE(model[0].running());
  EXPECT_TRUE(model[1].running());
  model[2].begin(barrier, model.now, model.now + patience);
  model.run();
  expect_all_done(model);
}

// Packet p goes to tree p mod N, as its packet p div N; the last of a tree has FIN; the header says
// what the switches need (4.1).
TEST(PanamaCollectives, PacketsGoToTreesInTurn) {
  ModelTree model({.ranks = 2, .trees = 4});
  Vectors vectors(2, 16 * 6, ElementType::i32, Operator::sum);
  model[0].begin(vectors.apart(0), model.now, model.now + patience);
  model.collect(0);
  ASSERT_EQ(model.queue().size(), 6u);
  for (std::uint32_t p = 0; p < 6; ++p) {
    const auto& header = model.queue()[p].header();
    EXPECT_EQ(header.tree.value(), p % 4);
    EXPECT_EQ(header.vid.value(), p / 4);
    EXPECT_EQ(header.fin(), p >= 2) << p;
    EXPECT_EQ(header.epoch.value(), 0u);
    EXPECT_EQ(header.workers.value(), 2u);
    EXPECT_EQ(header.contributions.value(), 1u);
    EXPECT_EQ(header.rank.value(), 0u);
    EXPECT_EQ(header.elements.value(), 16u);
    EXPECT_EQ(header.wnd_cap.value(), wire::PanamaHeader::wnd_cap_none);
    EXPECT_FALSE(header.retransmission());
    const auto payload = wire::Bytes(model.queue()[p].bytes).subspan(sizeof header);
    EXPECT_TRUE(std::equal(payload.begin(), payload.end(), vectors.in[0].begin() + p * 64));
  }
}

TEST(PanamaCollectives, TwoPacketsAreSentToEachTreeBeforeASwitchHasSpoken) {
  ModelTree model({.ranks = 2, .trees = 3});
  Vectors vectors(2, 16 * 100, ElementType::i32, Operator::sum);
  model[0].begin(vectors.apart(0), model.now, model.now + patience);
  model.collect(0);
  EXPECT_EQ(model.queue().size(), 6u);
}

TEST(PanamaCollectives, EpochsCountCallsAlsoThoseThatWereRefused) {
  ModelTree model({.ranks = 2});
  Vectors vectors(2, 16, ElementType::i32, Operator::sum);
  model[0].skip(vectors.apart(0));
  Call nothing;
  model[0].skip(nothing);
  model[0].begin(nothing, model.now, model.now + patience);
  EXPECT_FALSE(model[0].running());
  model[0].begin(vectors.apart(0), model.now, model.now + patience);
  model.collect(0);
  EXPECT_EQ(model.queue().front().header().epoch.value(), 1u);
}

// Trees know nothing of each other: one that stands still holds up its own packets only.
TEST(PanamaCollectives, ATreeThatStandsStillDoesNotHoldUpTheOther) {
  ModelTree model({.ranks = 2, .trees = 2});
  model.on_wire = [](const PanamaFlight& flight) {
    return flight.header().tree.value() == 0 ? 0 : 1;
  };
  Vectors vectors(2, 16 * 200, ElementType::i32, Operator::sum);
  begin_all(model, vectors);
  model.run(1s);
  const auto statistics = model[0].statistics();
  EXPECT_EQ(statistics.trees[0].results_received, 0u);
  EXPECT_EQ(statistics.trees[1].results_received, 100u);
  model.on_wire = [](const PanamaFlight&) { return 1; };
  model.run();
  expect_all_done(model);
  EXPECT_EQ(vectors.wrong(), 0u);
}

// The memory of switches relies on this: no packet is sent beyond the lowest one without a result
// by more than the window, which is two before a switch has answered, and at most the cap.
TEST(PanamaCollectives, NothingIsSentBeyondTheWindow) {
  for (const bool control : {true, false}) {
    ModelTree model({.ranks = 2, .congestion_control = control});
    model.root.window_cap = 9;
    std::map<std::uint32_t, std::uint32_t> lowest;  // without a result, by rank
    std::uint32_t widest = 0;
    std::mt19937 random(3);
    model.on_wire = [&](const PanamaFlight& flight) -> unsigned {
      auto& base = lowest[flight.rank];
      if (flight.up) {
        const auto vid = flight.header().vid.value();
        widest = std::max(widest, vid + 1 - std::min(base, vid));
        EXPECT_LE(vid, base + 8);
      }
      return random() % 10 == 0 ? 0 : 1;
    };
    Vectors vectors(2, 16 * 300, ElementType::i32, Operator::sum);
    const auto has_result = [&](std::uint32_t rank, std::uint32_t vid) {
      const auto start = vectors.out[rank].begin() + vid * 64;
      return std::any_of(start, start + 64, [](std::byte b) { return b != std::byte{0xee}; });
    };
    begin_all(model, vectors);
    while (model[0].running() || model[1].running()) {
      for (std::uint32_t rank = 0; rank < 2; ++rank) {
        model[rank].expire(model.now);
        model.collect(rank);
      }
      model.now += 10us;
      while (!model.queue().empty() && model.queue().front().arrival <= model.now) {
        model.deliver();
      }
      for (std::uint32_t rank = 0; rank < 2; ++rank) {
        while (lowest[rank] < 300 && has_result(rank, lowest[rank])) {
          ++lowest[rank];
        }
      }
    }
    expect_all_done(model);
    EXPECT_EQ(vectors.wrong(), 0u);
    EXPECT_EQ(widest, 9u);
  }
}

TEST(PanamaCollectives, MarksMakeTheWindowOfTheirTreeSmaller) {
  ModelTree model({.ranks = 2, .trees = 2, .window_max = 256});
  model.root.window_cap = 256;
  model.marks = [](const wire::PanamaHeader& header) { return header.tree.value() == 1; };
  Vectors vectors(2, 16 * 4000, ElementType::i32, Operator::sum);
  begin_all(model, vectors);
  model.run();
  expect_all_done(model);
  const auto statistics = model[0].statistics();
  EXPECT_GT(statistics.trees[0].window, 64);
  EXPECT_EQ(statistics.trees[0].results_marked, 0u);
  EXPECT_EQ(statistics.trees[0].window_cap, 256u);
  EXPECT_EQ(statistics.trees[1].window, 1);
  EXPECT_EQ(statistics.trees[1].marked_share(), 1);
}

// A lost packet is sent again as soon as three later ones have their results, not by a timer.
TEST(PanamaCollectives, ALostPacketIsSentAgainWhenItIsOvertaken) {
  ModelTree model({.ranks = 3});
  int lost = 0;
  model.on_wire = [&](const PanamaFlight& flight) -> unsigned {
    const bool victim = flight.up && flight.rank == 1 && flight.header().vid.value() == 20;
    return victim && lost++ == 0 ? 0 : 1;
  };
  Vectors vectors(3, 16 * 100, ElementType::i32, Operator::sum);
  begin_all(model, vectors);
  const auto start = model.now;
  model.run();
  expect_all_done(model);
  EXPECT_EQ(vectors.wrong(), 0u);
  EXPECT_LT(model.now - start, 10ms);
  EXPECT_EQ(model[1].statistics().trees[0].timeouts, 0u);
  EXPECT_EQ(sent_again(model[1].statistics()), 1u);
}

TEST(PanamaCollectives, AResultThatWasLostComesAgain) {
  ModelTree model({.ranks = 2});
  int lost = 0;
  model.on_wire = [&](const PanamaFlight& flight) -> unsigned {
    const bool victim = !flight.up && flight.rank == 1 && flight.header().vid.value() == 99;
    return victim && lost++ == 0 ? 0 : 1;
  };
  Vectors vectors(2, 16 * 100, ElementType::i32, Operator::sum);
  begin_all(model, vectors);
  model.run();
  expect_all_done(model);
  EXPECT_EQ(vectors.wrong(), 0u);
  EXPECT_EQ(model[1].statistics().trees[0].timeouts, 1u) << "nothing came after it";
  EXPECT_EQ(sent_again(model[0].statistics()), 0u);
}

// While a rank is late nothing is lost; only the lowest packet is sent again, ever less often.
TEST(PanamaCollectives, WaitingForALateRankCostsLittle) {
  ModelTree model({.ranks = 2});
  Vectors vectors(2, 16 * 100, ElementType::i32, Operator::sum);
  model[0].begin(vectors.apart(0), model.now, model.now + patience);
  model.run(5s);
  model[1].begin(vectors.apart(1), model.now, model.now + patience);
  model.run();
  expect_all_done(model);
  EXPECT_EQ(vectors.wrong(), 0u);
  EXPECT_LE(sent_again(model[0].statistics()), 14u);
  EXPECT_EQ(sent(model[1].statistics()), 100u);
}

TEST(PanamaCollectives, AWindowThatIsLostWholeIsMadeUpForQuickly) {
  ModelTree model({.ranks = 2});
  bool dark = false;
  model.on_wire = [&](const PanamaFlight&) { return dark ? 0 : 1; };
  Vectors vectors(2, 16 * 1000, ElementType::i32, Operator::sum);
  begin_all(model, vectors);
  model.run(800us);
  dark = true;
  model.run(100us);
  dark = false;
  const auto start = model.now;
  model.run();
  expect_all_done(model);
  EXPECT_EQ(vectors.wrong(), 0u);
  EXPECT_LT(model.now - start, 150ms) << "a timeout for each doubling, not for each packet";
}

TEST(PanamaCollectives, SurviveLossDuplicatesAndDamage) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    ModelTree model({.ranks = 2 + seed % 4, .trees = 1 + seed % 3});
    model.on_wire = [&](const PanamaFlight&) -> unsigned {
      const auto draw = random() % 100;
      return draw < 5 ? 0 : draw < 10 ? 2 : 1;
    };
    for (int collective = 0; collective < 3; ++collective) {
      Vectors vectors(model.size(), 16 * 60 + seed, ElementType::i32, Operator::sum);
      begin_all(model, vectors);
      model.run();
      expect_all_done(model);
      EXPECT_EQ(vectors.wrong(), 0u) << "seed " << seed;
    }
  }
}

TEST(PanamaCollectives, ResultsThatAreNotRightAreRefused) {
  struct Case {
    const char* what;
    std::function<void(wire::PanamaHeader&)> change;
    Verdict verdict;  // taken: it was looked into, and rejected
  };
  const Case cases[] = {
      {"job", [](auto& h) { h.job = 8; }, Verdict::foreign},
      {"tree", [](auto& h) { h.tree = 1; }, Verdict::foreign},
      {"kind", [](auto& h) { h.kind = wire::PanamaKind::aggregation; }, Verdict::foreign},
      {"run", [](auto& h) { h.run = h.run.value() + 1; }, Verdict::stale},
      {"epoch before", [](auto& h) { h.epoch = 0xffffffff; }, Verdict::stale},
      {"epoch after", [](auto& h) { h.epoch = 1; }, Verdict::early},
      {"vid", [](auto& h) { h.vid = 5; }, Verdict::mismatch},
      {"type", [](auto& h) { h.element_type = ElementType::f32; }, Verdict::mismatch},
      {"operator", [](auto& h) { h.op = Operator::max; }, Verdict::mismatch},
      {"workers", [](auto& h) { h.workers = 3; }, Verdict::mismatch},
      {"contributions", [](auto& h) { h.contributions = 1; }, Verdict::taken},
      {"fingerprint", [](auto& h) { h.fingerprint = h.fingerprint.value() + 1; }, Verdict::taken},
      {"version", [](auto& h) { h.flags = 9; }, Verdict::malformed},
  };
  for (const auto& one : cases) {
    ModelTree model({.ranks = 2});
    Vectors vectors(2, 16, ElementType::i32, Operator::sum);
    begin_all(model, vectors);
    model.collect(0);
    model.collect(1);
    model.deliver();
    model.deliver();
    ASSERT_EQ(model.queue().size(), 2u);
    auto& result = model.queue().front();
    one.change(result.header());
    seal(result.header(), wire::Bytes(result.bytes).subspan(sizeof(wire::PanamaHeader)));
    model.deliver();
    EXPECT_TRUE(model[0].running()) << one.what;
    const auto statistics = model[0].statistics();
    EXPECT_EQ(one.verdict == Verdict::taken ? statistics.fingerprint_rejections
                                            : statistics.ignored[one.verdict],
              1u)
        << one.what;
    EXPECT_EQ(statistics.refused(), 1u) << one.what;
    EXPECT_EQ(vectors.out[0], Elements(64, std::byte{0xee})) << one.what;
  }
}

TEST(PanamaCollectives, AnErrorNamesTheTreeAndThePacketThatAreMissing) {
  ModelTree model({.ranks = 2, .trees = 2});
  model.on_wire = [](const PanamaFlight& flight) {
    const auto& header = flight.header();
    return header.tree.value() == 1 && header.vid.value() == 3 ? 0 : 1;
  };
  Vectors vectors(2, 16 * 40, ElementType::i32, Operator::sum);
  begin_all(model, vectors);
  model[0].note_trouble("3 packets could not be sent");
  model.run();
  ASSERT_TRUE(model[0].failure());
  const auto& message = model[0].failure()->message;
  EXPECT_EQ(model[0].failure()->code, Error::Code::timeout);
  EXPECT_NE(message.find("tree 1 (239.192.0.2) gave no result of packet 3"), std::string::npos)
      << message;
  EXPECT_EQ(message.find("tree 0 ("), std::string::npos) << message;
  EXPECT_NE(message.find("3 packets could not be sent"), std::string::npos) << message;
  EXPECT_NE(message.find("a link has a smaller MTU than when the ranks met"), std::string::npos)
      << message;

  model.on_wire = [](const PanamaFlight&) { return 1; };
  Vectors next(2, 16 * 40, ElementType::i32, Operator::sum);
  begin_all(model, next);
  model.run();
  expect_all_done(model);
  EXPECT_EQ(next.wrong(), 0u) << "what is left of a collective that failed does not disturb";
}

// Partial aggregation (7): a result needs a quorum, and a rank that comes late finds it done.
TEST(PanamaCollectives, AQuorumIsEnough) {
  ModelTree model({.ranks = 4, .trees = 2, .quorum = 3});
  const std::size_t packets = 40;
  Vectors vectors(4, 16 * packets, ElementType::i32, Operator::sum);
  for (const std::uint32_t rank : {0u, 1u, 2u}) {
    model[rank].begin(vectors.apart(rank), model.now, model.now + patience);
  }
  model.run();
  for (const std::uint32_t rank : {0u, 1u, 2u}) {
    ASSERT_FALSE(model[rank].running());
    ASSERT_FALSE(model[rank].failure());
    EXPECT_EQ(wrong_elements(vectors.out[rank], 3, 16 * packets, ElementType::i32, Operator::sum),
              0u);
    EXPECT_EQ(model[rank].statistics().results_partial, packets);
    EXPECT_EQ(model[rank].statistics().contributions_missing, packets);
    EXPECT_EQ(model[rank].partial_results(), (std::vector<PartialResult>{{0, 16 * packets, {3}}}));
  }
  EXPECT_EQ(model[3].statistics().stashed, packets);
  model[3].begin(vectors.apart(3), model.now, model.now + patience);
  EXPECT_FALSE(model[3].running()) << "all there was to do is done";
  EXPECT_EQ(vectors.out[3], vectors.out[0]);
  EXPECT_EQ(model[3].partial_results(), model[0].partial_results());
  EXPECT_EQ(model[3].statistics().contributions_skipped, packets);
  model.collect(3);
  ASSERT_EQ(model.queue().size(), 2u) << "one in each tree says that it has caught up";
  for (auto& flight : model.queue()) {
    EXPECT_TRUE(flight.header().fin());
    const auto view = wire::parse_panama(flight.bytes);
    ASSERT_EQ(view.error, wire::PanamaError::none);
    EXPECT_EQ(view.mask.word(0), 0b0111u) << "a result goes up with its mask";
  }
  EXPECT_EQ(sent(model[3].statistics()), 2u);
}

// Of a collective after the next one a rank keeps no results, but learns that they are there.
TEST(PanamaCollectives, WhoIsFarBehindAsksForItsResultsAtOnce) {
  ModelTree model({.ranks = 4, .quorum = 3});
  const std::size_t packets = 8;
  std::vector<Vectors> vectors;
  for (int collective = 0; collective < 3; ++collective) {
    vectors.emplace_back(4, 16 * packets, ElementType::i32, Operator::sum);
    for (const std::uint32_t rank : {0u, 1u, 2u}) {
      model[rank].begin(vectors.back().apart(rank), model.now, model.now + patience);
    }
    model.run();
  }
  model[3].begin(vectors[0].apart(3), model.now, model.now + patience);
  EXPECT_FALSE(model[3].running()) << "its results are kept";
  model.run();
  for (const int collective : {1, 2}) {
    model[3].begin(vectors[collective].apart(3), model.now, model.now + patience);
    ASSERT_TRUE(model[3].running());
    model.collect(3);
    ASSERT_FALSE(model.queue().empty());
    for (const auto& flight : model.queue()) {
      EXPECT_TRUE(flight.header().retransmission());
    }
    model.run();
    EXPECT_EQ(vectors[collective].out[3], vectors[collective].out[0]);
  }
}

// Tells whether a rank asks at once for what it lacks, after a result of that collective came.
bool asks_after_result_of(std::uint32_t epoch) {
  ModelTree model({.ranks = 4, .quorum = 3});
  std::optional<PanamaFlight> result;
  model.on_wire = [&](const PanamaFlight& flight) {
    if (!flight.up) {
      result = flight;
    }
    return 1u;
  };
  Vectors vectors(4, 16, ElementType::i32, Operator::sum);
  for (const std::uint32_t rank : {0u, 1u, 2u}) {
    model[rank].begin(vectors.apart(rank), model.now, model.now + patience);
  }
  model.run();
  result->header().epoch = epoch;
  seal(result->header(), wire::Bytes(result->bytes).subspan(sizeof(wire::PanamaHeader)));
  const Arrival arrival{result->bytes, result->ecn};
  model[3].receive({&arrival, 1}, model.now);
  model[3].begin(vectors.apart(3), model.now, model.now + patience);
  model[3].begin(vectors.apart(3), model.now, model.now + patience);
  model.collect(3);
  return model.queue().back().header().retransmission();
}

TEST(PanamaCollectives, AResultOfACollectiveFurtherAheadThanAnybodyCanBeIsNotBelieved) {
  EXPECT_TRUE(asks_after_result_of(wire::panama_epochs_kept - 1));
  EXPECT_FALSE(asks_after_result_of(wire::panama_epochs_kept));
  EXPECT_FALSE(asks_after_result_of(1u << 30));
}

// Rank 3 is late for the first packets, then rank 1, and rank 0 for the last, which is shorter.
TEST(PanamaCollectives, PartialResultsNameWhoIsMissing) {
  ModelTree model({.ranks = 4, .quorum = 3});
  Vectors vectors(4, 16 * 5 + 3, ElementType::i32, Operator::sum);
  model.on_wire = [](const PanamaFlight& flight) {
    const auto vid = flight.header().vid.value();
    const std::uint32_t late = vid < 2 ? 3 : vid < 5 ? 1 : 0;
    return flight.up && flight.rank == late ? 0u : 1u;
  };
  begin_all(model, vectors);
  model.run();
  expect_all_done(model);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(model[rank].partial_results(),
              (std::vector<PartialResult>{{0, 32, {3}}, {32, 48, {1}}, {80, 3, {0}}}));
    EXPECT_EQ(model[rank].statistics().missing_by_rank,
              (std::map<std::uint32_t, std::uint64_t>{{0, 1}, {1, 3}, {3, 2}}));
  }
  Vectors next(4, 16, ElementType::i32, Operator::sum);
  model[0].begin(next.apart(0), model.now, model.now + patience);
  EXPECT_TRUE(model[0].partial_results().empty()) << "they are those of the last collective";
}

// Returns the first rank's result of what the first three ranks send, before it arrives.
PanamaFlight& result_of_three(ModelTree& model, Vectors& vectors) {
  begin_all(model, vectors);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    model.collect(rank);
  }
  while (model.queue().front().up) {
    model.deliver();
  }
  return model.queue().front();
}

// One rank twice in place of another, though as many are in the sum as the quorum needs.
TEST(PanamaCollectives, APartialResultOfOtherRanksThanItCountsIsRefused) {
  ModelTree model({.ranks = 4, .quorum = 3});
  Vectors vectors(4, 16, ElementType::i32, Operator::sum);
  auto& result = result_of_three(model, vectors);
  const auto key = key_of_call(model[0].job().key, 0);
  const PanamaPlace place{.run = 0, .epoch = 0, .tree = 0, .vid = 0};
  result.header().fingerprint =
      result.header().fingerprint.value() - panama_tag(key, place, 1) + panama_tag(key, place, 2);
  seal(result.header(), wire::Bytes(result.bytes).subspan(sizeof(wire::PanamaHeader)));
  model.deliver();
  EXPECT_TRUE(model[0].running());
  EXPECT_EQ(model[0].statistics().fingerprint_rejections, 1u);
}

// The fingerprint proves the mask: nobody is in a sum because somebody says so.
TEST(PanamaCollectives, APartialResultWithTheMaskOfOthersIsRefused) {
  ModelTree model({.ranks = 4, .quorum = 3});
  Vectors vectors(4, 16, ElementType::i32, Operator::sum);
  auto& result = result_of_three(model, vectors);
  wire::set_rank(result.mask(), 0, false);
  wire::set_rank(result.mask(), 3, true);
  result.seal();
  model.deliver();
  EXPECT_TRUE(model[0].running());
  EXPECT_EQ(model[0].statistics().fingerprint_rejections, 1u);
}

TEST(PanamaCollectives, AResultWithoutAMaskIsNoneWhereRanksMayBeMissing) {
  ModelTree model({.ranks = 4, .quorum = 3});
  Vectors vectors(4, 16, ElementType::i32, Operator::sum);
  auto& result = result_of_three(model, vectors);
  result.bytes.resize(result.bytes.size() - result.header().mask_bytes());
  result.header().flags &= static_cast<std::uint8_t>(~wire::PanamaHeader::mask_bit);
  result.seal();
  model.deliver();
  EXPECT_EQ(model[0].statistics().ignored[Verdict::mismatch], 1u);
}

TEST(PanamaCollectives, APartialResultThatCameBeforeIsNotLookedAt) {
  ModelTree model({.ranks = 4, .quorum = 3});
  Vectors vectors(4, 32, ElementType::i32, Operator::sum);
  auto again = result_of_three(model, vectors);
  again.header().fingerprint = again.header().fingerprint.value() + 1;
  seal(again.header(), wire::Bytes(again.bytes).subspan(sizeof(wire::PanamaHeader)));
  model.deliver();
  const Arrival arrival{again.bytes, again.ecn};
  model[0].receive({&arrival, 1}, model.now);
  EXPECT_EQ(model[0].statistics().ignored[Verdict::duplicate], 1u);
  EXPECT_EQ(model[0].statistics().fingerprint_rejections, 0u);
}

// There are more choices of 140 ranks than anybody could try.
TEST(PanamaCollectives, HoweverManyRanksAreMissingEachIsNamed) {
  ModelTree model({.ranks = 200, .quorum = 60});
  Vectors vectors(200, 16, ElementType::i32, Operator::sum);
  std::vector<std::uint32_t> late;
  for (std::uint32_t rank = 0; rank < 200; ++rank) {
    if (rank % 10 < 3) {
      model[rank].begin(vectors.apart(rank), model.now, model.now + patience);
    } else {
      late.push_back(rank);
    }
  }
  model.run();
  EXPECT_FALSE(model[0].running());
  EXPECT_FALSE(model[0].failure());
  EXPECT_EQ(model[0].statistics().contributions_missing, 140u);
  EXPECT_EQ(model[0].partial_results(), (std::vector<PartialResult>{{0, 16, late}}));
}

TEST(PanamaCollectives, BelowTheQuorumNothingIsTaken) {
  ModelTree model({.ranks = 4, .quorum = 3});
  Vectors vectors(4, 16, ElementType::i32, Operator::sum);
  auto& result = result_of_three(model, vectors);
  result.header().contributions = 2;
  wire::set_rank(result.mask(), 2, false);
  seal(result.header(), wire::Bytes(result.bytes).subspan(sizeof(wire::PanamaHeader)));
  model.deliver();
  EXPECT_TRUE(model[0].running());
  EXPECT_EQ(model[0].statistics().fingerprint_rejections, 1u);
  model[0].expire(model.now + 2 * patience);
  ASSERT_TRUE(model[0].failure());
  EXPECT_NE(model[0].failure()->message.find(
                "1 results had fewer than the 3 ranks that TRIBUTARY_SHARE asks for"),
            std::string::npos)
      << model[0].failure()->message;
}

// Returns the rank's answer to an inquiry for that packet's result, or nothing.
std::vector<std::byte> answer_of(PanamaCollectives& machine, std::uint32_t epoch, Time now) {
  wire::PanamaHeader header;
  header.job = machine.job().id;
  header.flags = wire::PanamaHeader::current_version;
  header.kind = wire::PanamaKind::inquiry;
  header.run = panama_run(machine.job().key);
  header.epoch = epoch;
  header.contributions = std::uint16_t{1};
  header.workers = static_cast<std::uint16_t>(machine.job().world_size());
  wire::seal(header, {});
  std::vector<std::byte> bytes(sizeof header);
  std::memcpy(bytes.data(), &header, sizeof header);
  const Arrival arrival{bytes, 0};
  machine.receive({&arrival, 1}, now);
  Outbox outbox(8);
  machine.poll(outbox, now);
  std::vector<std::byte> sent;
  if (!outbox.empty()) {
    const auto& datagram = outbox.front();
    sent.assign(datagram.header().begin(), datagram.header().end());
    for (const auto part : {datagram.payload, datagram.trailer()}) {
      sent.insert(sent.end(), part.begin(), part.end());
    }
  }
  return sent;
}

TEST(PanamaCollectives, WhoHasAResultAnswersForItWhenTheBuffersAreGone) {
  ModelTree model({.ranks = 2});
  Vectors vectors(2, 100, ElementType::i32, Operator::sum);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    model[rank].begin(vectors.in_place(rank), model.now, model.now + patience);
  }
  model.run();
  expect_all_done(model);
  EXPECT_TRUE(model[0].retaining());
  const auto expected = answer_of(model[1], 0, model.now);
  for (auto& byte : vectors.out[0]) {
    byte = {};
  }
  auto sent = answer_of(model[0], 0, model.now);
  EXPECT_EQ(sent, expected);
  const auto view = wire::parse_panama(sent);
  ASSERT_EQ(view.error, wire::PanamaError::none);
  EXPECT_EQ(view.header->kind, wire::PanamaKind::result);
  EXPECT_EQ(view.header->contributions.value(), 2);
  EXPECT_TRUE(answer_of(model[0], 1, model.now).empty()) << "it has not begun that one";
}

// The elements may lie in the caller's buffers, and their mask may not.
TEST(PanamaCollectives, AnAnswerHasTheMaskOfItsResult) {
  ModelTree model({.ranks = 130, .quorum = 128});
  Vectors vectors(130, 16, ElementType::i32, Operator::sum);
  const std::vector<std::uint32_t> late = {64, 128};
  for (std::uint32_t rank = 0; rank < model.size(); ++rank) {
    if (std::find(late.begin(), late.end(), rank) == late.end()) {
      model[rank].begin(vectors.apart(rank), model.now, model.now + patience);
    }
  }
  model.run();
  auto answer = answer_of(model[1], 0, model.now);
  const auto view = wire::parse_panama(answer);
  ASSERT_EQ(view.error, wire::PanamaError::none);
  ASSERT_TRUE(view.header->has_mask());
  EXPECT_EQ(ranks_missing_in(view.mask, 130), late);
}

// Lets one result come to each rank in ten seconds, and none after `stop`.
class SlowTree {
 public:
  SlowTree() {
    model.on_wire = [this](const PanamaFlight& flight) -> unsigned {
      if (flight.up) {
        return 1;
      }
      auto& next = next_[flight.rank];
      if (model.now < next || model.now >= stop) {
        return 0;
      }
      next = model.now + 10s;
      last[flight.rank] = flight.arrival;
      return 1;
    };
  }

  void begin(const Deadline& deadline) {
    for (std::uint32_t rank = 0; rank < model.size(); ++rank) {
      model[rank].begin(vectors.apart(rank), model.now, deadline);
    }
  }

  ModelTree model{{.ranks = 2, .trees = 2, .window_max = 4}};
  Vectors vectors{2, 200, ElementType::f32, Operator::sum};
  const Time start = model.now;
  Time stop = never;
  std::array<Time, 2> last{};  // when a result came to each rank

 private:
  std::array<Time, 2> next_{};
};

TEST(PanamaCollectives, GoesOnAsLongAsItMakesProgress) {
  SlowTree slow;
  slow.begin({never, 30s});
  slow.model.run(1h);
  expect_all_done(slow.model);
  EXPECT_EQ(slow.vectors.wrong(), 0u);
  EXPECT_GT(slow.model.now, slow.start + 90s);
}

TEST(PanamaCollectives, FailsWhenItMadeNoProgressForTooLong) {
  SlowTree slow;
  slow.stop = slow.start + 60s;
  slow.begin({never, 30s});
  slow.model.run(65s);
  const auto first = std::min(slow.last[0], slow.last[1]);
  const auto second = std::max(slow.last[0], slow.last[1]);
  slow.model.run(first + 30s - 1ns - slow.model.now);
  EXPECT_TRUE(slow.model[0].running() && slow.model[1].running());
  slow.model.run(second + 30s - slow.model.now);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    ASSERT_TRUE(slow.model[rank].failure());
    const auto& said = slow.model[rank].failure()->message;
    EXPECT_EQ(slow.model[rank].failure()->code, Error::Code::timeout);
    EXPECT_EQ(said.find("allreduce made no progress for 30 s: tree "), 0u) << said;
  }
}

TEST(PanamaCollectives, AFixedDeadlineEndsItInSpiteOfProgress) {
  SlowTree slow;
  slow.begin({slow.start + 45s, 30s});
  slow.model.run(44s);
  EXPECT_TRUE(slow.model[0].running());
  slow.model.run(1s);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    ASSERT_TRUE(slow.model[rank].failure());
    const auto& said = slow.model[rank].failure()->message;
    EXPECT_EQ(said.find("allreduce did not finish within its deadline of 45 s: tree "), 0u) << said;
  }
}

}  // namespace
}  // namespace tributary::host::test
