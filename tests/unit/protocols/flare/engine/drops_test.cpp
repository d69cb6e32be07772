// SPDX-License-Identifier: BSD-3-Clause
#include "fixture.h"
#include "protocols/flare/engine/drop_reasons.h"

namespace tributary::flare {
namespace {

class FlareDrops : public FlareTest {
 protected:
  // Feeds a contribution that a test has changed.
  template <typename Spoil>
  PacketPtr spoiled(const TreeConfig& tree, Spoil spoil) {
    auto packet = test::make_flare(pool, from(tree, 0), Ints{1, 2});
    spoil(*test::flare_header(*packet));
    return packet;
  }
};

TEST_F(FlareDrops, WhatDoesNotParse) {
  const auto tree = root_of(2);
  start({tree});
  using Header = wire::FlareHeader;
  expect_drop(spoiled(tree, [](Header& header) { header.elements = 3; }), drop::truncated);
  expect_drop(spoiled(tree, [](Header& header) { header.elements = 1; }), drop::oversized);
  expect_drop(spoiled(tree, [](Header& header) { ++header.flags; }), drop::version);
  expect_drop(spoiled(tree, [](Header& header) { header.kind = FlareKind{9}; }), drop::malformed);
  expect_drop(spoiled(tree, [](Header& header) { header.fingerprint = 1; }), drop::crc);
  auto packet = test::make_flare(pool, from(tree, 0), Ints{1, 2});
  *(packet->data() + packet->length - 1) ^= std::byte{1};
  expect_drop(std::move(packet), drop::crc);
}

TEST_F(FlareDrops, WhatIsOfNoTreeHere) {
  const auto tree = root_of(2);
  start({tree});
  expect_drop(from(root_of(2, 8), 0), drop::no_tree);
  auto spec = from(tree, 0);
  spec.group = wire::Ipv4Address(239, 192, 0, 99);
  expect_drop(spec, drop::malformed);
}

TEST_F(FlareDrops, WhatComesByAWrongPort) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  for (const PortIndex port : {PortIndex{2}, parent_port}) {
    auto spec = from(tree, 0);
    spec.ingress = port;
    expect_drop(spec, drop::wrong_port);
  }
  expect_drop(as_result(from(tree, 0), 2), drop::wrong_port);
  expect_drop(about(from(tree, 0), 2), drop::wrong_port, {});
  expect_drop(about(from(tree, 0), 0), drop::wrong_port, {});
}

TEST_F(FlareDrops, WhatComesFromAStranger) {
  auto tree = leaf_of(2, 4);
  tree.child_addresses = {wire::Ipv4Address(10, 0, 0, 1), wire::Ipv4Address(10, 0, 0, 2)};
  tree.parent_address = wire::Ipv4Address(10, 0, 255, 9);
  start({tree});
  auto spec = from(tree, 0);
  spec.source = wire::Ipv4Address(10, 0, 0, 2);
  expect_drop(spec, drop::wrong_port);
  expect_drop(as_result(from(tree, 0)), drop::wrong_port);
  EXPECT_EQ(round(tree, 0).size(), 1u);
}

TEST_F(FlareDrops, WhatDoesNotFitTheTree) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  auto spec = from(tree, 0);
  ++spec.workers;
  expect_drop(spec, drop::mismatch);
  spec = from(tree, 0);
  ++spec.window;
  expect_drop(spec, drop::mismatch);
  spec = from(tree, 0);
  spec.contributions = 3;
  expect_drop(spec, drop::mismatch);
  spec.contributions = 2;
  expect_drop(spec, drop::mismatch);  // the other child has nobody then
  spec = as_result(from(tree, 0));
  spec.contributions = 3;
  expect_drop(spec, drop::mismatch);
  EXPECT_EQ(harness->figure("blocks_gathering"), 0u);
  EXPECT_EQ(round(tree, 0).size(), 1u);
}

TEST_F(FlareDrops, WhatDoesNotFitTheBlock) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  feed(from(tree, 0), Ints{5});
  auto spec = from(tree, 1);
  spec.contributions = 2;
  expect_drop(spec, drop::mismatch);
  spec = as_result(from(tree, 0));
  spec.op = wire::Operator::max;
  expect_drop(spec, drop::mismatch);
  const auto sent = feed(from(tree, 1), Ints{6});
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(Seen(sent[0]).ints(), Ints{11});
  expect_drop(spec, drop::mismatch);
}

// The last contribution must bring all ranks that are still missing; otherwise no rank would accept
// the result.
TEST_F(FlareDrops, ASumThatLacksARank) {
  auto tree = root_of(2);
  tree.workers = tree.workers_below = 3;
  start({tree});
  feed(from(tree, 0));
  auto spec = from(tree, 1);
  expect_drop(spec, drop::mismatch);
  spec.contributions = 2;
  EXPECT_EQ(feed(spec).size(), 2u);
}

// A rank that is two windows ahead has the result of the block whose slot it takes.
TEST_F(FlareDrops, WhatIsOlderThanItsSlot) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  const auto later = std::uint64_t{2} * tree.window;
  feed(from(tree, 0, later));
  expect_drop(from(tree, 1, 0), drop::stale);
  expect_drop(again(from(tree, 1, 0)), drop::stale);
  expect_drop(as_result(from(tree, 0, 0)), drop::stale);
  expect_drop(about(from(tree, 0, 0)), drop::stale, {});
  EXPECT_EQ(harness->figure("stale_total"), 4u);
  EXPECT_EQ(feed(from(tree, 1, later)).size(), 1u);
}

}  // namespace
}  // namespace tributary::flare
