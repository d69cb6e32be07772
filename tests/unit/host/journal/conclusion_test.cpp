// SPDX-License-Identifier: BSD-3-Clause
#include "host/journal/conclusion.h"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;

TEST(JournalConclusion, SaysWhatCarriedWhat) {
  const ProtocolStatistics carried{
      "panama",
      {{"bytes_sent", std::uint64_t{12345}}, {"stashed", std::uint64_t{7}}},
      {Figures{{"group", std::string("239.192.0.1")}},
       Figures{{"group", std::string("239.192.0.2")}}}};
  EXPECT_EQ(conclusion_of({"job 7, rank 0 of 4",
                           1500ms,
                           "panama",
                           96,
                           3,
                           1,
                           {{"broadcast, which panama does not carry here", 2},
                            {"handlers, which panama does not carry here", 1}},
                           carried}),
            "job 7, rank 0 of 4: ended after 1.5 s: 96 collectives by panama over 239.192.0.1, "
            "239.192.0.2 (bytes_sent=12345), 3 collectives by the ring of the hosts (2: broadcast, "
            "which panama does not carry here; 1: handlers, which panama does not carry here), 1 "
            "failed");
}

TEST(JournalConclusion, NamesTheRingOfASwitch) {
  const ProtocolStatistics carried{
      "netreduce", {{"ring", std::uint64_t{4}}, {"messages_sent", std::uint64_t{9}}}, {}};
  EXPECT_EQ(conclusion_of({"job 7, rank 1 of 2", 2s, "netreduce", 1, 0, 0, {}, carried}),
            "job 7, rank 1 of 2: ended after 2 s: 1 collective by netreduce over ring 4 "
            "(messages_sent=9), 0 collectives by the ring of the hosts");
}

TEST(JournalConclusion, SaysWhatSketchesSaved) {
  const ProtocolStatistics carried{"canary", {}, {}};
  EXPECT_EQ(conclusion_of({"job 7, rank 0 of 2", 2s, "canary", 6, 0, 1, {}, carried, {251, 1000}}),
            "job 7, rank 0 of 2: ended after 2 s: 6 collectives by canary, 0 collectives by the "
            "ring of the hosts, sketches sent 251 B in place of 1.0 kB (74.9 % saved), 1 failed");
}

TEST(JournalConclusion, OfTheRingAloneHasNoSwitches) {
  const ProtocolStatistics carried{"canary", {{"bytes_sent", std::uint64_t{0}}}, {}};
  EXPECT_EQ(
      conclusion_of({"job 7, rank 0 of 2", 2s, "ring", 0, 2, 0, {{"as asked for", 2}}, carried}),
      "job 7, rank 0 of 2: ended after 2 s: 2 collectives by the ring of the hosts (2: as "
      "asked for)");
}

}  // namespace
}  // namespace tributary::host::test
