// SPDX-License-Identifier: BSD-3-Clause
#include "host/transport/address.h"

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

TEST(Address, resolve_calls_what_it_cannot_read_by_its_name) {
  EXPECT_EQ(resolve("10.0.0.1", "--listen").error().message,
            "--listen '10.0.0.1': no port; write address:port");
  EXPECT_EQ(
      resolve("10.0.0.1:x").error().message,
      "rendezvous '10.0.0.1:x': the port is not a number from 1 to 65535; write address:port");
}

TEST(Address, resolve_reads_an_address_and_a_port) {
  const auto place = resolve("10.0.0.1:29500");
  ASSERT_TRUE(place);
  EXPECT_EQ(to_string(*place), "10.0.0.1:29500");
}

}  // namespace
}  // namespace tributary::host::test
