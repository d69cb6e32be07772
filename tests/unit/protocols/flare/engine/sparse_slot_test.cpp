// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/engine/sparse_slot.h"

#include "fixture.h"

namespace tributary::flare {
namespace {

// One of `shards` shards; only the last one has their number.
wire::FlareSparseHeader numbered_shard(std::uint8_t number, std::uint8_t shards,
                                       std::uint64_t edition = 0) {
  wire::FlareSparseHeader header;
  header.shard = number;
  header.shards = number + 1 == shards ? shards : std::uint8_t{0};
  header.edition = edition;
  return header;
}

TEST(SparseChild, IsCompleteWithAllShardsInWhateverOrder) {
  SparseChild child;
  EXPECT_FALSE(child.has_begun());
  for (const std::uint8_t number : {std::uint8_t{2}, std::uint8_t{0}}) {
    ASSERT_TRUE(child.may_have(numbered_shard(number, 3)));
    child.note(numbered_shard(number, 3, 8));
    EXPECT_FALSE(child.is_complete());
  }
  EXPECT_TRUE(child.has_begun());
  EXPECT_EQ(child.edition, 8u);
  child.note(numbered_shard(1, 3, 8));
  EXPECT_TRUE(child.is_complete());
  EXPECT_TRUE(child.has(numbered_shard(1, 3)));
  EXPECT_FALSE(child.has(numbered_shard(3, 5)));
}

TEST(SparseChild, HasNoShardBehindItsLastOne) {
  SparseChild child;
  child.note(numbered_shard(1, 2));
  EXPECT_TRUE(child.may_have(numbered_shard(0, 2)));
  EXPECT_FALSE(child.may_have(numbered_shard(2, 5)));
  EXPECT_FALSE(child.may_have(numbered_shard(2, 3))) << "it has a last one";
}

TEST(SparseChild, HasNoLastShardBeforeOneThatCame) {
  SparseChild child;
  child.note(numbered_shard(4, 9));
  EXPECT_FALSE(child.may_have(numbered_shard(3, 4)));
  EXPECT_FALSE(child.may_have(numbered_shard(4, 5)));
  EXPECT_TRUE(child.may_have(numbered_shard(5, 6)));
}

TEST(SparseChild, HasSixtyFourShardsAtMost) {
  SparseChild child;
  for (std::uint8_t number = 0; number < wire::flare_shards_max; ++number) {
    child.note(numbered_shard(number, wire::flare_shards_max));
  }
  EXPECT_TRUE(child.is_complete());
}

TEST(SparseSlot, HasAResultWithAllOfItsShards) {
  SparseSlot slot;
  EXPECT_FALSE(slot.has_result());
  wire::FlareSparseHeader header;
  header.shards = 2;
  slot.result[1].header = header;
  slot.result_shards = 0b10;
  EXPECT_FALSE(slot.has_result());
  slot.result[0].header = header;
  slot.result_shards = 0b11;
  EXPECT_TRUE(slot.has_result());
}

}  // namespace
}  // namespace tributary::flare
