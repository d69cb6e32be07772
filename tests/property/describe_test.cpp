// SPDX-License-Identifier: BSD-3-Clause
#include "property/describe.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "packet/pool.h"
#include "support/canary_packets.h"
#include "support/dress.h"
#include "support/flare_packets.h"

namespace tributary::test {
namespace {

class DescribeFrame : public testing::Test {
 protected:
  // A payload of whole pairs, or of elements, depending on the form.
  std::string sparse(const FlareSparseSpec& spec, std::size_t payload_bytes) {
    const std::vector<std::byte> payload(payload_bytes);
    return describe_frame(make_flare_sparse(pool_, spec, payload)->bytes());
  }

  HeapPacketPool pool_{2, 2048};
};

TEST_F(DescribeFrame, TellsOfDenseBlocksOfFlare) {
  FlareSpec spec;
  spec.block = 5;
  spec.retransmission = true;
  spec.fingerprint = 0xabc;
  EXPECT_EQ(describe_frame(make_flare(pool_, spec, std::vector<std::int32_t>{1, 2})->bytes()),
            "Flare contribution job 7 run 00000001 block 5 again contributions 1/4 elements 2 "
            "fp 0000000000000abc");
}

TEST_F(DescribeFrame, TellsWhichShardOfASparseBlockItIs) {
  FlareSparseSpec spec;
  spec.block = 9;
  spec.shard = 2;
  spec.shards = 0;
  spec.contributions = 0;
  EXPECT_EQ(sparse(spec, 12),
            "sparse Flare contribution job 7 run 00000001 block 9 shard 2/? edition 0 pairs 2 "
            "from 0 span 512 contributions 0/4 fp 0000000000000000");
  spec.shards = 3;
  spec.contributions = 1;
  spec.retransmission = true;
  EXPECT_EQ(sparse(spec, 0),
            "sparse Flare contribution job 7 run 00000001 block 9 again shard 2/3 edition 0 pairs "
            "0 from 0 span 512 contributions 1/4 fp 0000000000000000");
}

TEST_F(DescribeFrame, TellsTheEditionAndThePlaceOfARun) {
  FlareSparseSpec spec;
  spec.kind = wire::FlareKind::result;
  spec.form = wire::FlareForm::run;
  spec.block = 9;
  spec.first = 16;
  spec.shard = 1;
  spec.shards = 32;
  spec.edition = 0xed;
  spec.contributions = 4;
  spec.answer = true;
  EXPECT_EQ(sparse(spec, 64),
            "sparse Flare result job 7 run 00000001 block 9 asked for shard 1/32 edition ed run 16 "
            "from 16 span 512 contributions 4/4 fp 0000000000000000");
}

TEST_F(DescribeFrame, TellsWhatIsWrongWithASparsePacket) {
  FlareSparseSpec spec;
  spec.span = 0;
  EXPECT_EQ(sparse(spec, 6).rfind("malformed! sparse Flare contribution", 0), 0u);
}

TEST_F(DescribeFrame, TellsOfTagsAndOfIpv6InFrontOfWhatIsBehindThem) {
  const FlareSpec spec;
  const auto frame = make_flare(pool_, spec, std::vector<std::int32_t>{1, 2});
  const auto plain = describe_frame(frame->bytes());
  put_on(*frame, {std::nullopt, wire::EmbeddingPrefix{0x20010db800640000, 0}});
  EXPECT_EQ(describe_frame(frame->bytes()), "over IPv6: " + plain);
  put_on(*frame, {std::uint16_t{5u << wire::vlan_priority_shift | 10u}, std::nullopt});
  EXPECT_EQ(describe_frame(frame->bytes()), "in VLAN 10: over IPv6: " + plain);
  EXPECT_EQ(take_off(*frame).tag, 5u << wire::vlan_priority_shift | 10u);
  EXPECT_EQ(describe_frame(frame->bytes()), plain);
}

}  // namespace
}  // namespace tributary::test
