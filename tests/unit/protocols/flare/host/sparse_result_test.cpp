// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/host/sparse_result.h"

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/element_types.h"
#include "unit/host/values.h"

namespace tributary::host::test {
namespace {

using wire::FlareForm;

// Results of i32, with 16 pairs or 24 elements in a shard, and blocks of 40 elements.
class FlareSparseResults : public testing::Test {
 protected:
  using Pairs = std::vector<std::pair<std::uint16_t, std::int32_t>>;

  FlareSparseResults() {
    blocks_.first = 4;
    blocks_.type = wire::ElementType::i32;
    blocks_.count = 400;
    blocks_.full = 96;
    blocks_.span = 40;
  }

  Verdict take_pairs(std::uint32_t shard, std::uint32_t shards, const Pairs& pairs,
                     std::uint64_t edition = 1, std::uint64_t block = 5) {
    Elements payload(pairs.size() * 6);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      std::memcpy(payload.data() + i * 6, &pairs[i].first, 2);
      std::memcpy(payload.data() + i * 6 + 2, &pairs[i].second, 4);
    }
    auto header = header_of(shard, shards, edition, block);
    header.elements = static_cast<std::uint16_t>(pairs.size());
    return results_.take(header, payload);
  }

  Verdict take_run(std::uint32_t shard, std::uint32_t shards, std::uint16_t first,
                   std::uint16_t elements, std::uint64_t edition = 1, std::uint64_t block = 5) {
    Elements payload(elements * 4u);
    for (std::uint16_t i = 0; i < elements; ++i) {
      store<std::int32_t>(payload.data(), i, first + i);
    }
    auto header = header_of(shard, shards, edition, block);
    header.form = FlareForm::run;
    header.first = first;
    header.elements = elements;
    return results_.take(header, payload);
  }

  wire::FlareSparseHeader header_of(std::uint32_t shard, std::uint32_t shards,
                                    std::uint64_t edition, std::uint64_t block) const {
    wire::FlareSparseHeader header;
    header.block = block;
    header.edition = edition;
    header.kind = wire::FlareKind::result;
    header.element_type = blocks_.type;
    header.full = static_cast<std::uint16_t>(blocks_.full);
    header.shard = static_cast<std::uint8_t>(shard);
    header.shards = static_cast<std::uint8_t>(shards);
    return header;
  }

  // Returns pairs (index in the vector, value), or nothing if it is no result.
  std::vector<std::pair<std::size_t, std::int32_t>> elements() const {
    std::vector<std::pair<std::size_t, std::int32_t>> all;
    if (const auto part = results_.part(5, blocks_)) {
      for (std::size_t i = 0; i < part->present(); ++i) {
        all.emplace_back(part->index(i), load<std::int32_t>(part->values(), i));
      }
    }
    return all;
  }

  FlareSparseBlocks blocks_;
  SparseResults results_{4, 96};
};

TEST_F(FlareSparseResults, ComeInAnyOrderAndOnce) {
  EXPECT_EQ(take_pairs(2, 3, {{30, 7}}), Verdict::taken);
  EXPECT_EQ(take_pairs(0, 3, {{1, 5}, {2, 6}}), Verdict::taken);
  EXPECT_EQ(take_pairs(0, 3, {{1, 5}, {2, 6}}), Verdict::duplicate);
  EXPECT_FALSE(results_.complete(5));
  EXPECT_EQ(results_.shards(5), 0u);
  EXPECT_EQ(take_pairs(1, 3, {}), Verdict::taken);
  EXPECT_TRUE(results_.complete(5));
  EXPECT_EQ(take_pairs(1, 3, {}), Verdict::duplicate);
  EXPECT_EQ(results_.shards(5), 3u);
  EXPECT_EQ(results_.shard(5, 0).payload.size(), 12u);
  const decltype(elements()) expected = {{41, 5}, {42, 6}, {70, 7}};
  EXPECT_EQ(elements(), expected);
}

TEST_F(FlareSparseResults, OfRunsAreDense) {
  EXPECT_EQ(take_run(1, 2, 24, 16), Verdict::taken);
  EXPECT_EQ(take_run(0, 2, 0, 24), Verdict::taken);
  const auto part = results_.part(5, blocks_);
  ASSERT_TRUE(part);
  EXPECT_TRUE(part->is_dense());
  const auto all = elements();
  ASSERT_EQ(all.size(), 40u);
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_EQ(all[i], (std::pair<std::size_t, std::int32_t>(40 + i, i)));
  }
}

// 16 pairs with offsets of two bytes take less than 30 elements, with indices of four bytes more.
TEST_F(FlareSparseResults, OfManyPairsAreDenseWhereThoseOfTheRingWouldBe) {
  blocks_.first = 5;
  blocks_.span = 30;
  Pairs pairs;
  for (std::uint16_t i = 0; i < 16; ++i) {
    pairs.emplace_back(i, i + 1);
  }
  take_pairs(0, 1, pairs);
  const auto part = results_.part(5, blocks_);
  ASSERT_TRUE(part);
  EXPECT_TRUE(part->is_dense());
  EXPECT_EQ(elements().at(15), (std::pair<std::size_t, std::int32_t>(15, 16)));
  EXPECT_EQ(elements().at(16), (std::pair<std::size_t, std::int32_t>(16, 0)));
}

TEST_F(FlareSparseResults, OfAnotherEditionPutAsideWhatCameBefore) {
  EXPECT_EQ(take_pairs(0, 2, {{1, 5}}), Verdict::taken);
  EXPECT_EQ(take_pairs(1, 2, {{8, 9}}, 2), Verdict::taken);
  EXPECT_FALSE(results_.complete(5)) << "of two editions";
  EXPECT_EQ(take_pairs(0, 2, {{1, 5}}), Verdict::taken);
  EXPECT_FALSE(results_.complete(5));
  EXPECT_EQ(take_pairs(1, 2, {{7, 3}}), Verdict::taken);
  const decltype(elements()) expected = {{41, 5}, {47, 3}};
  EXPECT_EQ(elements(), expected);
  EXPECT_EQ(take_pairs(0, 1, {{1, 5}}, 3), Verdict::duplicate) << "it is complete";
}

TEST_F(FlareSparseResults, OfOneEditionHaveOneNumberOfShards) {
  take_pairs(0, 2, {{1, 5}});
  take_pairs(1, 3, {{2, 5}});
  EXPECT_FALSE(results_.complete(5));
  take_pairs(0, 3, {{1, 5}});
  take_pairs(2, 3, {{3, 5}});
  EXPECT_TRUE(results_.complete(5));
}

TEST_F(FlareSparseResults, WhoseOffsetsDoNotIncreaseAreNone) {
  take_pairs(0, 2, {{1, 5}, {9, 5}});
  take_pairs(1, 2, {{9, 5}});
  EXPECT_TRUE(elements().empty());
  results_.reject(5);
  EXPECT_FALSE(results_.complete(5));
  take_pairs(0, 1, {{9, 5}, {1, 5}});
  EXPECT_TRUE(results_.complete(5));
  EXPECT_TRUE(elements().empty());
}

TEST_F(FlareSparseResults, WithGapsOrOfTwoFormsAreNone) {
  take_run(0, 2, 0, 20);
  take_run(1, 2, 24, 16);
  EXPECT_TRUE(elements().empty()) << "a gap";
  results_.reject(5);
  take_run(0, 2, 0, 24);
  take_run(1, 2, 24, 15);
  EXPECT_TRUE(elements().empty()) << "one is missing at the end";
  results_.reject(5);
  take_run(0, 2, 0, 24);
  take_run(1, 2, 20, 16);
  EXPECT_TRUE(elements().empty()) << "some are there twice";
  results_.reject(5);
  take_run(0, 2, 0, 24);
  take_pairs(1, 2, {{30, 1}});
  EXPECT_TRUE(elements().empty()) << "two forms";
}

TEST_F(FlareSparseResults, AreKeptForAWindow) {
  take_pairs(0, 1, {{1, 5}});
  take_pairs(0, 1, {{1, 6}}, 1, 6);
  take_pairs(0, 2, {{1, 7}}, 1, 8);
  EXPECT_TRUE(results_.complete(5));
  EXPECT_TRUE(results_.complete(6));
  EXPECT_FALSE(results_.complete(8));
  take_pairs(0, 1, {{1, 8}}, 1, 9);
  EXPECT_FALSE(results_.complete(5)) << "9 is a window behind";
  EXPECT_TRUE(results_.complete(9));
}

}  // namespace
}  // namespace tributary::host::test
