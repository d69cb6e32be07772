// SPDX-License-Identifier: BSD-3-Clause
// Tests the configuration of flow control of ports.
#include <gtest/gtest.h>

#include "damaged_config.h"
#include "two_routers.h"

namespace tributary::control {
namespace {

constexpr test::Damage damaged_flow_control[] = {
    {"flow_control_unknown", "queue = \"1MiB\"", "flow_control = \"xon\"", 18, 16,
     "no value of `flow_control`", "\"pause\", \"pfc\""},
    {"flow_control_that_loses", "rate = \"200Mbit\"", "flow_control = \"pause\"", 17, 16,
     "cannot keep what comes by port `up1` from being lost: at 10Gbit", "a lower `rate`"},
    {"priorities_unreadable", "queue = \"1MiB\"",
     "flow_control = \"pfc\"\npfc_priorities = \"3,8\"", 19, 18,
     "`3,8` is no list of priorities from 0 to 7", "\"3,4\""},
    {"priorities_without_pfc", "queue = \"1MiB\"",
     "flow_control = \"pause\"\npfc_priorities = \"3\"", 19, 18,
     "`pfc_priorities` without priority flow control", "\"pfc\""},
    {"xoff_without_flow_control", "1MiB\"", "1MiB\"\npause_xoff = \"64KiB\"", 19, 14,
     "without `flow_control`", ""},
    {"xon_above_the_automatic_xoff", "1MiB\"",
     "1MiB\"\nflow_control = \"pfc\"\npause_xon = \"900KiB\"", 20, 13,
     "`pause_xon` is not below `pause_xoff`, which is ", "half of that"},
    {"xoff_below_xon", "1MiB\"",
     "1MiB\"\nflow_control = \"pfc\"\npause_xoff = \"4KiB\"\npause_xon = \"4KiB\"", 21, 13,
     "not below `pause_xoff`", ""},
};

class ConfigFlowControlTest : public testing::TestWithParam<test::Damage> {};
TEST_P(ConfigFlowControlTest, errors_are_placed_and_explained) {
  test::expect_placed_and_explained(test::two_routers, GetParam());
}
INSTANTIATE_TEST_SUITE_P(Damages, ConfigFlowControlTest, testing::ValuesIn(damaged_flow_control),
                         test::name_of);

}  // namespace
}  // namespace tributary::control
