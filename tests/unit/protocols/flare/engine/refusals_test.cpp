// SPDX-License-Identifier: BSD-3-Clause
// Tests contributions that cannot be in their block, because their ranks make another call: which
// ranks are told.
#include "fixture.h"

namespace tributary::flare {
namespace {

using wire::ElementType;
using wire::Operator;

class FlareRefusals : public FlareTest {
 protected:
  // Expects that the packet is dropped, and that only its sender is told of a block of sums of i32.
  void expect_refusal(const FlareSpec& spec, const Ints& elements = {1}) {
    const auto before = harness->drops(drop::mismatch);
    const auto sent = feed(spec, elements);
    EXPECT_EQ(harness->drops(drop::mismatch), before + 1);
    ASSERT_EQ(ports_of(sent, FlareKind::refusal), Ports{spec.ingress});
    expect_refused(Seen(sent[0]).header(), spec);
  }
  static void expect_refused(const wire::FlareHeader& header, const FlareSpec& spec) {
    EXPECT_EQ(header.block.value(), spec.block);
    EXPECT_EQ(header.fingerprint.value(), spec.fingerprint) << "what proves that it is meant";
    EXPECT_EQ(header.contributions.value(), spec.contributions);
    EXPECT_EQ(header.flags, wire::FlareHeader::current_version);
    EXPECT_EQ(header.element_type, ElementType::i32);
    EXPECT_EQ(header.op, Operator::sum);
    EXPECT_EQ(header.elements.value(), 0);
  }
  // The refusal by a switch above of the sum of both children of a leaf.
  FlareSpec refusal_of_sum(const TreeConfig& tree) {
    auto spec = from(tree, 0);
    spec.kind = FlareKind::refusal;
    spec.ingress = parent_port;
    spec.contributions = 2;
    spec.fingerprint = from(tree, 0).fingerprint + from(tree, 1).fingerprint;
    return spec;
  }
};

TEST_F(FlareRefusals, WhoCallsSomethingElseThanOthersIsToldSo) {
  for (const auto& tree : {root_of(3), leaf_of(3, 4)}) {
    start({tree});
    feed(from(tree, 0), Ints{5});
    auto spec = from(tree, 1);
    spec.type = ElementType::f32;
    expect_refusal(spec);
    spec = again(from(tree, 1));
    spec.op = Operator::max;
    expect_refusal(spec);
    expect_refusal(from(tree, 2), {1, 2});
    EXPECT_EQ(harness->figure("refusals_sent_total"), 3u);
    feed(from(tree, 1), Ints{6});
    const auto sent = feed(from(tree, 2), Ints{7});
    EXPECT_EQ(Seen(sent.at(0)).ints(), Ints{18}) << "the block goes on without it";
  }
}

TEST_F(FlareRefusals, OfASumEachChildIsToldThatAsks) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  ASSERT_EQ(round(tree, 0).size(), 1u);
  auto refusal = refusal_of_sum(tree);
  refusal.type = ElementType::f32;
  EXPECT_TRUE(feed(refusal, Ints{}).empty()) << "whose contributions are in it is not known";
  EXPECT_EQ(harness->figure("refusals_total"), 1u);
  EXPECT_TRUE(feed(from(tree, 1)).empty()) << "that was doubled";
  for (const auto child : {PortIndex{1}, PortIndex{0}}) {
    const auto spec = again(from(tree, child));
    const auto sent = feed(spec);
    ASSERT_EQ(ports_of(sent, FlareKind::refusal), Ports{child});
    const auto header = Seen(sent[0]).header();
    EXPECT_EQ(header.fingerprint.value(), spec.fingerprint);
    EXPECT_EQ(header.element_type, ElementType::f32);
  }
}

TEST_F(FlareRefusals, ASumThatWasRefusedGoesUpAgainAllTheSame) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  round(tree, 0);
  feed(refusal_of_sum(tree), Ints{});
  now += 1ms;
  const auto sent = feed(again(from(tree, 0)));
  ASSERT_EQ(sent.size(), 2u) << "the switch above may have begun anew";
  EXPECT_EQ(sent[0].port, 0);
  EXPECT_EQ(sent[1].port, parent_port);
  const auto result = feed(as_result(from(tree, 0)));
  EXPECT_EQ(ports_of(result, FlareKind::result), (Ports{0, 1}));
  EXPECT_EQ(ports_of(feed(again(from(tree, 0))), FlareKind::result), Ports{0});
}

TEST_F(FlareRefusals, ARefusalOfSomethingElseTellsNobody) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  auto refusal = refusal_of_sum(tree);
  EXPECT_TRUE(feed(refusal, Ints{}).empty()) << "there is no such block";
  feed(from(tree, 0));
  EXPECT_TRUE(feed(refusal, Ints{}).empty()) << "nor a sum yet";
  feed(from(tree, 1));
  ++refusal.fingerprint;
  EXPECT_TRUE(feed(refusal, Ints{}).empty());
  EXPECT_TRUE(feed(again(from(tree, 0))).empty());
  EXPECT_EQ(harness->figure("refusals_total"), 3u);
}

TEST_F(FlareRefusals, ASlotThatIsTakenOverForgetsThem) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  round(tree, 0);
  feed(refusal_of_sum(tree), Ints{});
  round(tree, 8);
  EXPECT_TRUE(feed(again(from(tree, 0, 8))).empty());
}

TEST_F(FlareRefusals, NoChildRefuses) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  round(tree, 0);
  auto refusal = refusal_of_sum(tree);
  refusal.ingress = 0;
  expect_drop(refusal, drop::wrong_port, {});
  EXPECT_TRUE(feed(again(from(tree, 1))).empty());
}

}  // namespace
}  // namespace tributary::flare
