// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/carrier/options.h"

#include <string>

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

CommunicatorOptions valid() {
  CommunicatorOptions options;
  options.job = 7;
  options.set("flare_tree", "239.192.0.7");
  return options;
}

std::string refusal(const CommunicatorOptions& options) {
  const auto checked = check_flare(options);
  return checked ? "" : checked.error().message;
}

TEST(FlareOptions, AreReadFromText) {
  CommunicatorOptions given;
  const auto usual = flare_options_of(given);
  EXPECT_EQ(usual.tree, "");
  EXPECT_EQ(usual.window, 64u);
  EXPECT_EQ(usual.sparse_window, 0u);
  given.set("flare_tree", "239.192.0.1").set("flare_window", "256").set("flare_sparse_window", "8");
  const auto read = flare_options_of(given);
  EXPECT_EQ(read.tree, "239.192.0.1");
  EXPECT_EQ(read.window, 256u);
  EXPECT_EQ(read.sparse_window, 8u);
}

TEST(FlareOptions, NameATreeAndItsJob) {
  EXPECT_EQ(refusal(valid()), "");
  auto options = valid();
  options.job = 0;
  EXPECT_NE(refusal(options).find("TRIBUTARY_JOB"), std::string::npos);
  options = valid();
  options.set("flare_tree", "");
  EXPECT_EQ(refusal(options), "") << "the ring may carry it";
  options.fallback = Fallback::error;
  EXPECT_NE(refusal(options).find("TRIBUTARY_FLARE_TREE"), std::string::npos);
  options = valid();
  options.set("flare_tree", "10.0.0.1");
  EXPECT_EQ(refusal(options), "'10.0.0.1' is not the multicast address of a reduction tree");
  options = valid();
  options.encapsulation = wire::Encapsulation::ethernet;
  EXPECT_NE(refusal(options).find("TRIBUTARY_ENCAPSULATION"), std::string::npos);
}

}  // namespace
}  // namespace tributary::host::test
