// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/host/blocks.h"

#include <cstddef>

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

TEST(Blocks, AVectorMayHaveMoreElementsThan32BitsCount) {
  Job job;
  job.peers.resize(3);
  job.payload_bytes = 1408;
  std::byte vector{};
  const auto call = call_of(Collective::allreduce, &vector, &vector, std::size_t{8} << 30,
                            wire::ElementType::i32, wire::Operator::sum);
  const Blocks blocks(call, job, {}, 5, 0);
  EXPECT_EQ(blocks.count(), 24403225u);  // and the completion
  EXPECT_EQ(blocks.out(24403223).data() - &vector, 34359737984);
  EXPECT_EQ(blocks.next_first(), 24403230u);
}

}  // namespace
}  // namespace tributary::host::test
