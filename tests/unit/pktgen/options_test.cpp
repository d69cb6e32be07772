// SPDX-License-Identifier: BSD-3-Clause
#include "options.h"

#include <chrono>
#include <initializer_list>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "port_spec.h"

namespace tributary::pktgen {
namespace {

Parsed parse_line(std::initializer_list<const char*> words) {
  std::vector<std::string> texts = {"tributary-pktgen"};
  texts.insert(texts.end(), words.begin(), words.end());
  std::vector<char*> argv;
  for (auto& text : texts) {
    argv.push_back(text.data());
  }
  return parse(static_cast<int>(argv.size()), argv.data());
}

double line_bits(std::initializer_list<const char*> words) {
  const auto parsed = parse_line(words);
  return parsed.options ? parsed.options->session.trial.rate.per_second : 0;
}

TEST(Options, APercentageIsOfEveryLineThatIsSentInto) {
  EXPECT_DOUBLE_EQ(line_bits({"plain", "--port", "ring=a", "--port", "ring=b", "--line-rate",
                              "10Gbit", "--rate", "50%"}),
                   10e9);
  EXPECT_DOUBLE_EQ(line_bits({"plain", "--port", "ring=a", "--port", "ring=b", "--path", "0:1",
                              "--line-rate", "10Gbit", "--rate", "50%"}),
                   5e9);
  EXPECT_DOUBLE_EQ(line_bits({"canary", "--port", "ring=a", "--port", "ring=b", "--line-rate",
                              "10Gbit", "--rate", "50%"}),
                   10e9);
  EXPECT_DOUBLE_EQ(line_bits({"plain", "--port", "ring=a", "--port", "ring=b", "--line-rate",
                              "10Gbit", "--rate", "3Gbit"}),
                   3e9);
}

TEST(Options, APercentageFillsTheBusiestLine) {
  EXPECT_DOUBLE_EQ(
      line_bits({"plain", "--port", "ring=a", "--port", "ring=b", "--path", "0:1", "--path", "0:1",
                 "--path", "1:0", "--line-rate", "10Gbit", "--rate", "100%"}),
      15e9);
  EXPECT_DOUBLE_EQ(line_bits({"panama", "--port", "ring=a", "--port", "ring=b", "--port", "ring=c",
                              "--port", "ring=d", "--workers", "2", "--jobs", "2", "--line-rate",
                              "10Gbit", "--rate", "100%"}),
                   40e9);
}

TEST(Options, WhatIsNotANumberIsRefused) {
  for (const char* option : {"--loss", "--precision"}) {
    for (const bool is_number : {false, true}) {
      const auto parsed = parse_line({"pdr", "plain", "--port", "ring=a", "--port", "ring=b",
                                      "--rate", "1Mpps", option, is_number ? "0.5" : "nan"});
      EXPECT_EQ(parsed.options.has_value(), is_number) << option;
    }
  }
}

TEST(Options, ASearchWaitsForBlocksThatAreLost) {
  EXPECT_EQ(parse_line({"ndr", "canary", "--port", "ring=a", "--port", "ring=b", "--rate", "1Mpps",
                        "--block-timeout", "30s"})
                .exit_code,
            2);
  EXPECT_TRUE(parse_line({"ndr", "canary", "--port", "ring=a", "--port", "ring=b", "--rate",
                          "1Mpps", "--block-timeout", "30s", "--drain", "30s"})
                  .options);
}

TEST(Options, StandardOutputHoldsOneReport) {
  EXPECT_EQ(parse_line({"plain", "--port", "ring=a", "--json", "-", "--csv", "-"}).exit_code, 2);
  EXPECT_TRUE(parse_line({"plain", "--port", "ring=a", "--json", "-", "--csv", "f"}).options);
  EXPECT_EQ(parse_line({"pcap", "plain", "--file", "-"}).exit_code, 2);
}

TEST(Options, AFileHoldsOneReport) {
  EXPECT_EQ(parse_line({"plain", "--port", "ring=a", "--json", "f", "--csv", "f"}).exit_code, 2);
}

TEST(Options, NoPacketAtAllIsNoCount) {
  EXPECT_EQ(parse_line({"plain", "--port", "ring=a", "--count", "0"}).exit_code, 2);
  EXPECT_TRUE(parse_line({"plain", "--port", "ring=a", "--count", "1"}).options);
}

TEST(Options, PlainFramesGoToNoPortOfAProtocol) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(parse_line({"plain", "--port", "ring=a", "--destination-port", "17255"}).exit_code, 2);
  const auto said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("17255 is one of Canary's (17000 to 17255); choose another"),
            std::string::npos)
      << said;
  EXPECT_TRUE(parse_line({"plain", "--port", "ring=a", "--destination-port", "17256"}).options);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(parse_line({"plain", "--port", "ring=a", "--destination-port", "17257"}).exit_code, 2);
  EXPECT_NE(
      ::testing::internal::GetCapturedStderr().find("17257 is one of Flare's (17257); choose"),
      std::string::npos);
}

TEST(Options, BlocksInFlightAreAsManyAsMemoryHolds) {
  EXPECT_TRUE(
      parse_line({"canary", "--port", "ring=a", "--jobs", "64", "--blocks", "65536"}).options);
  EXPECT_EQ(
      parse_line({"canary", "--port", "ring=a", "--jobs", "65", "--blocks", "65536"}).exit_code, 2);
  EXPECT_EQ(parse_line(
                {"panama", "--port", "ring=a", "--jobs", "65", "--trees", "2", "--window", "65535"})
                .exit_code,
            2);
  EXPECT_EQ(parse_line({"netreduce", "--port", "ring=a", "--jobs", "4096", "--message-packets",
                        "8192", "--window", "64"})
                .exit_code,
            2);
}

TEST(Options, HostsOfAllPortsSpeakOneVersionOfIp) {
  EXPECT_EQ(parse_line({"plain", "--port", "ring=a,address=fd00::1", "--port", "ring=b"}).exit_code,
            2);
  EXPECT_TRUE(parse_line({"plain", "--port", "ring=a,address=fd00:1::1", "--port",
                          "ring=b,address=fd00:2::1"})
                  .options);
}

TEST(Options, HostsOfSumsHaveOnePrefix) {
  EXPECT_TRUE(parse_line({"canary", "--port", "ring=a,address=fd00::10.0.0.1", "--port",
                          "ring=b,address=fd00::10.0.1.1"})
                  .options);
  for (const char* other : {"ring=b,address=fd00:1::10.0.1.1", "ring=b,address=fd00::239.1.1.1"}) {
    const auto parsed =
        parse_line({"canary", "--port", "ring=a,address=fd00::10.0.0.1", "--port", other});
    EXPECT_EQ(parsed.exit_code, 2) << other;
  }
}

TEST(Options, APacketOverIpv6HasRoomForLess) {
  for (const auto& [address, elements] :
       {std::pair{"ring=a", "352"}, {"ring=a,address=fd00::1", "347"}}) {
    EXPECT_TRUE(parse_line({"canary", "--port", address, "--elements", elements}).options)
        << address;
    const auto one_more = std::to_string(std::stoi(elements) + 1);
    EXPECT_FALSE(parse_line({"canary", "--port", address, "--elements", one_more.c_str()}).options)
        << address;
  }
}

TEST(Options, PlainFramesOverIpv6AreNoShorterThanTheirHeaders) {
  const auto sized = [](const char* size) {
    return parse_line({"plain", "--port", "ring=a,address=fd00::1", "--size", size}).exit_code;
  };
  EXPECT_EQ(sized("81"), 2);
  EXPECT_EQ(sized("82"), 0);
  EXPECT_EQ(sized("imix"), 0);
}

TEST(Options, AFileMayBeOfIpv6) {
  const auto canary = [](const char* address_of_switch) {
    return parse_line({"pcap", "canary", "--file", "x", "--address", "fd00::10.1.1.2", "--switch",
                       address_of_switch})
        .exit_code;
  };
  EXPECT_EQ(canary("fd00::10.1.255.1"), 0);
  EXPECT_EQ(canary("10.1.255.1"), 0);
  EXPECT_EQ(canary("fd00:1::10.1.255.1"), 2);
}

TEST(Options, JobsOfPanamaDoNotCountPastTheLast) {
  EXPECT_TRUE(parse_line({"panama", "--port", "ring=a", "--first-job", "4294967294", "--jobs", "2"})
                  .options);
  EXPECT_EQ(parse_line({"panama", "--port", "ring=a", "--first-job", "4294967294", "--jobs", "3"})
                .exit_code,
            2);
}

TEST(Options, AnUnknownCommandHasANeighbour) {
  const auto said_of = [](std::initializer_list<const char*> words) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(parse_line(words).exit_code, 2);
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said_of({"plian", "--port", "ring=a"}),
            "tributary-pktgen: no command `plian`; did you mean `plain`?\n");
  EXPECT_EQ(said_of({"ndr", "panma", "--port", "ring=a"}),
            "tributary-pktgen: no command `ndr panma`; did you mean `ndr panama`?\n");
  const auto said = said_of({"bogosity"});
  EXPECT_EQ(said.find("tributary-pktgen: no command `bogosity`; there are plain, "), 0u) << said;
  EXPECT_NE(said.find(", ndr, pdr, pcap, feed"), std::string::npos) << said;
}

TEST(Options, AnErrorNamesTheOptionThatWasGiven) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(parse_line({"ndr", "plain", "--port", "ring=a", "--trial", "0s"}).exit_code, 2);
  const auto said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("--trial"), std::string::npos) << said;
  EXPECT_EQ(said.find("--duration"), std::string::npos) << said;
}

TEST(Options, TheHelpNamesEveryKindOfPort) {
  for (const std::string words : {"pcap-rx=", "infinite", "pcap-tx=", "memif="}) {
    EXPECT_NE(std::string(port_help).find(words), std::string::npos) << words;
  }
}

TEST(Options, AFeedHasAConfigurationAndATime) {
  const auto parsed = parse_line({"feed", "--config", "s.toml", "--duration", "2s"});
  ASSERT_TRUE(parsed.feed);
  EXPECT_EQ(parsed.feed->config, "s.toml");
  EXPECT_EQ(parsed.feed->duration, std::chrono::seconds(2));
  EXPECT_EQ(parsed.feed->warm_up, std::chrono::seconds(1));
  EXPECT_EQ(parse_line({"feed"}).exit_code, 2);
  EXPECT_EQ(parse_line({"feed", "--config", "f", "--duration", "0s"}).exit_code, 2);
}

TEST(Options, DescriptorsOfAFeedAreAPowerOfTwo) {
  EXPECT_TRUE(parse_line({"feed", "--config", "f", "--descriptors", "4096"}).feed);
  EXPECT_EQ(parse_line({"feed", "--config", "f", "--descriptors", "500"}).exit_code, 2);
  EXPECT_EQ(parse_line({"feed", "--config", "f", "--descriptors", "32"}).exit_code, 2);
}

}  // namespace
}  // namespace tributary::pktgen
