// SPDX-License-Identifier: BSD-3-Clause
#include "host/job.h"

#include <set>

#include <gtest/gtest.h>

#include "wire/element.h"

namespace tributary::host::test {
namespace {

TEST(PayloadBytesFor, FitsThePacketAndCutsNoElement) {
  for (std::uint32_t mtu = 0; mtu <= 65535; ++mtu) {
    const auto udp = payload_bytes_for(mtu, wire::Encapsulation::udp);
    const auto ethernet = payload_bytes_for(mtu, wire::Encapsulation::ethernet);
    ASSERT_EQ(udp % 32, 0u);
    ASSERT_TRUE(udp == 0 || udp + 92 <= mtu);
    ASSERT_TRUE(ethernet == 0 || ethernet + 64 <= mtu);
    ASSERT_TRUE(mtu < 92 || udp + 92 + 32 > mtu);
    ASSERT_LE(ethernet, 65535u);  // i8 elements are counted in 16 bits
  }
  EXPECT_EQ(payload_bytes_for(1500, wire::Encapsulation::udp), 1408u);
}

TEST(ContributionTag, DependsOnEverything) {
  std::set<std::uint64_t> tags;
  for (const JobKey key : {JobKey{1}, JobKey{2}}) {
    for (const std::uint32_t id : {0u, 1u, 0xffffffffu}) {
      for (std::uint32_t rank = 0; rank < 5; ++rank) {
        tags.insert(contribution_tag(key, id, rank));
        tags.insert(control_tag(key, wire::CanaryKind::request, id, rank));
      }
    }
  }
  EXPECT_EQ(tags.size(), 60u);
}

// The example of docs/reference/wire/canary.md.
TEST(ContributionTag, IsSipHashAsDocumented) {
  JobKey key{};
  for (std::uint8_t i = 0; i < key.size(); ++i) {
    key[i] = i;
  }
  EXPECT_EQ(contribution_tag(key, 7, 2), 0xf16ed269d0242990u);
}

TEST(Endpoint, ReadsAsPeopleWriteIt) {
  EXPECT_EQ(to_string(Endpoint{wire::Ipv4Address(10, 1, 0, 255), 17000}), "10.1.0.255:17000");
}

}  // namespace
}  // namespace tributary::host::test
