// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/host/collectives.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "model_network.h"
#include "protocols/flare/host/packets.h"
#include "unit/host/vectors.h"

namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;
using wire::ElementType;
using wire::Operator;

constexpr auto patience = 10s;  // without progress

void begin_all(FlareModel& model, Vectors& vectors) {
  for (std::uint32_t rank = 0; rank < model.size(); ++rank) {
    model[rank].begin(vectors.apart(rank), model.now, {never, patience});
  }
}

void expect_all_done(FlareModel& model) {
  for (std::uint32_t rank = 0; rank < model.size(); ++rank) {
    EXPECT_FALSE(model[rank].running()) << "rank " << rank;
    EXPECT_FALSE(model[rank].failure()) << model[rank].failure()->message;
  }
}

// All ranks reduce so many i32, and must have the right sums.
void reduce_i32(FlareModel& model, std::size_t count) {
  Vectors vectors(model.size(), count, ElementType::i32, Operator::sum);
  begin_all(model, vectors);
  model.run();
  expect_all_done(model);
  EXPECT_EQ(vectors.wrong(), 0u) << count;
}

// Loses only the first packet that fits.
std::function<unsigned(const FlareFlight&)> losing_one(
    std::function<bool(const FlareFlight&)> fits) {
  return [fits = std::move(fits), lost = false](const FlareFlight& flight) mutable -> unsigned {
    const bool victim = !lost && fits(flight);
    lost = lost || victim;
    return victim ? 0 : 1;
  };
}

TEST(FlareCollectives, ReduceEveryTypeAndOperator) {
  for (std::size_t t = 0; t < wire::element_type_count; ++t) {
    for (std::size_t o = 0; o < wire::operator_count; ++o) {
      const auto type = static_cast<ElementType>(t);
      const auto op = static_cast<Operator>(o);
      if (!wire::is_valid(type, op)) {
        continue;
      }
      FlareModel model({.ranks = 3});
      Vectors vectors(3, 205, type, op, 1);
      begin_all(model, vectors);
      model.run();
      expect_all_done(model);
      EXPECT_EQ(vectors.wrong(), 0u) << name(type) << ' ' << name(op);
    }
  }
}

TEST(FlareCollectives, ReduceForAnyNumberOfRanksAndAnyWindow) {
  for (std::uint32_t ranks = 2; ranks <= 16; ++ranks) {
    for (const std::uint32_t window : {1u, 2u, 3u, 16u, 64u}) {
      FlareModel model({.ranks = ranks, .window = window});
      reduce_i32(model, 16 * 100 + 5);
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const auto statistics = model[rank].statistics();
        EXPECT_EQ(statistics.packets_sent, 101u) << ranks << " ranks, window " << window;
        EXPECT_EQ(statistics.results_received, 101u);
        EXPECT_EQ(statistics.refused(), 0u);
      }
    }
  }
}

TEST(FlareCollectives, ReduceInPlaceOverAndOver) {
  FlareModel model({.ranks = 4});
  for (const std::size_t count : {1u, 16u, 17u, 47u, 48u, 1000u}) {
    Vectors vectors(4, count, ElementType::i32, Operator::sum);
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      model[rank].begin(vectors.in_place(rank), model.now, {never, patience});
    }
    model.run();
    expect_all_done(model);
    EXPECT_EQ(vectors.wrong(), 0u) << count;
  }
}

TEST(FlareCollectives, PacketsMayBecomeSmallerBetweenCollectives) {
  FlareModel model({.ranks = 3});
  reduce_i32(model, 160);
  const auto before = model[0].statistics().packets_sent;
  for (std::uint32_t rank = 0; rank < model.size(); ++rank) {
    model[rank].set_payload(32);
  }
  reduce_i32(model, 160);
  EXPECT_EQ(model[0].statistics().packets_sent - before, 2 * before) << "of half the payload";
}

TEST(FlareCollectives, ReduceLeavesTheOtherRanksBuffersAlone) {
  FlareModel model({.ranks = 3});
  Vectors vectors(3, 100, ElementType::i32, Operator::sum);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    auto call = vectors.apart(rank);
    call.collective = Collective::reduce;
    call.root = 1;
    call.buffers.out = rank == 1 ? call.buffers.out : nullptr;
    model[rank].begin(call, model.now, {never, patience});
  }
  model.run();
  expect_all_done(model);
  EXPECT_EQ(wrong_elements(vectors.out[1], 3, 100, ElementType::i32, Operator::sum), 0u);
}

// Bits that addition would change: negative zero, and NaNs that carry something.
TEST(FlareCollectives, BroadcastEveryBit) {
  for (std::size_t t = 0; t < wire::element_type_count; ++t) {
    const auto type = static_cast<ElementType>(t);
    const std::size_t count = 77;
    FlareModel model({.ranks = 3});
    std::mt19937 random(static_cast<unsigned>(t));
    std::vector<Elements> vectors(3, Elements(count * wire::element_bytes(type)));
    for (auto& vector : vectors) {
      std::generate(vector.begin(), vector.end(), [&] { return std::byte(random()); });
    }
    const auto original = vectors[2];
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      auto* const data = vectors[rank].data();
      model[rank].begin({Collective::broadcast, {data, data, count, type, Operator::sum}, 2},
                        model.now, {never, patience});
    }
    model.run();
    expect_all_done(model);
    EXPECT_EQ(vectors, std::vector<Elements>(3, original)) << name(type);
  }
}

TEST(FlareCollectives, NobodyLeavesABarrierBeforeAllHaveCome) {
  FlareModel model({.ranks = 3});
  const Call barrier{Collective::barrier, {}, 0};
  model[0].begin(barrier, model.now, {never, patience});
  model[1].begin(barrier, model.now, {never, patience});
  model.run(1s);
  EXPECT_TRUE(model[0].running());
  EXPECT_TRUE(model[1].running());
  model[2].begin(barrier, model.now, {never, patience});
  model.run();
  expect_all_done(model);
}

TEST(FlareCollectives, TheHeaderSaysWhatTheSwitchesNeed) {
  FlareModel model({.ranks = 2});
  Vectors vectors(2, 16 * 6, ElementType::i32, Operator::sum);
  model[0].begin(vectors.apart(0), model.now, {never, patience});
  model.collect(0);
  ASSERT_EQ(model.queue().size(), 6u);
  for (std::uint32_t block = 0; block < 6; ++block) {
    const auto& header = model.queue()[block].header();
    EXPECT_EQ(header.job.value(), 7u);
    EXPECT_EQ(header.run.value(), run_of(model[0].job().key));
    EXPECT_EQ(header.block.value(), block);
    EXPECT_EQ(header.kind, wire::FlareKind::contribution);
    EXPECT_EQ(header.elements.value(), 16u);
    EXPECT_EQ(header.contributions.value(), 1u);
    EXPECT_EQ(header.workers.value(), 2u);
    EXPECT_EQ(header.window.value(), 16u);
    EXPECT_FALSE(header.retransmission());
    EXPECT_FALSE(header.answers());
    const auto payload = wire::Bytes(model.queue()[block].bytes).subspan(sizeof header);
    EXPECT_TRUE(std::equal(payload.begin(), payload.end(), vectors.in[0].begin() + block * 64));
  }
}

// A collective begins with the block after the last one of the collective before, also where this
// rank refused that.
TEST(FlareCollectives, BlocksAreNumberedThroughAllCalls) {
  FlareModel model({.ranks = 2});
  Vectors vectors(2, 16 * 3 + 1, ElementType::i32, Operator::sum);
  reduce_i32(model, 16 * 2);
  model[0].skip(vectors.apart(0));
  Call nothing;
  model[0].skip(nothing);
  model[0].begin(nothing, model.now, {never, patience});
  EXPECT_FALSE(model[0].running());
  model[0].skip({Collective::barrier, {}, 0});
  model[0].begin(vectors.apart(0), model.now, {never, patience});
  model.collect(0);
  EXPECT_EQ(model.queue().front().header().block.value(), 2u + 4u + 1u);
}

TEST(FlareCollectives, ACallThatAllRefusedDoesNotDisturbTheNext) {
  FlareModel model({.ranks = 3});
  Vectors vectors(3, 100, ElementType::i32, Operator::sum);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    model[rank].skip(vectors.apart(rank));
  }
  reduce_i32(model, 16 * 20);
}

// Others may lack results of the call before the refused one, and the refused call has no results
// that would show otherwise. Packets must not take the slots of those results.
TEST(FlareCollectives, WhoRefusedACallLeavesTheLastWindowInItsSlotsForAWhile) {
  for (const std::size_t refused : {1u, 5u, 16u, 1000u}) {
    FlareModel model({.ranks = 2, .window = 16});
    reduce_i32(model, 16 * 20);
    Vectors left_out(2, 16 * refused, ElementType::i32, Operator::sum);
    model[0].skip(left_out.apart(0));
    Vectors vectors(2, 16 * 40, ElementType::i32, Operator::sum);
    model[0].begin(vectors.apart(0), model.now, {never, patience});
    model.collect(0);
    EXPECT_EQ(model.queue().size(), refused < 16 ? 16 - refused : 0u) << refused;
    for (const auto& flight : model.queue()) {
      EXPECT_LT(flight.header().block.value(), 20u + 16u);
    }
    model.now += 500ms;
    model[0].expire(model.now);
    model.collect(0);
    const auto first = static_cast<std::size_t>(
        std::count_if(model.queue().begin(), model.queue().end(),
                      [](const auto& flight) { return !flight.header().retransmission(); }));
    EXPECT_EQ(first, 16u) << "the others have had the time to ask";
  }
}

// Whoever lacks a result asks for it in slots that nobody may take yet.
TEST(FlareCollectives, WhoGaveUpCallsTakesNoSlotsThatOthersNeed) {
  struct GivenUp {
    int calls;
    std::size_t blocks;  // of each
  };
  for (const auto [calls, blocks] : {GivenUp{1, 40}, GivenUp{2, 8}}) {
    FlareModel model({.ranks = 2, .window = 16});
    Vectors given_up(2, 16 * blocks, ElementType::i32, Operator::sum);
    for (int call = 0; call < calls; ++call) {
      model[0].begin(given_up.apart(0), model.now, {never, patience});
      model.collect(0);
      model[0].abandon();
    }
    const auto before = model.queue().size();
    Vectors vectors(2, 16 * 40, ElementType::i32, Operator::sum);
    model[0].begin(vectors.apart(0), model.now, {never, patience});
    model.collect(0);
    EXPECT_EQ(model.queue().size(), before);
    model.now += 500ms;
    model[0].expire(model.now);
    model.collect(0);
    EXPECT_GT(model.queue().size(), before) << "the others have had the time to ask";
  }
}

TEST(FlareCollectives, AResultEndsTheCautionAfterARefusedCall) {
  FlareModel model({.ranks = 2, .window = 16});
  reduce_i32(model, 16 * 20);
  Vectors left_out(2, 16 * 5, ElementType::i32, Operator::sum);
  model[0].skip(left_out.apart(0));
  model[1].skip(left_out.apart(1));
  const auto start = model.now;
  reduce_i32(model, 16 * 100);
  EXPECT_LT(model.now - start, 10ms);
}

// Elements of another call are not accepted for this one, though their block has the same number.
TEST(FlareCollectives, EachCallHasFingerprintsOfItsOwn) {
  FlareModel model({.ranks = 2});
  Vectors vectors(2, 16, ElementType::i32, Operator::sum);
  model[0].skip(vectors.apart(0));
  model[0].skip(vectors.apart(0));
  Vectors longer(2, 32, ElementType::i32, Operator::sum);
  model[1].skip(longer.apart(1));
  begin_all(model, vectors);
  model.run(1s);
  EXPECT_TRUE(model[0].running());
  EXPECT_TRUE(model[1].running());
  EXPECT_GT(model[0].statistics().fingerprint_rejections, 0u);
}

// The memory of switches and of ranks relies on this: no block is sent that is a window or more
// beyond the lowest block without a result. No block is left out, or sent twice except as a repeat.
TEST(FlareCollectives, EveryBlockIsSentOnceAndNothingBeyondTheWindow) {
  for (const std::uint32_t window : {1u, 9u, 32u}) {
    FlareModel model({.ranks = 3, .window = window});
    std::vector<std::map<std::uint64_t, unsigned>> sent(3);
    std::vector<std::vector<bool>> has(3, std::vector<bool>(200));
    std::vector<std::uint64_t> lowest(3);  // without a result
    std::uint64_t widest = 0;
    std::mt19937 random(3);
    model.on_arrival = [&](const FlareFlight& flight) {
      if (flight.is_result()) {
        auto& mine = has[flight.rank];
        auto& base = lowest[flight.rank];
        mine[flight.header().block.value()] = true;
        while (base < mine.size() && mine[base]) {
          ++base;
        }
      }
    };
    model.on_wire = [&](const FlareFlight& flight) -> unsigned {
      if (flight.is_contribution()) {
        const auto block = flight.header().block.value();
        const auto base = lowest[flight.rank];
        EXPECT_LT(block, base + window);
        widest = std::max(widest, block + 1 - std::min(base, block));
        sent[flight.rank][block] += flight.header().retransmission() ? 0 : 1;
      }
      return random() % 20 == 0 ? 0 : 1;
    };
    reduce_i32(model, 16 * 200);
    EXPECT_EQ(widest, window);
    for (const auto& blocks : sent) {
      EXPECT_EQ(blocks.size(), 200u);
      EXPECT_TRUE(std::all_of(blocks.begin(), blocks.end(),
                              [](const auto& block) { return block.second == 1; }));
    }
  }
}

TEST(FlareCollectives, RanksSendStaggered) {
  FlareModel model({.ranks = 2, .window = 16});
  Vectors vectors(2, 16 * 16, ElementType::i32, Operator::sum);
  model[1].begin(vectors.apart(1), model.now, {never, patience});
  model.collect(1);
  std::vector<std::uint64_t> order;
  for (const auto& flight : model.queue()) {
    order.push_back(flight.header().block.value());
  }
  EXPECT_EQ(order, (std::vector<std::uint64_t>{4, 5, 6, 7, 0, 1, 2, 3,  //
                                               12, 13, 14, 15, 8, 9, 10, 11}));
}

TEST(FlareCollectives, APacketThatWasLostIsSentAgainWhenItIsOvertaken) {
  FlareModel model({.ranks = 3});
  model.on_wire = losing_one([](const FlareFlight& flight) {
    return flight.is_contribution() && flight.rank == 1 && flight.header().block.value() == 20;
  });
  const auto start = model.now;
  reduce_i32(model, 16 * 100);
  EXPECT_LT(model.now - start, 10ms);
  EXPECT_EQ(model[1].statistics().timeouts, 0u);
  EXPECT_EQ(model[1].statistics().retransmissions_sent, 1u);
}

TEST(FlareCollectives, AResultThatWasLostComesAgain) {
  FlareModel model({.ranks = 2});
  model.on_wire = losing_one([](const FlareFlight& flight) {
    return flight.is_result() && flight.rank == 1 && flight.header().block.value() == 99;
  });
  reduce_i32(model, 16 * 100);
  EXPECT_EQ(model[1].statistics().timeouts, 1u) << "nothing came after it";
  EXPECT_EQ(model[1].statistics().retransmissions_sent, 1u);
  EXPECT_EQ(model[0].statistics().retransmissions_sent, 0u);
}

// While a rank is late nothing is lost; only the lowest block is sent again, ever less often.
TEST(FlareCollectives, WaitingForALateRankCostsLittle) {
  FlareModel model({.ranks = 2});
  Vectors vectors(2, 16 * 100, ElementType::i32, Operator::sum);
  model[0].begin(vectors.apart(0), model.now, {never, patience});
  model.run(5s);
  const auto repeats = model[0].statistics().retransmissions_sent;
  EXPECT_GE(repeats, 1u);
  EXPECT_LE(repeats, 17u);
  EXPECT_EQ(model[1].statistics().ignored[Verdict::early], repeats) << "the switch asks";
  model[1].begin(vectors.apart(1), model.now, {never, patience});
  model.run();
  expect_all_done(model);
  EXPECT_EQ(vectors.wrong(), 0u);
  EXPECT_EQ(model[1].statistics().packets_sent, 100u);
}

TEST(FlareCollectives, AWindowThatIsLostWholeIsMadeUpForQuickly) {
  FlareModel model({.ranks = 2, .window = 64});
  bool dark = false;
  model.on_wire = [&](const FlareFlight&) { return dark ? 0 : 1; };
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
  EXPECT_LT(model.now - start, 150ms) << "a timeout for each doubling, not for each block";
}

TEST(FlareCollectives, SurviveLossDuplicatesAndDisorder) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    FlareModel model({.ranks = 2 + seed % 15, .window = 1 + seed % 33});
    model.on_wire = [&](const FlareFlight&) -> unsigned {
      const auto draw = random() % 100;
      return draw < 5 ? 0 : draw < 10 ? 2 : 1;
    };
    model.late = [&] { return (random() % 8) * 20us; };
    for (int collective = 0; collective < 3; ++collective) {
      reduce_i32(model, 16 * 60 + seed);
    }
  }
}

// Switches restart again and again. Buffers are used in place, so that a rank with a result cannot
// contribute once more.
TEST(FlareCollectives, SurviveSwitchesThatForget) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    FlareModel model({.ranks = 2 + seed % 5, .window = 8});
    model.on_wire = [&](const FlareFlight& flight) -> unsigned {
      if (flight.up && random() % 200 == 0) {
        model.tree.forget();
      }
      return random() % 50 == 0 ? 0 : 1;
    };
    for (int collective = 0; collective < 3; ++collective) {
      Vectors vectors(model.size(), 16 * 60 + seed, ElementType::i32, Operator::sum);
      for (std::uint32_t rank = 0; rank < model.size(); ++rank) {
        model[rank].begin(vectors.in_place(rank), model.now, {never, patience});
      }
      model.run();
      expect_all_done(model);
      EXPECT_EQ(vectors.wrong(), 0u) << "seed " << seed;
    }
  }
}

// The rank that lacks a result is the only one that is not done, and its switch knows nothing.
TEST(FlareCollectives, WhoIsDoneAnswersForASwitchThatForgot) {
  FlareModel model({.ranks = 3});
  model.on_wire = losing_one([](const FlareFlight& flight) {
    return flight.is_result() && flight.rank == 2 && flight.header().block.value() == 9;
  });
  Vectors vectors(3, 16 * 10, ElementType::i32, Operator::sum);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    model[rank].begin(vectors.in_place(rank), model.now, {never, patience});
  }
  model.run(1ms);
  ASSERT_FALSE(model[0].running());
  ASSERT_TRUE(model[2].running());
  model.tree.forget();
  // Buffers belong to the caller again.
  std::fill(vectors.out[0].begin(), vectors.out[0].end(), std::byte{0xee});
  std::fill(vectors.out[1].begin(), vectors.out[1].end(), std::byte{0xee});
  model.run();
  expect_all_done(model);
  EXPECT_EQ(wrong_elements(vectors.out[2], 3, 160, ElementType::i32, Operator::sum), 0u);
  EXPECT_EQ(model[0].statistics().answers_sent, 1u);
  EXPECT_EQ(model[0].statistics().retransmissions_sent, 0u);
}

TEST(FlareCollectives, ResultsThatAreNotRightAreRefused) {
  struct Case {
    const char* what;
    std::function<void(wire::FlareHeader&)> change;
    Verdict verdict;  // taken: it was looked into, and rejected
  };
  const Case cases[] = {
      {"job", [](auto& h) { h.job = 8; }, Verdict::foreign},
      {"kind", [](auto& h) { h.kind = wire::FlareKind::contribution; }, Verdict::foreign},
      {"run", [](auto& h) { h.run = h.run.value() + 1; }, Verdict::stale},
      {"block of the next collective", [](auto& h) { h.block = 1; }, Verdict::early},
      {"type", [](auto& h) { h.element_type = ElementType::f32; }, Verdict::mismatch},
      {"operator", [](auto& h) { h.op = Operator::max; }, Verdict::mismatch},
      {"workers", [](auto& h) { h.workers = 3; }, Verdict::mismatch},
      {"contributions", [](auto& h) { h.contributions = 1; }, Verdict::mismatch},
      {"window", [](auto& h) { h.window = 8; }, Verdict::mismatch},
      {"fingerprint", [](auto& h) { h.fingerprint = h.fingerprint.value() + 1; }, Verdict::taken},
      {"version", [](auto& h) { h.flags = 9; }, Verdict::malformed},
  };
  for (const auto& one : cases) {
    FlareModel model({.ranks = 2});
    Vectors vectors(2, 16, ElementType::i32, Operator::sum);
    begin_all(model, vectors);
    model.collect(0);
    model.collect(1);
    model.deliver();
    model.deliver();
    ASSERT_EQ(model.queue().size(), 2u);
    auto& result = model.queue().front();
    one.change(result.header());
    wire::seal(result.header(), wire::Bytes(result.bytes).subspan(sizeof(wire::FlareHeader)));
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

TEST(FlareCollectives, ResultsOfACollectiveThatIsOverAreStale) {
  FlareModel model({.ranks = 2});
  model.on_wire = [](const FlareFlight& flight) { return flight.up ? 1 : 2; };
  reduce_i32(model, 16);
  EXPECT_EQ(model[0].statistics().ignored[Verdict::stale], 1u);
}

// A switch asks the rank for that block.
void ask(FlareCollectives& machine, std::uint64_t block, Time now) {
  wire::FlareHeader header;
  header.job = machine.job().id;
  header.run = run_of(machine.job().key);
  header.block = block;
  header.flags = wire::FlareHeader::current_version;
  header.kind = wire::FlareKind::inquiry;
  header.contributions = 1;
  header.workers = static_cast<std::uint16_t>(machine.job().world_size());
  header.window = static_cast<std::uint16_t>(machine.plan().window);
  wire::seal(header, {});
  std::vector<std::byte> bytes(sizeof header);
  std::memcpy(bytes.data(), &header, sizeof header);
  const Arrival arrival{bytes};
  machine.receive({&arrival, 1}, now);
}

// Returns the rank's answer to a switch that asks for that block, or nothing.
std::vector<std::byte> answer_of(FlareCollectives& machine, std::uint64_t block, Time now) {
  ask(machine, block, now);
  Outbox outbox(8);
  machine.poll(outbox, now);
  std::vector<std::byte> sent;
  if (!outbox.empty()) {
    const auto& datagram = outbox.front();
    sent.assign(datagram.header().begin(), datagram.header().end());
    sent.insert(sent.end(), datagram.payload.begin(), datagram.payload.end());
  }
  return sent;
}

TEST(FlareCollectives, WhoIsAskedOftenForABlockAnswersOnce) {
  FlareModel model({.ranks = 2, .window = 4});
  reduce_i32(model, 16 * 2);
  for (int i = 0; i < 1000; ++i) {
    ask(model[0], 0, model.now);
    ask(model[0], 1, model.now);
  }
  Outbox outbox(16);
  model[0].poll(outbox, model.now);
  EXPECT_EQ(model[0].statistics().answers_sent, 2u);
  EXPECT_EQ(model[0].statistics().ignored[Verdict::duplicate], 1998u);
}

TEST(FlareCollectives, WhoHasAResultAnswersForItWhenTheBuffersAreGone) {
  FlareModel model({.ranks = 2, .window = 4});
  Vectors vectors(2, 16 * 9, ElementType::i32, Operator::sum);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    model[rank].begin(vectors.in_place(rank), model.now, {never, patience});
  }
  model.run();
  expect_all_done(model);
  EXPECT_TRUE(model[0].retaining());
  const auto right = vectors.out[0];
  std::fill(vectors.out[0].begin(), vectors.out[0].end(), std::byte{});
  for (std::uint32_t block = 5; block < 9; ++block) {
    auto sent = answer_of(model[0], block, model.now);
    const auto view = wire::parse_flare(sent);
    ASSERT_EQ(view.error, wire::FlareError::none);
    EXPECT_EQ(view.header->kind, wire::FlareKind::result);
    EXPECT_EQ(view.header->block.value(), block);
    EXPECT_EQ(view.header->contributions.value(), 2);
    EXPECT_TRUE(view.header->answers());
    EXPECT_FALSE(view.header->retransmission());
    EXPECT_TRUE(std::equal(view.payload.begin(), view.payload.end(), right.begin() + block * 64));
  }
  EXPECT_TRUE(answer_of(model[0], 4, model.now).empty()) << "nobody can lack that";
  EXPECT_TRUE(answer_of(model[0], 9, model.now).empty()) << "it has not begun that one";
  EXPECT_EQ(model[0].statistics().answers_sent, 4u);
}

TEST(FlareCollectives, ARankKeepsResultsUntilAllHaveBegunTheNextCollective) {
  FlareModel model({.ranks = 2});
  reduce_i32(model, 16);
  ASSERT_TRUE(model[0].retaining());
  Vectors vectors(2, 16 * 32, ElementType::i32, Operator::sum);
  model[0].begin(vectors.apart(0), model.now, {never, patience});
  model.run(1s);
  EXPECT_TRUE(model[0].retaining()) << "the other may lack the result of the first";
  EXPECT_FALSE(answer_of(model[0], 0, model.now).empty());
  model[1].begin(vectors.apart(1), model.now, {never, patience});
  model.run(model.delay * 2);
  EXPECT_TRUE(model[0].running());
  EXPECT_FALSE(model[0].retaining());
}

TEST(FlareCollectives, WhoHasOnlyContributedAnswersWithThat) {
  FlareModel model({.ranks = 2});
  Vectors vectors(2, 16, ElementType::i32, Operator::sum);
  model[0].begin(vectors.apart(0), model.now, {never, patience});
  model.collect(0);
  auto sent = answer_of(model[0], 0, model.now);
  const auto view = wire::parse_flare(sent);
  ASSERT_EQ(view.error, wire::FlareError::none);
  EXPECT_EQ(view.header->kind, wire::FlareKind::contribution);
  EXPECT_TRUE(view.header->answers());
  EXPECT_TRUE(view.header->retransmission());
  EXPECT_TRUE(std::equal(view.payload.begin(), view.payload.end(), vectors.in[0].begin()));
}

TEST(FlareCollectives, WhoGaveACollectiveUpHasNothingOfIt) {
  FlareModel model({.ranks = 2});
  Vectors vectors(2, 16 * 4, ElementType::i32, Operator::sum);
  begin_all(model, vectors);
  model.on_wire = [](const FlareFlight& flight) {
    return flight.header().block.value() == 3 ? 0 : 1;
  };
  model.run(1s);
  ASSERT_TRUE(model[0].running());
  EXPECT_FALSE(answer_of(model[0], 0, model.now).empty());
  model[0].abandon();
  EXPECT_FALSE(model[0].running());
  EXPECT_TRUE(answer_of(model[0], 0, model.now).empty());
  EXPECT_TRUE(answer_of(model[0], 3, model.now).empty());
}

TEST(FlareCollectives, AnErrorNamesTheTreeAndTheBlocksThatAreMissing) {
  FlareModel model({.ranks = 2, .window = 8});
  model.on_wire = [](const FlareFlight& flight) {
    const auto block = flight.header().block.value();
    return block == 23 || (block >= 26 && block < 40) ? 0 : 1;
  };
  reduce_i32(model, 16 * 20);
  Vectors vectors(2, 16 * 40, ElementType::i32, Operator::sum);
  begin_all(model, vectors);
  model[0].note_trouble("3 packets could not be sent");
  model.run();
  ASSERT_TRUE(model[0].failure());
  const auto& message = model[0].failure()->message;
  EXPECT_EQ(model[0].failure()->code, Error::Code::timeout);
  EXPECT_NE(message.find("tree 239.192.0.1 gave no result of blocks 23, 26, 27, 28 and 2 more "
                         "(11 of 40 sent)"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("3 packets could not be sent"), std::string::npos) << message;
  EXPECT_NE(message.find("'tributaryctl stalled'"), std::string::npos) << message;
  EXPECT_EQ(message.find("flare_no_tree"), std::string::npos) << "it is there: " << message;
  EXPECT_NE(message.find("a link has a smaller MTU than when the ranks met"), std::string::npos)
      << message;

  model.on_wire = [](const FlareFlight&) { return 1; };
  reduce_i32(model, 16 * 40);  // what is left of a collective that failed does not disturb
}

// The block belongs to the call that came first: the other ranks are told at once, and do not wait
// for their timeout.
TEST(FlareCollectives, WhoCallsSomethingElseThanOthersIsToldSo) {
  struct Case {
    ElementType type;
    Operator op;
    std::size_t count;
    const char* told;
  };
  for (const auto& [type, op, count, told] :
       {Case{ElementType::f32, Operator::sum, 16, "is i32 by sum at others, f32 by sum here"},
        Case{ElementType::i32, Operator::max, 16, "is i32 by sum at others, i32 by max here"},
        Case{ElementType::i32, Operator::sum, 15, "is of another length at others than here"}}) {
    FlareModel model({.ranks = 3});
    Vectors vectors(3, 16, ElementType::i32, Operator::sum);
    Vectors others(3, count, type, op);
    const auto start = model.now;
    model[0].begin(vectors.apart(0), model.now, {never, patience});
    model.collect(0);
    model[1].begin(others.apart(1), model.now, {never, patience});
    model[2].begin(vectors.apart(2), model.now, {never, patience});
    model.run(1ms);
    EXPECT_TRUE(model[0].running());
    EXPECT_TRUE(model[2].running()) << "nothing is wrong with its own";
    ASSERT_TRUE(model[1].failure());
    EXPECT_EQ(model[1].failure()->code, Error::Code::mismatch);
    const auto& message = model[1].failure()->message;
    EXPECT_NE(message.find("block 0 of the tree 239.192.0.1 " + std::string(told)),
              std::string::npos)
        << message;
    EXPECT_EQ(message.rfind("allreduce: ", 0), 0u) << message;
    EXPECT_EQ(model[1].statistics().refused(), 0u) << "it was not ignored";
    EXPECT_LE(model.now - start, 1ms);
  }
}

TEST(FlareCollectives, RefusalsOfWhatThisRankHasNotSentEndNothing) {
  for (const bool is_done : {false, true}) {
    FlareModel model({.ranks = 2});
    Vectors vectors(2, 16 * 2, ElementType::i32, Operator::sum);
    begin_all(model, vectors);
    model.collect(0);
    auto refusal = model.queue().front();
    refusal.header().kind = wire::FlareKind::refusal;
    refusal.header().elements = 0;
    refusal.bytes.resize(sizeof(wire::FlareHeader));
    if (!is_done) {  // a guess
      refusal.header().fingerprint = refusal.header().fingerprint.value() + 1;
    }
    wire::seal(refusal.header(), {});
    if (is_done) {
      model.run();
      EXPECT_FALSE(model[0].failure());
    }
    const Arrival arrival{refusal.bytes};
    model[0].receive({&arrival, 1}, model.now);
    EXPECT_FALSE(model[0].failure());
    EXPECT_EQ(model[0].statistics().refused(), 1u);
    model.run();
    expect_all_done(model);
    EXPECT_EQ(vectors.wrong(), 0u);
  }
}

// Switches that drop all of a job's packets show it only in their counters.
TEST(FlareCollectives, WhereNoResultCameAnErrorNamesTheDropReasonsToLookFor) {
  FlareModel model({.ranks = 2, .window = 8});
  model.on_wire = [](const FlareFlight&) { return 0; };
  Vectors vectors(2, 16 * 20, ElementType::i32, Operator::sum);
  begin_all(model, vectors);
  model.run();
  ASSERT_TRUE(model[0].failure());
  const auto& message = model[0].failure()->message;
  for (const auto* named : {"not one result came", "'tributaryctl drops'", "flare_no_tree",
                            "flare_wrong_port", "flare_mismatch", "'tributaryctl stalled'"}) {
    EXPECT_NE(message.find(named), std::string::npos) << named << " in " << message;
  }
}

// Lets one result come to each rank in ten seconds, and none after `stop`.
class SlowTree {
 public:
  SlowTree() {
    model.on_wire = [this](const FlareFlight& flight) -> unsigned {
      if (!flight.is_result()) {
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

  FlareModel model{{.ranks = 2, .window = 4}};
  Vectors vectors{2, 200, ElementType::f32, Operator::sum};
  const Time start = model.now;
  Time stop = never;
  std::array<Time, 2> last{};  // when a result came to each rank

 private:
  std::array<Time, 2> next_{};
};

TEST(FlareCollectives, GoesOnAsLongAsItMakesProgress) {
  SlowTree slow;
  slow.begin({never, 30s});
  slow.model.run(1h);
  expect_all_done(slow.model);
  EXPECT_EQ(slow.vectors.wrong(), 0u);
  EXPECT_GT(slow.model.now, slow.start + 90s);
}

TEST(FlareCollectives, FailsWhenItMadeNoProgressForTooLong) {
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

TEST(FlareCollectives, AFixedDeadlineEndsItInSpiteOfProgress) {
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
