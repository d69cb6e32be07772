// SPDX-License-Identifier: BSD-3-Clause
#include "host/chunks.h"

#include <vector>

#include <gtest/gtest.h>

namespace tributary::host {
namespace {

class ChunksTest : public testing::Test {
 protected:
  Call call(Collective collective, std::size_t count) {
    return {collective,
            {in_.data(), out_.data(), count, wire::ElementType::i32, wire::Operator::sum},
            1};
  }

  std::vector<std::byte> in_ = std::vector<std::byte>(200);
  std::vector<std::byte> out_ = std::vector<std::byte>(200);
  std::vector<std::byte> zeros_ = std::vector<std::byte>(64);
};

TEST_F(ChunksTest, AllButTheLastAreFull) {
  const Chunks chunks(call(Collective::allreduce, 40), 0, 64);
  ASSERT_EQ(chunks.count(), 3u);
  EXPECT_EQ(chunks.elements(1), 16);
  EXPECT_EQ(chunks.elements(2), 8);
  EXPECT_EQ(chunks.contribution(2, zeros_).data(), in_.data() + 128);
  EXPECT_EQ(chunks.contribution(2, zeros_).size(), 32u);
  EXPECT_EQ(chunks.out(1).data(), out_.data() + 64);
  EXPECT_EQ(chunks.out(1).size(), 64u);
}

TEST_F(ChunksTest, OnlyTheRootOfABroadcastHasSomethingToSay) {
  const Chunks root(call(Collective::broadcast, 20), 1, 64);
  const Chunks other(call(Collective::broadcast, 20), 0, 64);
  EXPECT_EQ(root.contribution(1, zeros_).data(), in_.data() + 64);
  EXPECT_EQ(other.contribution(1, zeros_).data(), zeros_.data());
  EXPECT_EQ(other.contribution(1, zeros_).size(), 16u);
  EXPECT_FALSE(root.wants_result());
  EXPECT_TRUE(other.wants_result());
}

TEST_F(ChunksTest, ABarrierIsOnePacketWithoutElements) {
  const Chunks chunks({Collective::barrier, {}, 0}, 0, 64);
  ASSERT_EQ(chunks.count(), 1u);
  EXPECT_EQ(chunks.elements(0), 0);
  EXPECT_TRUE(chunks.contribution(0, zeros_).empty());
  EXPECT_TRUE(chunks.out(0).empty());
}

TEST_F(ChunksTest, AVectorMayHaveMoreElementsThan32BitsCount) {
  const Chunks chunks(call(Collective::allreduce, std::size_t{8} << 30), 0, 1408);
  ASSERT_EQ(chunks.count(), 24403224u);
  EXPECT_EQ(chunks.out(24403223).data() - out_.data(), 34359737984);
  EXPECT_EQ(chunks.elements(24403223), 96);
}

TEST_F(ChunksTest, NothingIsNoPacket) {
  EXPECT_EQ(Chunks(call(Collective::allreduce, 0), 0, 64).count(), 0u);
}

}  // namespace
}  // namespace tributary::host
