// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/host/tags.h"

#include <set>

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

TEST(ControlTag, DependsOnEverything) {
  std::set<std::uint64_t> tags;
  for (const JobKey key : {JobKey{1}, JobKey{2}}) {
    for (const std::uint32_t id : {0u, 1u, 0xffffffffu}) {
      for (std::uint32_t rank = 0; rank < 5; ++rank) {
        tags.insert(control_tag(key, wire::CanaryKind::request, id, rank));
        tags.insert(control_tag(key, wire::CanaryKind::failure, id, rank));
      }
    }
  }
  EXPECT_EQ(tags.size(), 60u);
}

// The values come from other implementations.
TEST(ControlTag, IsAHashOfIdRankAndKind) {
  JobKey key{};
  for (std::uint8_t i = 0; i < key.size(); ++i) {
    key[i] = i;
  }
  EXPECT_EQ(control_tag(key, wire::CanaryKind::request, 7, 2), 0xe00392b1e0c0cc00u);
}

}  // namespace
}  // namespace tributary::host::test
