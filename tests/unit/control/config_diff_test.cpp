// SPDX-License-Identifier: BSD-3-Clause
#include "control/config_diff.h"

#include <gtest/gtest.h>

#include "control/loader.h"

namespace tributary::control {
namespace {

constexpr std::string_view base = R"(version = 1
[[switch]]
name = "s"
id = 1
address = "10.0.0.254"
[switch.canary]
timeout = "1ms"
[[switch.port]]
name = "a"
tap = "tap0"
address = "10.0.0.1/24"
rate = "200Mbit"
[[switch.port]]
name = "z"
tap = "tap9"
[[switch.route]]
prefix = "10.1.0.0/16"
via = ["10.0.0.2"]
)";

std::vector<std::string> lines(std::string_view from, std::string_view to) {
  std::string text(base);
  text.replace(text.find(from), from.size(), to);
  const auto before = parse_config(base, "before");
  const auto after = parse_config(text, "after");
  EXPECT_TRUE(before && after) << to_string(after ? ConfigErrors{} : after.error());
  std::vector<std::string> result;
  for (const ConfigChange& change : diff(*before, *after)) {
    result.push_back(to_string(change));
  }
  return result;
}

using Lines = std::vector<std::string>;

TEST(ConfigDiffTest, equal_configurations_do_not_differ) {
  EXPECT_EQ(lines("200Mbit", "0.2Gbit"), Lines{});
}

TEST(ConfigDiffTest, a_changed_value_shows_both) {
  EXPECT_EQ(lines("200Mbit", "100Mbit"), Lines{"~ switch s port a rate: 200Mbit -> 100Mbit"});
  EXPECT_EQ(lines("\"1ms\"", "\"2ms\""), Lines{"~ switch s canary timeout: 1ms -> 2ms"});
}

TEST(ConfigDiffTest, soft_state_s_ages_can_be_reloaded) {
  EXPECT_EQ(lines("\"1ms\"", "\"1ms\"\nreclaim_after = \"200ms\"\nage_max = \"2s\""),
            (Lines{"~ switch s canary age_max: 5s -> 2s",
                   "~ switch s canary reclaim_after: 500ms -> 200ms"}));
}

TEST(ConfigDiffTest, jobs_of_canary_are_settings_too) {
  EXPECT_EQ(lines("timeout = \"1ms\"", "timeout = \"1ms\"\njob = [{ id = 7, ports = \"a\" }]"),
            Lines{"+ switch s canary job 7: ports a quota default"});
  EXPECT_EQ(lines("timeout = \"1ms\"", "timeout = \"adaptive\"\npartitions = 2"),
            (Lines{"~ switch s canary partitions: 0 -> 2  (needs a restart)",
                   "~ switch s canary timeout: 1ms -> adaptive"}));
}

TEST(ConfigDiffTest, timeouts_and_quotas_can_be_reloaded) {
  EXPECT_EQ(
      lines("timeout = \"1ms\"",
            "timeout = \"2ms\"\ntimeout_min = \"1us\"\ntimeout_max = \"9ms\"\nroot_timeout = "
            "\"8ms\"\n"
            "job_quota = 7\nport_quota = 6"),
      (Lines{"~ switch s canary job_quota: 0 -> 7", "~ switch s canary port_quota: 0 -> 6",
             "~ switch s canary root_timeout: 50ms -> 8ms", "~ switch s canary timeout: 1ms -> 2ms",
             "~ switch s canary timeout_max: 50ms -> 9ms",
             "~ switch s canary timeout_min: 50us -> 1us"}));
}

TEST(ConfigDiffTest, flow_control_can_be_reloaded) {
  EXPECT_EQ(lines("rate = \"200Mbit\"",
                  "rate = \"200Mbit\"\nflow_control = \"pfc\"\npause_xoff = \"64KiB\"\n"
                  "pause_xon = \"32KiB\"\npause_reaction = \"2ms\"\npfc_priorities = \"3\""),
            (Lines{"~ switch s port a flow_control: off -> pfc",
                   "~ switch s port a pause_reaction: 3ms -> 2ms",
                   "~ switch s port a pause_xoff: automatic -> 64KiB",
                   "~ switch s port a pause_xon: automatic -> 32KiB",
                   "~ switch s port a pfc_priorities: all -> 3"}));
}

TEST(ConfigDiffTest, port_security_can_be_reloaded) {
  EXPECT_EQ(lines("tap = \"tap9\"", "tap = \"tap9\"\naddresses_max = 2"),
            Lines{"~ switch s port z addresses_max: unlimited -> 2"});
  EXPECT_EQ(lines("tap = \"tap9\"", "tap = \"tap9\"\nlearn = \"off\""),
            Lines{"~ switch s port z learn: on -> off"});
}

TEST(ConfigDiffTest, vlans_can_be_reloaded) {
  EXPECT_EQ(
      lines("tap = \"tap9\"", "tap = \"tap9\"\nvlan = 10\nvlans = \"20,30-39\""),
      (Lines{"~ switch s port z vlan: none -> 10", "~ switch s port z vlans: none -> 20,30-39"}));
}

TEST(ConfigDiffTest, bfd_can_be_reloaded) {
  EXPECT_EQ(lines("[switch.canary]", "bfd = { interval = \"50ms\" }\n[switch.canary]"),
            Lines{"~ switch s bfd: off -> 50ms x 3"});
}

TEST(ConfigDiffTest, selection_can_be_reloaded) {
  EXPECT_EQ(lines("[[switch.route]]",
                  "[switch.selection]\nreduction = \"static\"\ntrees = 4\n"
                  "[[switch.route]]\nselection = \"flowlet\""),
            (Lines{"~ switch s route 10.1.0.0/16: via 10.0.0.2 -> via 10.0.0.2 ordinary flowlet "
                   "reduction flowlet",
                   "~ switch s selection reduction: adaptive -> static",
                   "~ switch s selection trees: 1 -> 4"}));
}

TEST(ConfigDiffTest, a_class_comes_as_one_line_and_changes_by_option) {
  const auto with = [](const std::string& classes) {
    return parse_config(std::string(base) + classes + "[[switch.class]]\nname = \"rest\"\n", "f");
  };
  const auto lines_of = [](const auto& before, const auto& after) {
    Lines all;
    for (const auto& change : diff(*before, *after)) {
      all.push_back(to_string(change));
    }
    return all;
  };
  const auto none = with("");
  const auto light = with("[[switch.class]]\nname = \"sums\"\ndscp = \"cs7\"\n");
  const auto heavy =
      with("[[switch.class]]\nname = \"sums\"\ndscp = [\"cs7\", \"ef\"]\nweight = 4\n");
  ASSERT_TRUE(none && light && heavy) << to_string(none ? ConfigErrors{} : none.error());
  const auto new_class = lines_of(none, light);
  ASSERT_EQ(new_class.size(), 1u);
  EXPECT_TRUE(new_class[0].starts_with("+ switch s class sums: dscp cs7 "));
  EXPECT_EQ(lines_of(light, heavy), (Lines{"~ switch s class sums dscp: cs7 -> cs7, ef",
                                           "~ switch s class sums weight: 1 -> 4"}));
}

TEST(ConfigDiffTest, what_is_new_or_gone_shows_once) {
  EXPECT_EQ(lines("10.1.0.0/16", "10.2.0.0/16"),
            (Lines{"- switch s route 10.1.0.0/16: via 10.0.0.2",
                   "+ switch s route 10.2.0.0/16: via 10.0.0.2"}));
}

TEST(ConfigDiffTest, what_comes_or_goes_with_its_section_needs_a_restart) {
  for (const auto& line : lines("[[switch.route]]",
                                "[[switch.port]]\nname = \"b\"\nring = \"r\"\nrate = \"1Mbit\"\n"
                                "[[switch.route]]")) {
    EXPECT_TRUE(line.starts_with("+ switch s port b ")) << line;
    EXPECT_TRUE(line.ends_with("  (needs a restart)")) << line;
  }
  for (const auto& line : lines("[switch.canary]\ntimeout = \"1ms\"\n", "")) {
    EXPECT_TRUE(line.ends_with("  (needs a restart)")) << line;
  }
}

TEST(ConfigDiffTest, settings_of_an_engine_that_comes_need_a_restart_like_it) {
  const auto all =
      lines("[[switch.route]]", "[switch.flare]\nworking_memory = 64\n[[switch.route]]");
  EXPECT_GT(all.size(), 1u);
  for (const auto& line : all) {
    EXPECT_TRUE(line.ends_with("  (needs a restart)")) << line;
  }
}

TEST(ConfigDiffTest, a_station_of_several_vlans_is_shown_in_each) {
  const std::string ports =
      "tap = \"tap9\"\nvlan = 10\n[[switch.port]]\nname = \"y\"\ntap = \"tap8\"\nvlan = 20\n"
      "[[switch.port]]\nname = \"x\"\ntap = \"tap7\"\nvlan = 10\n";
  const auto station = [](const std::string& port) {
    return "[[switch.fdb]]\nmac = \"02:00:00:00:00:07\"\nport = \"" + port + "\"\n";
  };
  const auto text = [&](const std::string& first, const std::string& second) {
    std::string whole(base);
    const std::string_view place = "tap = \"tap9\"\n";
    whole.replace(whole.find(place), place.size(), ports + station(first) + station(second));
    return whole;
  };
  const auto before = parse_config(text("z", "y"), "before");
  const auto moved = parse_config(text("x", "y"), "moved");
  const auto exchanged = parse_config(text("y", "z"), "exchanged");
  ASSERT_TRUE(before && moved && exchanged) << to_string(before ? ConfigErrors{} : before.error());
  const auto changes = diff(*before, *moved);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(to_string(changes[0]), "~ switch s fdb 02:00:00:00:00:07 vlan 10: port z -> port x");
  EXPECT_TRUE(diff(*before, *exchanged).empty());
}

TEST(ConfigDiffTest, ports_and_devices_need_a_restart) {
  EXPECT_EQ(lines("tap = \"tap0\"", "tap = \"tap1\""),
            Lines{"~ switch s port a device: tap tap0 -> tap tap1  (needs a restart)"});
  EXPECT_EQ(lines("address = \"10.0.0.1/24\"", "address = \"10.0.0.9/24\""),
            Lines{"~ switch s port a address: 10.0.0.1/24 -> 10.0.0.9/24  (needs a restart)"});
}

}  // namespace
}  // namespace tributary::control
