// SPDX-License-Identifier: BSD-3-Clause
#include "options.h"

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::bench::test {
namespace {

using namespace std::chrono_literals;

class BenchOptions : public testing::Test {
 protected:
  BenchOptions() { clear(); }
  ~BenchOptions() override { clear(); }

  // Rank 0 of two, with these arguments besides.
  static Parsed parse(std::vector<std::string> arguments) {
    std::vector<std::string> all = {"tributary-bench", "allreduce", "--rank",       "0",
                                    "--world",         "2",         "--rendezvous", "10.0.0.1:1"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (auto& argument : all) {
      argv.push_back(argument.data());
    }
    return bench::parse(static_cast<int>(argv.size()), argv.data());
  }

 private:
  static void clear() {
    for (const auto* name : {"RANK", "TRIBUTARY_STALL_TIMEOUT", "TRIBUTARY_DEADLINE"}) {
      ::unsetenv(name);
    }
  }
};

TEST_F(BenchOptions, WithoutLimitsTheDefaultsOfTheLibraryHold) {
  const auto parsed = parse({});
  ASSERT_TRUE(parsed.options);
  EXPECT_FALSE(parsed.options->communicator.stall_timeout);
  EXPECT_FALSE(parsed.options->communicator.deadline);
}

TEST_F(BenchOptions, AStallTimeoutIsNoDeadline) {
  const auto parsed = parse({"--stall-timeout", "2.5"});
  ASSERT_TRUE(parsed.options);
  EXPECT_EQ(parsed.options->communicator.stall_timeout, 2500ms);
  EXPECT_FALSE(parsed.options->communicator.deadline);
}

TEST_F(BenchOptions, ADeadlineIsFixed) {
  const auto parsed = parse({"--deadline", "90"});
  ASSERT_TRUE(parsed.options);
  EXPECT_EQ(parsed.options->communicator.deadline, 90s);
  EXPECT_FALSE(parsed.options->communicator.stall_timeout);
}

TEST_F(BenchOptions, AStallTimeoutIsPositive) {
  EXPECT_FALSE(parse({"--stall-timeout", "0"}).options);
  EXPECT_FALSE(parse({"--stall-timeout", "soon"}).options);
}

}  // namespace
}  // namespace tributary::bench::test
