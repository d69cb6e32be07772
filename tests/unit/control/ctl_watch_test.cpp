// SPDX-License-Identifier: BSD-3-Clause
// Tests `tributaryctl watch`.
#include <nlohmann/json.hpp>

#include "ctl_fixture.h"

namespace tributary::control {
namespace {

using nlohmann::json;

TEST_F(CtlTest, watch_tells_every_kind_of_loss_by_the_second) {
  backend_.lost_between_questions = 7;
  start();
  const auto rows = json::parse(run("--json watch --count 1 --interval 0.05").output);
  ASSERT_FALSE(rows.empty());
  for (const auto* figure : {"rx_missed_packets_per_second", "unsent_packets_per_second"}) {
    EXPECT_GT(rows[0].value(figure, 0.0), 0) << figure;
  }
  EXPECT_EQ(rows[0].value("tail_dropped_packets_per_second", -1.0), 0);
}

TEST_F(CtlTest, watch_tells_errors_in_lines_of_json_too) {
  const Ran outcome = run("--json watch --count 1");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.output.find('\n'), outcome.output.size() - 1) << outcome.output;
  EXPECT_TRUE(json::parse(outcome.output).contains("error"));
}

TEST_F(CtlTest, watch_takes_no_count_below_none) {
  for (const auto* command : {"watch --count -1", "fabric watch f.toml --count -1"}) {
    const Ran outcome = run(command);
    EXPECT_EQ(outcome.code, 2) << command;
    EXPECT_NE(outcome.output.find("`-1` is no whole number from 0 on"), std::string::npos)
        << outcome.output;
  }
}

}  // namespace
}  // namespace tributary::control
