// SPDX-License-Identifier: BSD-3-Clause
#include "host/journal/log.h"

#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "../loopback.h"
#include "../ports.h"
#include "host/communicator.h"
#include "host/protocol.h"

namespace tributary::host::test {
namespace {

CommunicatorOptions logging(const std::string& level) {
  CommunicatorOptions options;
  return level.empty() ? options : options.set("log", level);
}

// Returns the lines of rank 0 of two ranks that call an allreduce.
std::vector<std::string> said(const std::string& algorithm, const std::string& level) {
  const auto port = next_ports();
  std::mutex mutex;
  std::vector<std::string> lines;
  run_ranks(2, [&](std::uint32_t rank) {
    auto options = options_on_loopback(rank, 2, port);
    options.parameters = logging(level).parameters;
    options.algorithm = algorithm;
    options.on_notice = [&, rank](const std::string& line) {
      const std::lock_guard lock(mutex);
      if (rank == 0) {
        lines.push_back(line);
      }
    };
    auto communicator = Communicator::create(options);
    ASSERT_TRUE(communicator) << communicator.error().message;
    std::vector<float> elements(256);
    EXPECT_TRUE(communicator->allreduce(std::span(elements)));
  });
  return lines;
}

bool line_has(const std::string& line, const std::string& text) {
  return line.find(text) != std::string::npos;
}

TEST(Log, LevelsAreWordsAndOtherOnesAreRefused) {
  EXPECT_EQ(log_level_of({}), LogLevel::notice);
  EXPECT_EQ(log_level_of(logging("error")), LogLevel::error);
  EXPECT_EQ(log_level_of(logging("warn")), LogLevel::warn);
  EXPECT_EQ(log_level_of(logging("info")), LogLevel::info);
  const auto checked = check_parameters(logging("loud"));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message, "TRIBUTARY_LOG=loud is not error, warn or info");
}

TEST(Log, WithoutALevelTheAlgorithmIsSaid) {
  const auto lines = said("ring", "");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(line_has(lines[0], "as asked for")) << lines[0];
}

TEST(Log, AWarningIsThatTheHostsHaveToReduce) {
  EXPECT_TRUE(said("ring", "warn").empty()) << "that was asked for";
  const auto lines = said("auto", "warn");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(line_has(lines[0], "the hosts reduce alone")) << lines[0];
  EXPECT_TRUE(said("auto", "error").empty());
}

TEST(Log, OfInfoTheEndSaysWhatCarriedWhatAndWhy) {
  const auto lines = said("auto", "info");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(line_has(lines[1], "rank 0 of 2: ended after")) << lines[1];
  EXPECT_TRUE(line_has(lines[1], "1 collective by the ring of the hosts (1: no switch"))
      << lines[1];
  const auto by_canary = said("canary", "info");
  ASSERT_EQ(by_canary.size(), 2u);
  EXPECT_TRUE(line_has(by_canary[1], "1 collective by canary (bytes_sent=")) << by_canary[1];
}

}  // namespace
}  // namespace tributary::host::test
