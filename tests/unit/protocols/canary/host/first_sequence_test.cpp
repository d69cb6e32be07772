// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/host/first_sequence.h"

#include <set>

#include <gtest/gtest.h>

#include "protocols/canary/wire.h"

namespace tributary::host::test {
namespace {

TEST(FirstSequence, IsAnotherOneInEveryRun) {
  std::set<std::uint32_t> firsts;
  for (std::uint8_t run = 0; run < 100; ++run) {
    firsts.insert(first_sequence(JobKey{run}));
  }
  EXPECT_EQ(firsts.size(), 100u);
  EXPECT_LE(*firsts.rbegin(), wire::canary_sequence_mask);
}

}  // namespace
}  // namespace tributary::host::test
