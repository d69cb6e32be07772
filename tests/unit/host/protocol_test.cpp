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
  for (const auto* protocol : protocols()) {
    EXPECT_TRUE(names.insert(protocol->name).second) << protocol->name;
  }
  std::set<std::string_view> options;
  for (const auto* parameter : protocol_parameters()) {
    EXPECT_TRUE(parameter->option.empty() || options.insert(parameter->option).second)
        << parameter->option;
  }
  std::set<std::string_view> known = {automatic_algorithm};
  for (const auto& algorithm : algorithms()) {
    EXPECT_TRUE(known.insert(algorithm.name).second) << algorithm.name;
  }
}

TEST(HostProtocols, AParameterOfSeveralIsTheSameForAll) {
  for (const auto* protocol : protocols()) {
    for (const auto& parameter : protocol->parameters) {
      const auto all = protocol_parameters();
      const auto* const first = *std::ranges::find(all, parameter.name, &Parameter::name);
      EXPECT_EQ(parameter.help, first->help) << parameter.name;
      EXPECT_EQ(parameter.option, first->option) << parameter.name;
      EXPECT_EQ(parameter.otherwise, first->otherwise) << parameter.name;
      EXPECT_EQ(wanted(parameter), wanted(*first)) << parameter.name;
      EXPECT_EQ(parameter.agreed, first->agreed) << parameter.name;
    }
  }
}

TEST(HostProtocols, OneIsForWantOfABetterOne) {
  const auto rows = protocols();
  EXPECT_EQ(std::ranges::count_if(rows, [](const auto* protocol) { return protocol->by_default; }),
            1);
}

}  // namespace
}  // namespace tributary::host::test
