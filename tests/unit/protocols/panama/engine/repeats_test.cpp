// SPDX-License-Identifier: BSD-3-Clause
// Tests packets that are lost, and repeated.
#include "fixture.h"
#include "protocols/panama/engine/drop_reasons.h"

namespace tributary::panama {
namespace {

class Repeats : public PanamaTest {};

TEST_F(Repeats, ARepeatedPacketIsNotAddedTwice) {
  const auto tree = root_of(2);
  start({tree});
  feed(from(tree, 0), Ints{5});
  feed(again(from(tree, 0)));
  EXPECT_EQ(harness->drops(drop::duplicate), 1u);
  const auto sent = feed(from(tree, 1), Ints{6});
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(Seen(sent[0]).elements<std::int32_t>(), Ints{11});
}

TEST_F(Repeats, TheRootReplaysAResultToWhoLostItAlone) {
  const auto tree = root_of(3);
  start({tree});
  for (const auto port : tree.children) {
    feed(from(tree, port), Ints{1, 2, 3});
  }
  expect_drop(from(tree, 1), drop::duplicate);
  const auto sent = feed(again(from(tree, 1)));
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].port, 1);
  EXPECT_EQ(Seen(sent[0]).elements<std::int32_t>(), (Ints{3, 6, 9}));
  EXPECT_EQ(Seen(sent[0]).header().kind, wire::PanamaKind::result);
  EXPECT_EQ(harness->figure("replays_total"), 1u);
}

TEST_F(Repeats, AResultIsReplayedAfterItsEpochEnded) {
  const auto tree = root_of(2);
  start({tree});
  round(tree, 0, true);
  auto spec = again(from(tree, 1));
  spec.fin = true;
  EXPECT_EQ(feed(spec).size(), 1u);
  EXPECT_EQ(round(tree, 0, true, 1).size(), 2u);
  spec.epoch = 1;
  EXPECT_EQ(feed(spec).size(), 1u);
  spec.epoch = 0;
  const auto sent = feed(spec);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(Seen(sent[0]).header().kind, wire::PanamaKind::inquiry) << "who has gone on has it";
}

TEST_F(Repeats, ASumWhoseResultIsMissingGoesUpAgainButNotTooOften) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  feed(from(tree, 0), Ints{5});
  feed(from(tree, 1), Ints{6});
  EXPECT_TRUE(feed(again(from(tree, 0))).empty()) << "sent just now";
  now += 2ms;
  const auto sent = feed(again(from(tree, 0)));
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].port, parent_port);
  const Seen seen(sent[0]);
  EXPECT_TRUE(seen.header().retransmission());
  EXPECT_EQ(seen.header().contributions.value(), 2);
  EXPECT_EQ(seen.elements<std::int32_t>(), Ints{11});
  EXPECT_TRUE(feed(again(from(tree, 1))).empty());
}

TEST_F(Repeats, ASwitchInTheMiddleReplaysTheResultItself) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  round(tree, 0);
  feed(as_result(from(tree, 0)), Ints{44});
  now += 2ms;
  const auto sent = feed(again(from(tree, 1)));
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].port, 1);
  EXPECT_EQ(Seen(sent[0]).elements<std::int32_t>(), Ints{44});
  EXPECT_EQ(Seen(sent[0]).header().contributions.value(), 4);
}

TEST_F(Repeats, AResultThatComesTwiceGoesDownOnce) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  round(tree, 0);
  EXPECT_EQ(feed(as_result(from(tree, 0))).size(), 2u);
  expect_drop(as_result(from(tree, 0)), drop::duplicate);
}

TEST_F(Repeats, AResultThatDoesNotFitTheSumIsRefused) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  round(tree, 0);
  auto spec = as_result(from(tree, 0));
  spec.op = wire::Operator::max;
  expect_drop(spec, drop::mismatch);
  spec = as_result(from(tree, 0));
  spec.ttl = 1;
  expect_drop(spec, DropReason::ttl_exceeded);
  spec.ttl = 2;
  EXPECT_EQ(feed(spec).size(), 2u);
}

TEST_F(Repeats, AnOlderEpochEndsNothing) {
  const auto tree = root_of(2);
  start({tree});
  round(tree, 0, true, 4);
  auto spec = from(tree, 0);
  spec.epoch = 5;
  feed(spec);
  spec.ingress = 1;
  EXPECT_EQ(feed(spec).size(), 2u);
  for (const std::uint32_t vid : {1u, 2u}) {
    spec.vid = vid;
    spec.epoch = 3;
    EXPECT_TRUE(feed(spec).empty());
    spec.epoch = 5;
    spec.ingress = 0;
    EXPECT_TRUE(feed(spec).empty());
    spec.ingress = 1;
    EXPECT_EQ(feed(spec).size(), 2u);
  }
}

TEST_F(Repeats, ANewerEpochDropsWhatWaitedForTheOldOne) {
  const auto tree = root_of(2);
  start({tree});
  feed(from(tree, 0), Ints{5});
  EXPECT_EQ(round(tree, 0, true, 1).size(), 2u);
  EXPECT_EQ(harness->figure("packets_held"), 0u);
}

// A job that is started again counts its epochs from zero, and not all fingerprints prove it: where
// some may be missing, nobody can tell whose are in a sum.
TEST_F(Repeats, AnotherRunOfTheJobIsToldFromTheLastByItsNumber) {
  const auto tree = root_of(2);
  start({tree});
  round(tree, 0);
  round(tree, 1, true);
  for (const std::uint32_t vid : {0u, 1u}) {
    auto spec = from(tree, 0, vid);
    spec.run = 1;
    spec.fin = vid == 1;
    EXPECT_TRUE(feed(spec, Ints{100}).empty());
    spec.ingress = 1;
    const auto sent = feed(spec, Ints{1});
    ASSERT_EQ(sent.size(), 2u);
    EXPECT_EQ(Seen(sent[0]).elements<std::int32_t>(), Ints{101});
  }
}

// A stray packet has begun an epoch of the past again, which then was left at once.
TEST_F(Repeats, AStrayResultTakesNoPlaceInTheEpochThatFollowed) {
  const auto tree = leaf_of(1, 2);
  start({tree}, 2);
  const auto spec_of = [&](std::uint32_t epoch, std::uint32_t vid) {
    auto spec = from(tree, 0, vid);
    spec.epoch = epoch;
    spec.fin = epoch == 1 && vid == 9;
    return spec;
  };
  const auto send = [&](std::uint32_t epoch, std::uint32_t vid) { feed(spec_of(epoch, vid)); };
  const auto answer = [&](std::uint32_t epoch, std::uint32_t vid) {
    return feed(as_result(spec_of(epoch, vid))).size();
  };
  for (std::uint32_t vid = 0; vid < 10; ++vid) {
    send(1, vid);
    EXPECT_EQ(answer(1, vid), 1u);
  }
  send(1, 1);
  for (std::uint32_t vid = 0; vid < 4; ++vid) {
    send(2, vid);
    if (vid == 3) {
      EXPECT_EQ(answer(1, 9), 0u);
    }
    EXPECT_EQ(answer(2, vid), 1u) << vid;
  }
}

TEST_F(Repeats, TheLastResultOfAnEpochThatIsOverDoesNotEndTheNext) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  ASSERT_EQ(round(tree, 0, true, 1).size(), 1u);
  ASSERT_EQ(round(tree, 0, false, 2).size(), 1u);
  auto last = as_result(from(tree, 0));
  last.epoch = 1;
  last.fin = true;
  EXPECT_EQ(feed(last).size(), 2u);
  EXPECT_EQ(round(tree, 1, false, 2).size(), 1u);
}

TEST_F(Repeats, AResultBeyondAllWindowsIsStale) {
  const auto tree = leaf_of(2, 4);
  start({tree}, 16);
  round(tree, 0);
  feed(from(tree, 0, 1));
  for (const std::uint32_t vid : {33u, 0xffffffffu}) {
    expect_drop(as_result(from(tree, 0, vid)), drop::stale);
  }
  EXPECT_EQ(feed(as_result(from(tree, 0, 31))).size(), 2u);
  EXPECT_EQ(feed(from(tree, 1, 1)).size(), 1u);
}

// A stray packet made the tree leave the epoch that the job is in, after a long silence.
TEST_F(Repeats, AnEpochThatWasLeftForAStrayPacketGoesOn) {
  const auto tree = root_of(2);
  start({tree}, 2);
  for (std::uint32_t vid = 0; vid < 6; ++vid) {
    round(tree, vid, vid == 5, 1);
  }
  for (std::uint32_t vid = 0; vid < 3; ++vid) {
    round(tree, vid, false, 2);
  }
  now += 2s;
  auto stray = from(tree, 0, 1);
  stray.epoch = 1;
  EXPECT_TRUE(feed(stray).empty());
  EXPECT_EQ(round(tree, 3, false, 2).size(), 2u);
}

TEST_F(Repeats, ASwitchThatStartsInTheMiddleGoesOnWithWhatComes) {
  const auto tree = root_of(2);
  start({tree});
  for (const std::uint32_t vid : {500u, 501u, 502u, 503u}) {
    EXPECT_EQ(round(tree, vid, vid == 503, 3).size(), 2u);
  }
  EXPECT_EQ(harness->figure("trees_active"), 0u);
}

TEST_F(Repeats, VidsAtTheEndsOfTheirRangeAreHarmless) {
  const auto tree = root_of(2);
  start({tree});
  for (const std::uint32_t vid : {0xffffffffu, 0u, 0x80000000u, 1u}) {
    feed(from(tree, 0, vid));
  }
  EXPECT_EQ(round(tree, 0, true, 1).size(), 2u);
}

// An inquiry about that packet.
PanamaSpec about(PanamaSpec spec, PortIndex ingress) {
  spec.kind = wire::PanamaKind::inquiry;
  spec.ingress = ingress;
  spec.rank = wire::PanamaHeader::no_rank;
  return spec;
}

// The result of that packet from below.
PanamaSpec answer(PanamaSpec spec, PortIndex ingress) {
  spec = as_result(spec);
  spec.ingress = ingress;
  return spec;
}

std::vector<PortIndex> ports_of(const std::vector<test::Sent>& sent, wire::PanamaKind kind) {
  std::vector<PortIndex> ports;
  for (const auto& one : sent) {
    EXPECT_EQ(Seen(one).header().kind, kind);
    ports.push_back(one.port);
  }
  return ports;
}

using Ports = std::vector<PortIndex>;

TEST_F(Repeats, WhoIsMissingIsAskedWhenAnotherOneRepeats) {
  const auto tree = root_of(3);
  start({tree});
  round(tree, 0);
  feed(from(tree, 0, 1));
  feed(from(tree, 1, 1));
  EXPECT_EQ(ports_of(feed(again(from(tree, 1, 1))), wire::PanamaKind::inquiry), Ports{2});
  EXPECT_TRUE(feed(again(from(tree, 0, 1))).empty()) << "asked just now";
  now += 2ms;
  EXPECT_EQ(ports_of(feed(again(from(tree, 0, 1))), wire::PanamaKind::inquiry), Ports{2});
}

TEST_F(Repeats, WhoAsksAfterARestartIsAnsweredByWhoHasTheResult) {
  const auto tree = root_of(3);
  start({tree});
  EXPECT_EQ(ports_of(feed(again(from(tree, 0, 5))), wire::PanamaKind::inquiry), (Ports{1, 2}));
  const auto sent = feed(answer(from(tree, 1, 5), 1), Ints{9});
  EXPECT_EQ(ports_of(sent, wire::PanamaKind::result), Ports{0});
  EXPECT_EQ(Seen(sent[0]).elements<std::int32_t>(), Ints{9});
  EXPECT_LE(cap_of(sent), initial_window) << "what nobody has been told in this life";
  expect_drop(answer(from(tree, 2, 5), 2), drop::stale);
}

TEST_F(Repeats, AResultFromBelowEndsWhatWaitsForIt) {
  const auto tree = root_of(3);
  start({tree});
  round(tree, 6);
  EXPECT_EQ(ports_of(feed(again(from(tree, 0, 5))), wire::PanamaKind::inquiry), (Ports{1, 2}));
  auto marked = answer(from(tree, 1, 5), 1);
  marked.tos |= wire::ecn::ce;
  const auto sent = feed(marked, Ints{9});
  EXPECT_EQ(ports_of(sent, wire::PanamaKind::result), (Ports{0, 1, 2}));
  expect_drop(answer(from(tree, 2, 5), 2), drop::duplicate);
  EXPECT_EQ(harness->figure("answers_total"), 1u);
  EXPECT_EQ(figure_of(engine->trees()[0], "results_total"), 1u);
  EXPECT_EQ(figure_of(engine->trees()[0], "results_congested_total"), 0u) << "it is an answer";
}

// The switch began with a repeat, as if it had been restarted: what it has let go of somebody may
// lack.
TEST_F(Repeats, AResultThatComesAgainGoesDownAgainWhereItMayBeLackedButIsNotAnotherOne) {
  const auto tree = leaf_of(1, 2);
  start({tree}, 2);
  feed(again(from(tree, 0)));
  feed(as_result(from(tree, 0)));
  feed(from(tree, 0, 2));
  EXPECT_EQ(harness->figure("packets_kept"), 1u);
  EXPECT_EQ(ports_of(feed(as_result(from(tree, 0))), wire::PanamaKind::result), Ports{0});
  EXPECT_EQ(harness->figure("answers_total"), 1u);
  EXPECT_EQ(figure_of(engine->trees()[0], "results_total"), 1u);
}

TEST_F(Repeats, AResultThatComesAgainEndsWhatWaitsOnceMoreButIsNotAnotherOne) {
  const auto tree = leaf_of(2, 4);
  start({tree}, 2);
  feed(again(from(tree, 0)));
  feed(again(from(tree, 1)));
  feed(as_result(from(tree, 0)));
  round(tree, 2);
  feed(again(from(tree, 0)));
  EXPECT_EQ(harness->figure("rows_gathering"), 1u);
  EXPECT_EQ(ports_of(feed(as_result(from(tree, 0))), wire::PanamaKind::result), (Ports{0, 1}));
  EXPECT_EQ(harness->figure("rows_gathering"), 0u);
  EXPECT_EQ(harness->figure("answers_total"), 1u);
  EXPECT_EQ(figure_of(engine->trees()[0], "results_total"), 1u);
}

// A repeat comes when all have the result, and the answer to the inquiry is lost.
TEST_F(Repeats, WhatIsTakenOnceMoreIsLetGoWhenNobodyAsksForItAnyMore) {
  const auto tree = root_of(2);
  start({tree}, 2);
  feed(again(from(tree, 0)));
  feed(again(from(tree, 1)));
  round(tree, 2);
  now += 2ms;
  EXPECT_EQ(ports_of(feed(again(from(tree, 0))), wire::PanamaKind::inquiry), Ports{1});
  feed(from(tree, 1, 1));
  EXPECT_EQ(harness->figure("rows_gathering"), 2u);
  now += 11s;
  harness->expire(now);
  EXPECT_EQ(harness->figure("rows_gathering"), 1u) << "somebody may only be late";
  EXPECT_EQ(harness->figure("packets_held"), 1u);
  EXPECT_EQ(feed(from(tree, 0, 1)).size(), 2u);
  // Ranks that still ask are answered as before.
  EXPECT_EQ(ports_of(feed(again(from(tree, 0))), wire::PanamaKind::inquiry), Ports{1});
  EXPECT_EQ(ports_of(feed(again(from(tree, 1))), wire::PanamaKind::result), (Ports{0, 1}));
}

// It is as far behind as there are rows.
TEST_F(Repeats, WhatIsTakenOnceMoreMakesWayForWhatComesInItsPlace) {
  const auto tree = root_of(2);
  start({tree}, 2);
  feed(again(from(tree, 0)));
  feed(again(from(tree, 1)));
  for (const std::uint32_t vid : {1u, 2u, 3u}) {
    round(tree, vid);
  }
  now += 2ms;
  EXPECT_EQ(ports_of(feed(again(from(tree, 0))), wire::PanamaKind::inquiry), Ports{1});
  feed(from(tree, 1, 4));
  EXPECT_EQ(harness->figure("rows_gathering"), 1u);
  EXPECT_EQ(feed(from(tree, 0, 4)).size(), 2u);
  EXPECT_EQ(harness->figure("rows_gathering"), 0u);
  EXPECT_EQ(harness->figure("packets_held"), 0u);
  EXPECT_EQ(harness->figure("over_cap_total"), 0u);
}

// Three jobs share the memory, and only one is at work: it has less than there is.
class CrowdedRepeats : public Repeats {
 protected:
  // All results have come, but the first ones are no longer kept.
  void start_crowded() {
    start({tree, root_of(2, 1), root_of(2, 2)}, 8);
    feed(again(from(tree, 0)));
    feed(again(from(tree, 1)));
    for (std::uint32_t vid = 1; vid < done; ++vid) {
      EXPECT_EQ(cap_of(round(tree, vid)), window);
    }
    now += 2ms;
  }
  // Child 0 sends as many packets as it may.
  void fill_window() {
    for (std::uint32_t vid = done; vid < done + window; ++vid) {
      EXPECT_TRUE(feed(from(tree, 0, vid)).empty());
    }
    EXPECT_EQ(harness->figure("rows_gathering"), window);
    EXPECT_EQ(harness->figure("packets_held_high_water"), window);
    EXPECT_EQ(harness->figure("over_cap_total"), 0u);
  }
  void expect_asks(PortIndex child, std::uint32_t vid) {
    const auto other = static_cast<PortIndex>(1 - child);
    EXPECT_EQ(ports_of(feed(again(from(tree, child, vid))), wire::PanamaKind::inquiry),
              Ports{other});
  }

  static constexpr std::uint32_t window = 4;
  static constexpr std::uint32_t done = 9;
  const TreeConfig tree = root_of(2);
};

TEST_F(CrowdedRepeats, WhatIsTakenOnceMoreMakesRoomForWhoObeys) {
  start_crowded();
  expect_asks(0, 3);
  expect_asks(1, 2);
  EXPECT_EQ(harness->figure("rows_gathering"), 2u);
  fill_window();
  for (std::uint32_t vid = done; vid < done + window; ++vid) {
    EXPECT_EQ(feed(from(tree, 1, vid)).size(), 2u);
  }
  // Ranks that still ask are answered as before.
  now += 2ms;
  expect_asks(0, 3);
  EXPECT_EQ(ports_of(feed(again(from(tree, 1, 3))), wire::PanamaKind::result), (Ports{0, 1}));
}

TEST_F(CrowdedRepeats, WhatIsRepeatedWhereThereIsNoRoomForItIsAskedFor) {
  start_crowded();
  fill_window();
  expect_asks(0, 3);
  EXPECT_EQ(harness->figure("rows_gathering"), window);
  EXPECT_EQ(harness->figure("over_cap_total"), 0u);
  EXPECT_EQ(harness->drops(drop::duplicate), 1u);
  EXPECT_EQ(ports_of(feed(answer(from(tree, 1, 3), 1)), wire::PanamaKind::result), (Ports{0, 1}));
}

// It joins what the other child has repeated.
TEST_F(CrowdedRepeats, WhatIsRepeatedByAnotherOneMakesNoRoomForItself) {
  start_crowded();
  fill_window();
  expect_asks(1, 3);
  EXPECT_TRUE(feed(again(from(tree, 0, 3))).empty()) << "the other one lacks it, too";
  EXPECT_EQ(harness->figure("rows_gathering"), window + 1);
  EXPECT_EQ(harness->figure("over_cap_total"), 0u);
  EXPECT_EQ(ports_of(feed(answer(from(tree, 0, 3), 0)), wire::PanamaKind::result), (Ports{0, 1}));
  EXPECT_EQ(harness->figure("rows_gathering"), window);
}

// So the tree begins anew for it when it stands still, and lets go of what waited there.
TEST_F(CrowdedRepeats, WhatIsRepeatedByAnotherOneBeginsAnewWhereTheTreeDoes) {
  start_crowded();
  fill_window();
  expect_asks(1, 3);
  now += 200ms;
  feed(again(from(tree, 0, 3)));
  EXPECT_EQ(harness->figure("rows_gathering"), 1u);
  EXPECT_EQ(harness->figure("packets_held"), 1u);
  const auto sent = feed(again(from(tree, 1, 3)), Ints{6});
  ASSERT_EQ(ports_of(sent, wire::PanamaKind::result), (Ports{0, 1}));
  EXPECT_EQ(Seen(sent[0]).elements<std::int32_t>(), Ints{7});
}

TEST_F(Repeats, ASumThatBeginsAnewHasNothingOfWhatWaitedBefore) {
  const auto leaf = leaf_of(2, 4);
  start({leaf});
  round(leaf, 0);
  feed(from(leaf, 0, 1));
  feed(from(leaf, 0, 2));
  now += 11s;
  harness->expire(now);
  feed(again(from(leaf, 1, 0)), Ints{6});
  for (const auto& one : feed(again(from(leaf, 0, 0)))) {
    EXPECT_NE(Seen(one).header().kind, wire::PanamaKind::aggregation);
  }
  const auto sent = feed(again(from(leaf, 1, 0)), Ints{6});
  ASSERT_EQ(ports_of(sent, wire::PanamaKind::aggregation), Ports{parent_port});
  EXPECT_EQ(Seen(sent[0]).elements<std::int32_t>(), Ints{7});
  EXPECT_EQ(Seen(sent[0]).header().contributions.value(), 2);
}

// The contributions of a sum wait with it, as more may come.
TEST_F(Repeats, WhatIsSummedOnceMoreMakesRoomForWhoObeys) {
  auto tree = leaf_of(1, 2);
  tree.quorum = 1;
  start({tree}, 2);
  feed(again(from(tree, 0)));
  feed(as_result(from(tree, 0)));
  for (const std::uint32_t vid : {1u, 2u, 3u}) {
    feed(from(tree, 0, vid));
    feed(as_result(from(tree, 0, vid)));
  }
  EXPECT_EQ(ports_of(feed(again(from(tree, 0, 1))), wire::PanamaKind::aggregation),
            Ports{parent_port});
  for (const std::uint32_t vid : {4u, 5u}) {
    EXPECT_EQ(feed(from(tree, 0, vid)).size(), 1u);
  }
  EXPECT_EQ(harness->figure("packets_held"), 2u);
  EXPECT_EQ(harness->figure("over_cap_total"), 0u);
  // Ranks that still ask are answered as before.
  feed(as_result(from(tree, 0, 4)));
  EXPECT_EQ(ports_of(feed(again(from(tree, 0, 1))), wire::PanamaKind::aggregation),
            Ports{parent_port});
}

// A packet comes after its sum has gone without it, when its sender's window is full again.
TEST_F(Repeats, WhatComesLateForWhatIsTakenOnceMoreIsNotBeyondTheCap) {
  auto tree = root_of(3);
  tree.quorum = 2;
  start({tree}, 4);
  feed(again(from(tree, 0)));
  feed(again(from(tree, 1)));
  for (std::uint32_t vid = 1; vid < 13; ++vid) {
    for (const PortIndex child : Ports{2, 1, 0}) {
      if (child != 2 || vid != 3) {
        feed(from(tree, child, vid));
      }
    }
  }
  EXPECT_EQ(ports_of(feed(again(from(tree, 1, 3))), wire::PanamaKind::inquiry), (Ports{0, 2}));
  for (std::uint32_t vid = 13; vid < 17; ++vid) {
    feed(from(tree, 2, vid));
  }
  EXPECT_EQ(harness->figure("rows_gathering"), 5u);
  expect_drop(from(tree, 2, 3), drop::late);
  EXPECT_EQ(harness->figure("over_cap_total"), 0u);
}

// A restarted switch has room for less than its ranks have sent, and one of them repeats it when
// the others do not.
TEST_F(Repeats, WhatWaitsIsNotGivenUpForWhatIsFurtherOn) {
  const auto tree = root_of(2);
  start({tree}, 2);
  feed(again(from(tree, 0, 5)));
  EXPECT_EQ(feed(again(from(tree, 1, 5))).size(), 2u);
  const auto repeat = [&](PortIndex child) {
    std::size_t results = 0;
    for (const std::uint32_t vid : {6u, 7u, 8u, 9u}) {
      for (const auto& sent : feed(again(from(tree, child, vid)))) {
        results += Seen(sent).header().kind == wire::PanamaKind::result ? 1 : 0;
      }
    }
    return results;
  };
  now += 200ms;
  EXPECT_EQ(repeat(0), 0u);
  now += 200ms;
  EXPECT_EQ(repeat(1), 4u) << "of 6 and 7 to both";
}

// The same number in two epochs; each is asked for before the other one's answer is there.
TEST_F(Repeats, ThoseWhoAskInTurnAreAllAnswered) {
  const auto tree = root_of(4);
  start({tree});
  auto next = again(from(tree, 1));
  next.epoch = 1;
  feed(again(from(tree, 0)));
  feed(next);
  EXPECT_EQ(ports_of(feed(answer(from(tree, 2), 2), Ints{9}), wire::PanamaKind::result), Ports{0});
  EXPECT_EQ(ports_of(feed(answer(next, 2), Ints{9}), wire::PanamaKind::result), Ports{1});
}

TEST_F(Repeats, WhatNobodyHasIsMadeAgain) {
  const auto tree = root_of(2);
  start({tree});
  round(tree, 0);
  now += 11s;
  harness->expire(now);
  EXPECT_EQ(harness->figure("packets_kept"), 0u);
  EXPECT_EQ(ports_of(feed(again(from(tree, 0))), wire::PanamaKind::inquiry), Ports{1});
  const auto sent = feed(again(from(tree, 1)), Ints{6});
  ASSERT_EQ(ports_of(sent, wire::PanamaKind::result), (Ports{0, 1}));
  EXPECT_EQ(Seen(sent[0]).elements<std::int32_t>(), Ints{7});
}

TEST_F(Repeats, AResultOfAnEpochThatIsOverGoesToWhoAskedAlone) {
  const auto tree = root_of(3);
  start({tree});
  auto spec = from(tree, 1);
  spec.epoch = 1;
  feed(spec);
  EXPECT_EQ(ports_of(feed(again(from(tree, 0, 5))), wire::PanamaKind::inquiry), (Ports{1, 2}));
  const auto sent = feed(answer(from(tree, 1, 5), 1), Ints{9});
  EXPECT_EQ(ports_of(sent, wire::PanamaKind::result), Ports{0});
  expect_drop(answer(from(tree, 2, 5), 2), drop::stale);
}

TEST_F(Repeats, ASwitchBelowAnswersItsParent) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  round(tree, 0);
  feed(as_result(from(tree, 0)), Ints{44});
  const auto sent = feed(about(from(tree, 0), parent_port), Ints{});
  EXPECT_EQ(ports_of(sent, wire::PanamaKind::result), Ports{parent_port});
  EXPECT_EQ(Seen(sent[0]).elements<std::int32_t>(), Ints{44});
  EXPECT_EQ(Seen(sent[0]).frame.ipv4->source, self.address);
}

TEST_F(Repeats, ASwitchBelowThatKnowsNothingAsksThoseBelowIt) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  EXPECT_EQ(ports_of(feed(about(from(tree, 0), parent_port), Ints{}), wire::PanamaKind::inquiry),
            (Ports{0, 1}));
  const auto sent = feed(answer(from(tree, 1), 1), Ints{9});
  EXPECT_EQ(ports_of(sent, wire::PanamaKind::result), Ports{parent_port});
}

// Two switches that both have no place for what the other one sends would ask each other for ever.
TEST_F(Repeats, AnAnswerAsksNobody) {
  const auto leaf = leaf_of(2, 4);
  start({leaf});
  round(leaf, 0);
  now += 2ms;
  const auto sent = feed(about(from(leaf, 0), parent_port), Ints{});
  ASSERT_EQ(ports_of(sent, wire::PanamaKind::aggregation), Ports{parent_port});
  EXPECT_TRUE(Seen(sent[0]).header().retransmission());
  EXPECT_FALSE(Seen(sent[0]).header().asks());

  const auto root = root_of(3);
  start({root});
  round(root, 0);
  auto spec = again(from(root, 1, 1));
  spec.answer = true;
  EXPECT_TRUE(feed(spec).empty());
  EXPECT_TRUE(feed(spec).empty()) << "nor when it comes again";
  spec.epoch = 7;
  EXPECT_TRUE(feed(spec).empty()) << "nor for the next epoch";
}

TEST_F(Repeats, AReplayAllowsNoMoreThanTheLatestResultDid) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  round(tree, 0);
  auto result = as_result(from(tree, 0, 0));
  result.wnd_cap = 12;
  feed(result);
  round(tree, 1);
  result = as_result(from(tree, 0, 1));
  result.wnd_cap = 4;
  feed(result);
  EXPECT_EQ(cap_of(feed(again(from(tree, 1, 0)))), 4u);
}

TEST_F(Repeats, WhatWaitsDoesNotKeepOutForGoodWhatItWaitsFor) {
  const auto tree = root_of(2);
  start({tree}, 3);
  round(tree, 16);  // in the middle: others may be far behind
  for (std::uint32_t vid = 10; vid < 13; ++vid) {
    feed(from(tree, 0, vid));
    feed(from(tree, 1, vid + 3));
  }
  expect_drop(again(from(tree, 0, 13)), drop::over_cap);
  now += 200ms;
  feed(again(from(tree, 0, 13)));
  const auto sent = feed(again(from(tree, 1, 13)));
  EXPECT_EQ(ports_of(sent, wire::PanamaKind::result), (Ports{0, 1}));
}

// It was told more before the restart. The switches below were restarted, too: what they send is
// new to them.
TEST_F(Repeats, WhoIsFurtherBehindThanANewSwitchHasRoomForIsHeard) {
  const auto tree = root_of(2);
  start({tree}, 2);
  EXPECT_EQ(round(tree, 0).size(), 2u);
  EXPECT_EQ(round(tree, 2).size(), 2u);
  EXPECT_EQ(ports_of(feed(again(from(tree, 1, 0))), wire::PanamaKind::inquiry), Ports{0});
}

// Everybody has the result of VID 1, from before the switch was restarted, which then met with the
// end of an epoch before: nobody sends it any more.
TEST_F(Repeats, WhatNobodySendsAnyMoreIsNotWaitedFor) {
  const auto tree = root_of(2);
  start({tree}, 2);
  round(tree, 0, true);
  for (const std::uint32_t vid : {0u, 2u, 3u, 4u, 5u, 6u, 7u, 8u}) {
    EXPECT_EQ(round(tree, vid, false, 1).size(), 2u) << vid;
  }
  EXPECT_EQ(round(tree, 9, true, 1).size(), 2u);
  EXPECT_EQ(harness->figure("trees_active"), 0u);
}

// The first epoch of a switch may have windows of any width, where it waits before it goes on.
TEST_F(Repeats, WhatNobodySendsAnyMoreHoldsUpTheFirstEpochUntilTheNextRepeat) {
  const auto tree = root_of(2);
  start({tree}, 2);
  round(tree, 0);
  EXPECT_EQ(round(tree, 2).size(), 2u);
  expect_drop(from(tree, 0, 3), drop::over_cap);
  now += 100ms;
  feed(again(from(tree, 0, 3)));
  EXPECT_EQ(ports_of(feed(again(from(tree, 1, 3))), wire::PanamaKind::result), (Ports{0, 1}));
  EXPECT_EQ(round(tree, 4).size(), 2u);
}

// A switch that is restarted gets an old packet: it begins far behind.
TEST_F(Repeats, ASwitchThatBeganFarBehindGoesOnWithWhatAllSend) {
  const auto tree = root_of(2);
  start({tree}, 2);
  feed(from(tree, 0, 0));
  feed(from(tree, 1, 40));
  expect_drop(again(from(tree, 0, 41)), drop::over_cap);
  now += 200ms;
  EXPECT_EQ(ports_of(feed(again(from(tree, 1, 40))), wire::PanamaKind::inquiry), Ports{0});
  feed(again(from(tree, 0, 40)));
  const auto sent = feed(again(from(tree, 1, 40)));
  EXPECT_EQ(ports_of(sent, wire::PanamaKind::result), (Ports{0, 1}));
  EXPECT_EQ(round(tree, 41).size(), 2u);
}

TEST_F(Repeats, WhoIsBeyondAllWindowsGetsWhatOthersHaveWhoAreDone) {
  const auto tree = root_of(2);
  start({tree}, 2);
  round(tree, 0);
  now += 200ms;
  EXPECT_EQ(ports_of(feed(again(from(tree, 0, 40))), wire::PanamaKind::inquiry), Ports{1});
  const auto sent = feed(answer(from(tree, 0, 40), 1));
  EXPECT_EQ(ports_of(sent, wire::PanamaKind::result), Ports{0});
}

TEST_F(Repeats, OneChildAloneTakesNoTreeFurtherThanAllWindows) {
  const auto tree = root_of(2);
  start({tree}, 2);
  round(tree, 0);
  feed(from(tree, 0, 1));
  now += 200ms;
  for (const std::uint32_t vid : {5u, 0xffffffffu, 5u}) {
    ports_of(feed(again(from(tree, 0, vid))), wire::PanamaKind::inquiry);
  }
  EXPECT_EQ(harness->drops(drop::over_cap), 3u);
  EXPECT_EQ(feed(from(tree, 1, 1)).size(), 2u) << "what waited is still there";
}

}  // namespace
}  // namespace tributary::panama
