// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/engine/admission.h"

#include "incoming.h"
#include "protocols/panama/engine/drop_reasons.h"

namespace tributary::panama {
namespace {

class PanamaAdmission : public ::testing::Test {
 protected:
  explicit PanamaAdmission(const TreeConfig& config = root_of(3)) : tree_(config, self, 4) {
    tree_.grant.packets = 4;
  }

  PacketPtr packet(const PanamaSpec& spec, const Ints& elements = {1}) {
    return test::make_panama(pool_, spec, elements);
  }
  std::optional<DropReason> refusal_of(const PanamaSpec& spec, std::uint64_t position,
                                       bool joins = false) {
    const Arrived in(tree_, packet(spec));
    return refusal(in.incoming, {tree_.row(position), position, joins});
  }

  HeapPacketPool pool_{16, 2048};
  Tree tree_;
};

TEST_F(PanamaAdmission, WhatFitsWaits) {
  EXPECT_EQ(refusal_of(from(tree_.config(), 1), 0), std::nullopt);
  const Arrived first(tree_, packet(from(tree_.config(), 0)));
  gathering_row(tree_, 0, first.incoming.header);
  EXPECT_EQ(refusal_of(from(tree_.config(), 1), 0, true), std::nullopt);
}

TEST_F(PanamaAdmission, WhatCannotBeAddedUpIsAMismatch) {
  const Arrived first(tree_, packet(from(tree_.config(), 0), Ints{1, 2}));
  gathering_row(tree_, 0, first.incoming.header);
  EXPECT_EQ(refusal_of(from(tree_.config(), 1), 0, true), drop::mismatch);
  tree_.fin = 1;
  EXPECT_EQ(refusal_of(from(tree_.config(), 1, 1), 1), std::nullopt);
  EXPECT_EQ(refusal_of(from(tree_.config(), 1, 2), 2), drop::mismatch) << "behind the last";
}

TEST_F(PanamaAdmission, MoreWorkersThanThereAreIsAnOvercount) {
  auto spec = from(tree_.config(), 1);
  spec.contributions = 3;
  EXPECT_EQ(refusal_of(spec, 0), std::nullopt);
  const Arrived first(tree_, packet(from(tree_.config(), 0)));
  gathering_row(tree_, 0, first.incoming.header);
  EXPECT_EQ(refusal_of(spec, 0, true), drop::overcount);
}

TEST_F(PanamaAdmission, NothingWaitsBeyondTheMemoryOfItsTree) {
  const auto spec = from(tree_.config(), 1);
  EXPECT_EQ(refusal_of(spec, tree_.rows() - 1), std::nullopt);
  EXPECT_EQ(refusal_of(spec, tree_.rows()), drop::over_cap);
  tree_.is_cut = true;
  EXPECT_EQ(refusal_of(spec, tree_.grant.packets - 1), std::nullopt);
  EXPECT_EQ(refusal_of(spec, tree_.grant.packets), drop::over_cap);
  tree_.row(2).state = Row::State::gathering;
  EXPECT_EQ(refusal_of(spec, 2), drop::over_cap) << "another one has the slot";
  tree_.held[1] = tree_.grant.packets;
  EXPECT_EQ(refusal_of(spec, 0), drop::over_cap);
  EXPECT_EQ(refusal_of(from(tree_.config(), 2), 0), std::nullopt) << "another child has room";
}

TEST_F(PanamaAdmission, IsStuckWhoSendsAgainAndSeesNothingBecomeComplete) {
  const Arrived first(tree_, packet(from(tree_.config(), 1)));
  const Arrived repeat(tree_, packet(again(from(tree_.config(), 1))));
  const Time late{100ms};
  EXPECT_TRUE(is_stuck(repeat.incoming, 1, late));
  EXPECT_FALSE(is_stuck(repeat.incoming, 1, late - 1ns));
  EXPECT_FALSE(is_stuck(first.incoming, 1, late));
  tree_.repeated[1] = {0, late};
  EXPECT_FALSE(is_stuck(repeat.incoming, 1, late)) << "the others owe it VID 0";
  EXPECT_TRUE(is_stuck(repeat.incoming, 0, late)) << "which may be what they cannot give";
  EXPECT_TRUE(is_stuck(repeat.incoming, 1, late + 100ms)) << "it does not repeat that any more";
}

TEST_F(PanamaAdmission, ATreeBeginsAnewFurtherThanAllWindowsWhereAllChildrenAre) {
  const auto end = tree_.rows();
  EXPECT_EQ(tree_.find_new_beginning(0, end - 1), end - 1);
  EXPECT_EQ(tree_.find_new_beginning(0, end + 100), std::nullopt);
  EXPECT_EQ(tree_.find_new_beginning(1, end + 9), std::nullopt);
  EXPECT_EQ(tree_.find_new_beginning(2, end + 8), end + 8);
  tree_.expected = 9;
  EXPECT_EQ(tree_.find_new_beginning(1, end + 9), std::nullopt) << "it is not that far any more";
}

class PanamaLateAdmission : public PanamaAdmission {
 protected:
  static TreeConfig partial_leaf() {
    auto config = leaf_of(2, 4);
    config.quorum = 3;
    return config;
  }
  PanamaLateAdmission() : PanamaAdmission(partial_leaf()) {}
};

TEST_F(PanamaLateAdmission, OfASumThatCanBeSentWithMoreInIt) {
  Arrived in(tree_, packet(from(tree_.config(), 1)));
  auto& row = gathering_row(tree_, 0, in.incoming.header);
  EXPECT_FALSE(can_add_late(in.incoming, row)) << "it has not been sent";
  row.state = Row::State::summed;
  EXPECT_TRUE(can_add_late(in.incoming, row));
  row.header.contributions = std::uint16_t{2};
  EXPECT_FALSE(can_add_late(in.incoming, row)) << "all are in it";
  row.header.contributions = std::uint16_t{1};
  tree_.held[1] = tree_.grant.packets;
  EXPECT_FALSE(can_add_late(in.incoming, row)) << "there is no room";
  tree_.held[1] = 0;
  row.holds = false;
  EXPECT_FALSE(can_add_late(in.incoming, row)) << "what it was made of is gone";
}

}  // namespace
}  // namespace tributary::panama
