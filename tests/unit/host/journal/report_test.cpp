// SPDX-License-Identifier: BSD-3-Clause
#include "host/journal/report.h"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;

bool has(const std::string& line, const std::string& text) {
  return line.find(text) != std::string::npos;
}

TEST(JournalReport, HasALineForEachKindOfCollective) {
  const Tallies tallies = {{{"allreduce", 1024, "canary"}, {10, 0, 10'000, 20ms, 5ms}},
                           {{"barrier", 0, "ring"}, {1, 1, 0, 1ms, 1ms}}};
  const ProtocolStatistics carried{"canary",
                                   {{"blocks_in_network", std::uint64_t{7}},
                                    {"replays", std::uint64_t{0}},
                                    {"missing_by_rank", "3:120,5:2"},
                                    {"nobody", ""}},
                                   {}};
  const std::vector<Duration> ranks = {30ms, 21ms, 25ms};
  const auto lines = report_of(tallies, {"communicator of 3", 210ms, ranks, carried});
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[0], "communicator of 3: 21.000 ms of 210.000 ms in collectives (10.0 %)");
  EXPECT_TRUE(has(lines[2], "allreduce") && has(lines[2], "1 KiB") && has(lines[2], " 2.000 "))
      << lines[2];
  EXPECT_TRUE(has(lines[2], " 4.0")) << "Mbit/s: " << lines[2];
  EXPECT_TRUE(has(lines[3], "barrier") && has(lines[3], "1 failed")) << lines[3];
  EXPECT_EQ(lines[4], "canary: blocks_in_network=7 missing_by_rank=3:120,5:2");
  EXPECT_EQ(lines[5], "rank 1 came last: rank 0 waited in collectives for 9.000 ms longer");
}

TEST(JournalReport, SaysWhatSketchesSaved) {
  const ProtocolStatistics carried{"canary", {}, {}};
  const auto lines = report_of({}, {"communicator of 2", 10ms, {}, carried, {126, 1000}});
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[2], "sketches sent 126 B in place of 1.0 kB (87.4 % saved)");
}

TEST(JournalReport, SaysLessOfWhatIsNotKnown) {
  const auto lines = report_of({}, {"communicator of 1", 0ms, {}, {}});
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "communicator of 1: 0.000 ms of 0.000 ms in collectives (0.0 %)");
}

}  // namespace
}  // namespace tributary::host::test
