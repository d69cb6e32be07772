// SPDX-License-Identifier: BSD-3-Clause
#include "host/job.h"

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

TEST(Endpoint, ReadsAsPeopleWriteIt) {
  EXPECT_EQ(to_string(Endpoint{wire::Ipv4Address(10, 1, 0, 255), 17000}), "10.1.0.255:17000");
}

}  // namespace
}  // namespace tributary::host::test
