// SPDX-License-Identifier: BSD-3-Clause
// Tests `tributaryctl metrics`.
#include <set>
#include <sstream>

#include "ctl_fixture.h"

namespace tributary::control {
namespace {

TEST_F(CtlTest, metrics_have_values_with_labels_types_and_help) {
  backend_.classes.resize(1);
  backend_.classes[0].switch_name = "leaf1";
  backend_.classes[0].port = "h1";
  backend_.classes[0].name = "bulk \"1\"";
  backend_.classes[0].counters.tx_packets = 3;
  start();
  const Ran outcome = run("metrics");
  EXPECT_EQ(outcome.code, 0);
  for (const auto* const lines : {
           "# HELP tributary_port_rx_packets_total frames that came in\n"
           "# TYPE tributary_port_rx_packets_total counter\n"
           "tributary_port_rx_packets_total{switch=\"leaf1\",port=\"h1\"} 10\n",
           "\ntributary_port_paused_seconds_total{switch=\"leaf1\",port=\"h1\"} 1.5\n",
           "\ntributary_class_tx_packets_total{switch=\"leaf1\",port=\"h1\","
           "class=\"bulk \\\"1\\\"\"} 3\n",
           "# TYPE tributary_canary_collisions_total counter\n"
           "tributary_canary_collisions_total{switch=\"leaf1\"} 7\n",
           "\ntributary_port_up{switch=\"leaf1\",port=\"h1\"} 1\n",
           "# TYPE tributary_daemon_packet_buffers_free "
           "gauge\ntributary_daemon_packet_buffers_free ",
           "\ntributary_core_loops_total{cpu=\"3\"} 10\n",
           "\ntributary_dropped_packets_total{scope=\"port\",where=\"leaf1:h1\","
           "reason=\"queue_tail\"} 5\n",
       }) {
    EXPECT_NE(outcome.output.find(lines), std::string::npos) << lines << outcome.output;
  }
}

// Whoever reads the format refuses a name that has its type twice, or whose samples are scattered.
TEST_F(CtlTest, metrics_keep_what_has_one_name_together) {
  start();
  std::istringstream lines(run("metrics").output);
  std::set<std::string> known;
  std::string line, type, family;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "#") {
      words >> word >> family >> type;
      if (word == "TYPE") {
        EXPECT_TRUE(known.insert(family).second) << family;
        EXPECT_EQ(type, family.ends_with("_total") ? "counter" : "gauge");
      }
    } else {
      EXPECT_EQ(line.substr(0, line.find_first_of("{ ")), family);
    }
  }
  EXPECT_GT(known.size(), 20u);
}

TEST_F(CtlTest, metrics_without_a_daemon_are_none) {
  const Ran outcome = run("metrics");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.output.find("# TYPE"), std::string::npos) << outcome.output;
}

TEST_F(CtlTest, metrics_lack_nothing_that_a_core_could_not_tell) {
  backend_.core_late = "the packet core on CPU 1 did not answer";
  start();
  const Ran outcome = run("metrics");
  EXPECT_EQ(outcome.code, 5);
  EXPECT_EQ(outcome.output.find("# TYPE"), std::string::npos) << outcome.output;
}

}  // namespace
}  // namespace tributary::control
