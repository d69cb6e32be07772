// SPDX-License-Identifier: BSD-3-Clause
#include "host/payload.h"

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

TEST(PayloadBytesBehind, FitsThePacketAndCutsNoElement) {
  for (std::uint32_t mtu = 0; mtu <= 65535; ++mtu) {
    const auto bytes = payload_bytes_behind(92, mtu);
    ASSERT_EQ(bytes % 32, 0u);
    ASSERT_TRUE(bytes == 0 || bytes + 92 <= mtu);
    ASSERT_TRUE(mtu < 92 || bytes + 92 + 32 > mtu);
  }
  EXPECT_EQ(payload_bytes_behind(92, 1500), 1408u);
}

}  // namespace
}  // namespace tributary::host::test
