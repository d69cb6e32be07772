// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/carrier/options.h"

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

TEST(PanamaOptions, AreReadFromText) {
  CommunicatorOptions given;
  const auto usual = panama_options_of(given);
  EXPECT_TRUE(usual.trees.empty());
  EXPECT_TRUE(usual.congestion_control);
  EXPECT_EQ(usual.share, 1);
  given.set("trees", "239.192.0.1,239.192.0.2").set("congestion_control", "off");
  given.set("share", "0.88");
  const auto read = panama_options_of(given);
  EXPECT_EQ(read.trees, (std::vector<std::string>{"239.192.0.1", "239.192.0.2"}));
  EXPECT_FALSE(read.congestion_control);
  EXPECT_EQ(read.share, 0.88);
}

// Packets have no room for the mask of more.
TEST(PanamaOptions, SumsOfVeryManyRanksLackNone) {
  CommunicatorOptions options;
  options.job = 1;
  options.set("trees", "239.192.0.1").set("share", "0.5");
  options.world_size = 1024;
  EXPECT_TRUE(check_panama(options));
  options.world_size = 1025;
  const auto checked = check_panama(options);
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().message.find("TRIBUTARY_SHARE"), std::string::npos);
  options.set("share", "0.9999");
  EXPECT_TRUE(check_panama(options)) << "that is all of them, rounded up";
}

}  // namespace
}  // namespace tributary::host::test
