// SPDX-License-Identifier: BSD-3-Clause
// Tests that the mask of a sum says who is in it, where somebody may be missing.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fixture.h"
#include "protocols/panama/engine/drop_reasons.h"
#include "protocols/panama/engine/row_masks.h"

namespace tributary::panama {
namespace {

TreeConfig lacking_one(TreeConfig tree) {
  tree.quorum = static_cast<std::uint16_t>(tree.workers - 1);
  return tree;
}
TreeConfig root_of_six() {
  auto tree = root_of(2);
  tree.workers = tree.workers_below = 6;
  return lacking_one(tree);
}

class Masks : public PanamaTest {};

TEST_F(Masks, AResultHasThoseOfTheSumAndNoOthers) {
  const auto tree = lacking_one(root_of(4));
  start({tree});
  feed(from(tree, 3), Ints{1, 2, 3});
  feed(from(tree, 0), Ints{1, 2, 3});
  const auto sent = feed(from(tree, 2), Ints{1, 2, 3});
  ASSERT_EQ(sent.size(), 4u);
  for (const auto& one : sent) {
    EXPECT_EQ(Seen(one).present(), 0b1101u);
    EXPECT_EQ(Seen(one).elements<std::int32_t>(), (Ints{3, 6, 9}));
  }
  const auto replayed = feed(again(from(tree, 1)), Ints{1, 2, 3});
  ASSERT_EQ(replayed.size(), 1u);
  EXPECT_EQ(Seen(replayed[0]).present(), 0b1101u);
}

// Elements of 16 bits are added in another place than their packet; of three the mask is not where
// words are.
TEST_F(Masks, LieBehindElementsOfAnyLength) {
  const auto tree = lacking_one(root_of(2));
  start({tree});
  auto spec = from(tree, 1);
  spec.type = wire::ElementType::f16;
  const auto sent = feed(spec, std::vector<std::uint16_t>{0x3c00, 0x3c00, 0x3c00});
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(Seen(sent[0]).present(), 0b10u);
}

TEST_F(Masks, HaveNobodyOfTheSumThatWasInTheirSlotBefore) {
  const auto tree = lacking_one(root_of(2));
  start({tree}, 2);
  for (std::uint32_t vid = 0; vid < 20; ++vid) {
    EXPECT_EQ(feed(from(tree, 1, vid)).size(), 2u);
    expect_drop(from(tree, 0, vid), drop::late);
  }
  const auto sent = feed(from(tree, 0, 20));
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(Seen(sent[0]).present(), 0b01u);
}

TEST_F(Masks, ALargerSumHasThoseOfTheOneWhosePlaceItTakesAndMore) {
  auto tree = lacking_one(leaf_of(2, 8));
  tree.workers_below = 6;
  start({tree});
  feed(sum_from(tree, 0, 0, 2));
  auto sent = feed(sum_from(tree, 1, 3, 3));
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(Seen(sent[0]).present(), 0b111011u);
  sent = feed(sum_from(tree, 0, 0, 3));
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(Seen(sent[0]).present(), 0b111111u);
}

using Words = std::vector<std::uint64_t>;

// The same packet with so many ranks in it, from `first` on, of a job of three words.
PanamaSpec with_ranks(PanamaSpec spec, std::uint32_t first, std::uint16_t ranks) {
  Words words(3);
  for (auto rank = first; rank < first + ranks; ++rank) {
    words[rank / 64] |= std::uint64_t{1} << (rank % 64);
  }
  spec.contributions = ranks;
  spec.present = words[0];
  spec.present_beyond = {words[1], words[2]};
  return spec;
}

Words words_of(const test::Sent& sent) {
  const Seen seen(sent);
  Words words;
  for (std::size_t i = 0; i < seen.view.mask.words(); ++i) {
    words.push_back(seen.view.mask.word(i));
  }
  return words;
}

TEST_F(Masks, OfManyWordsAreInEverySumAndResultAndInWhatIsSentOnceMore) {
  auto tree = leaf_of(2, 130);
  tree.workers_below = 130;
  tree.quorum = 120;
  start({tree});
  feed(with_ranks(from(tree, 0), 0, 60));
  auto sent = feed(with_ranks(from(tree, 1), 70, 60));
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(words_of(sent[0]), (Words{~0ULL >> 4, ~0ULL << 6, 0b11}));
  const auto larger = with_ranks(from(tree, 0), 1, 69);
  sent = feed(larger);
  ASSERT_EQ(sent.size(), 1u);
  const Words all_but_the_first{~1ULL, ~0ULL, 0b11};
  EXPECT_EQ(words_of(sent[0]), all_but_the_first) << "rank 0 has left it";
  now += 2ms;
  sent = feed(again(larger));
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].port, parent_port);
  EXPECT_EQ(words_of(sent[0]), all_but_the_first);
  auto result = with_ranks(from(tree, 0), 2, 128);
  result.kind = wire::PanamaKind::result;
  result.ingress = parent_port;
  EXPECT_EQ(feed(result).size(), 2u);
  sent = feed(again(larger));
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].port, 0);
  EXPECT_EQ(words_of(sent[0]), (Words{~3ULL, ~0ULL, 0b11})) << "the result's";
}

TEST_F(Masks, WhoIsInTheSumIsNotAddedOnceMore) {
  const auto tree = root_of_six();
  start({tree});
  feed(sum_from(tree, 0, 0, 3));
  ASSERT_EQ(feed(sum_from(tree, 1, 3, 3)).size(), 2u) << "the epoch has begun";
  const auto next = [&tree](PortIndex child, std::uint16_t first, std::uint16_t workers) {
    auto spec = sum_from(tree, child, first, workers);
    spec.vid = 1;
    return spec;
  };
  feed(next(0, 0, 2));
  expect_drop(next(1, 1, 3), drop::overlap);
  EXPECT_EQ(feed(next(1, 2, 3)).size(), 2u) << "these are others";
}

// Before an epoch begins its packets wait by themselves.
TEST_F(Masks, WhoIsInTheSumIsNotAddedOnceMoreWhenTheEpochBegins) {
  const auto tree = root_of_six();
  start({tree});
  feed(sum_from(tree, 0, 0, 3));
  EXPECT_TRUE(feed(sum_from(tree, 1, 2, 3)).empty());
  EXPECT_EQ(harness->losses(drop::overlap), 1u);
}

TEST_F(Masks, NobodyIsInALargerSumWhoCameByAnotherPort) {
  const auto tree = root_of_six();
  start({tree});
  feed(sum_from(tree, 0, 0, 2));
  feed(sum_from(tree, 1, 2, 1));
  expect_drop(sum_from(tree, 1, 1, 2), drop::duplicate);
  EXPECT_EQ(feed(sum_from(tree, 1, 2, 3)).size(), 2u);
}

TEST_F(Masks, OfALateContributionAreNotInTheSumAlready) {
  const auto tree = lacking_one(leaf_of(3, 8));
  start({tree});
  feed(from(tree, 0));
  EXPECT_EQ(feed(from(tree, 1)).size(), 1u);
  auto twice = from(tree, 2);
  twice.present = 0b1;
  expect_drop(twice, drop::late);
  const auto sent = feed(from(tree, 2));
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(Seen(sent[0]).present(), 0b111u);
}

TEST_F(Masks, AreInEveryPacketOfATreeThatMayLackSomebodyAndInNoOther) {
  const auto partial = lacking_one(root_of(2));
  auto whole = root_of(2, 1);
  start({partial, whole});
  auto spec = from(partial, 0);
  spec.present = 0;
  expect_drop(spec, drop::mismatch);
  spec = from(whole, 0);
  spec.present = 1;
  expect_drop(spec, drop::mismatch);
}

TEST_F(Masks, ThatAreNotOfAsManyRanksAsContributionsAreMalformed) {
  const auto tree = lacking_one(root_of(4));
  start({tree});
  feed(from(tree, 0));
  auto spec = from(tree, 1);
  spec.present = 0b110;
  expect_drop(spec, drop::malformed);
  spec.present = 0b10000;
  expect_drop(spec, drop::malformed);
}

TEST_F(Masks, AnInquiryHasNone) {
  const auto tree = lacking_one(leaf_of(2, 4));
  start({tree});
  feed(from(tree, 0));
  auto result = as_result(from(tree, 0));
  result.contributions = 3;
  result.present = 0b1011;
  feed(result, Ints{6});
  auto inquiry = from(tree, 0);
  inquiry.kind = wire::PanamaKind::inquiry;
  EXPECT_TRUE(feed(inquiry, Ints{}).empty());
  EXPECT_EQ(harness->drops(drop::malformed), 1u);
  inquiry.present = 0;
  const auto sent = feed(inquiry, Ints{});
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(Seen(sent[0]).present(), 0b1011u) << "the result's, which is kept";
}

TEST(PanamaRowMasks, ArePutTogetherByRow) {
  RowMasks masks(3, 130);
  const auto of = [](std::initializer_list<std::uint32_t> ranks) {
    std::vector<std::byte> bytes(wire::rank_mask_bytes(130));
    for (const auto rank : ranks) {
      wire::set_rank(bytes, rank, true);
    }
    return bytes;
  };
  const auto in = [&](const std::vector<std::byte>& bytes, const std::vector<std::byte>& leaving) {
    return masks.overlap(1, wire::RankMask(bytes), wire::RankMask(leaving));
  };
  masks.add(1, wire::RankMask(of({1, 129})));
  masks.add(1, wire::RankMask(of({64})));
  EXPECT_TRUE(in(of({0, 129}), {}));
  EXPECT_FALSE(in(of({0, 65, 128}), {}));
  EXPECT_FALSE(in(of({0, 129}), of({1, 129})));
  masks.remove(1, wire::RankMask(of({1, 129})));
  std::vector<std::byte> written(wire::rank_mask_bytes(130));
  masks.write(1, written);
  EXPECT_EQ(written, of({64}));
  masks.write(0, written);
  EXPECT_EQ(written, of({})) << "another row's";
  masks.clear(1);
  EXPECT_FALSE(in(of({64}), {}));
}

}  // namespace
}  // namespace tributary::panama
