// SPDX-License-Identifier: BSD-3-Clause
#include "host/cube/interfaces.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

// Loopback has one address of IPv6, ::1. Its upper 96 bits are the prefix, and 0.0.0.1 is embedded.
const auto own6 = wire::IpAddress::of_halves(0, 1);
const wire::IpAddress own4 = wire::Ipv4Address(127, 0, 0, 1);

std::vector<std::string> texts_of(const Result<std::vector<CubeInterface>>& opened) {
  std::vector<std::string> texts;
  for (const auto& interface : opened.value()) {
    texts.push_back(text_of(interface));
  }
  return texts;
}

TEST(CubeInterfaces, AreOpenedByTheVersionOfIpThatTheRankHas) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(texts_of(open_interfaces({}, own6)), Texts{"lo (::1)"});
  EXPECT_EQ(texts_of(open_interfaces({"lo"}, own6)), Texts{"lo (::1)"});
  EXPECT_EQ(texts_of(open_interfaces({"::1"}, own6)), Texts{"lo (::1)"});
  EXPECT_EQ(texts_of(open_interfaces({"lo", "127.0.0.2"}, own4)),
            (Texts{"lo (127.0.0.1)", "lo (127.0.0.2)"}));
}

TEST(CubeInterfaces, OfDifferentKindsAreRefused) {
  const auto prefix = wire::IpAddress::of_halves(0x20010db800640000, 1);
  for (const auto& [given, own] : {std::pair{"127.0.0.1", own6}, {"::1", own4}, {"::1", prefix}}) {
    const auto opened = open_interfaces({given}, own);
    ASSERT_FALSE(opened) << given;
    EXPECT_NE(opened.error().message.find("of one kind"), std::string::npos);
  }
  const auto opened = open_interfaces({"lo"}, prefix);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().message,
            "no interface 'lo' of this host has an address in 2001:db8:64::/96 "
            "(TRIBUTARY_INTERFACES)");
}

TEST(CubeInterfaces, AreToldToTheOthersWhoKnowThePrefix) {
  const auto opened = open_interfaces({"lo"}, own6);
  ASSERT_TRUE(opened) << opened.error().message;
  const auto& local = opened->front().listener.local;
  Meeting meeting;
  meeting.job.peers = {local};
  meeting.ends = {end_of(*opened)};
  const auto all = endpoints_of(meeting);
  ASSERT_TRUE(all);
  EXPECT_EQ(*all, (std::vector<std::vector<Endpoint>>{{local}}));
  EXPECT_EQ(all->front().front().ip(), own6);
}

}  // namespace
}  // namespace tributary::host::test
