// SPDX-License-Identifier: BSD-3-Clause
#include "host/job.h"

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

TEST(Endpoint, ReadsAsPeopleWriteIt) {
  EXPECT_EQ(to_string(Endpoint{wire::Ipv4Address(10, 1, 0, 255), 17000}), "10.1.0.255:17000");
}

// The values come from other implementations.
TEST(RingTag, IsAHashOfPurposeJobAndRank) {
  const JobKey key = {1, 2, 3};
  EXPECT_EQ(ring_tag(key, 7, 2), 0x7edebe85938f2589u);
}

}  // namespace
}  // namespace tributary::host::test
