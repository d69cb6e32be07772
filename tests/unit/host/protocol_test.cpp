// SPDX-License-Identifier: BSD-3-Clause
#include "host/protocol.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

TEST(HostProtocols, FitIntoAHello) {
  for (const auto* protocol : protocols()) {
    const auto agreed = std::ranges::count_if(protocol->parameters, &Parameter::agreed);
    EXPECT_LE(static_cast<std::size_t>(agreed), rendezvous_settings_max) << protocol->name;
    EXPECT_LE(protocol->name.size(), sizeof(RendezvousName));
  }
  for (const auto& algorithm : algorithms()) {
    EXPECT_LE(algorithm.name.size(), sizeof(RendezvousName)) << algorithm.name;
  }
}

TEST(HostProtocols, NamesMeanOneThing) {
  std::set<std::string_view> names;
  std::set<std::string_view> parameters;
  std::set<std::string_view> options;
  for (const auto* protocol : protocols()) {
    EXPECT_TRUE(names.insert(protocol->name).second) << protocol->name;
    for (const auto& parameter : protocol->parameters) {
      EXPECT_TRUE(parameters.insert(parameter.name).second) << parameter.name;
      EXPECT_TRUE(parameter.option.empty() || options.insert(parameter.option).second)
          << parameter.option;
    }
  }
  std::set<std::string_view> known = {automatic_algorithm};
  for (const auto& algorithm : algorithms()) {
    EXPECT_TRUE(known.insert(algorithm.name).second) << algorithm.name;
  }
}

TEST(HostProtocols, OneIsForWantOfABetterOne) {
  const auto rows = protocols();
  EXPECT_EQ(std::ranges::count_if(rows, [](const auto* protocol) { return protocol->by_default; }),
            1);
}

}  // namespace
}  // namespace tributary::host::test
