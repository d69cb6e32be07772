// SPDX-License-Identifier: BSD-3-Clause
// Tests [[switch.class]].
#include <gtest/gtest.h>

#include "control/config_diff.h"
#include "control/loader.h"
#include "damaged_config.h"

namespace tributary::control {
namespace {

constexpr std::string_view good_classes = R"toml(version = 1
[[switch]]
name = "s"
id = 1
[[switch.port]]
name = "a"
tap = "tap0"
rate = "200Mbit"
queue = "64KiB"
[[switch.class]]
name = "voice"
dscp = "ef"
service = "strict"
rate = "10Mbit"
[[switch.class]]
name = "sums"
dscp = ["cs7", "33"]
weight = 4
queue = "32KiB"
ecn_threshold = 10
ecn_ramp = 40
[[switch.class]]
name = "rest"
)toml";

constexpr test::Damage damaged_classes[] = {
    {"codepoint_unknown", "\"ef\"", "\"fe\"", 12, 8, "`fe` is no codepoint", "\"cs4\""},
    {"codepoint_twice", "\"33\"", "\"46\"", 17, 8, "codepoint ef was given", "one class"},
    {"name_twice", "name = \"rest\"", "name = \"voice\"", 23, 8, "another class", "another name"},
    {"name_missing", "name = \"rest\"", "", 22, 1, "`name` is missing in [switch.class]", ""},
    {"none_for_the_rest", "name = \"rest\"", "name = \"rest\"\ndscp = \"cs0\"", 24, 8,
     "no class takes the packets of all other codepoints", "no `dscp`"},
    {"two_for_the_rest", "dscp = \"ef\"\n", "\n", 22, 1, "two classes without `dscp`", "no `dscp`"},
    {"weight_zero", "weight = 4", "weight = 0", 18, 10, "`weight` is out of range", "from 1"},
    {"weight_of_a_strict_one", "\"strict\"", "\"strict\"\nweight = 2", 14, 10,
     "`weight` of a class that is \"strict\"", "leave one"},
    {"service_unknown", "\"strict\"", "\"first\"", 13, 11, "`first` is no value", "\"weighted\""},
    {"pcp_unknown", "\"ef\"", "\"ef\"\npcp = \"8\"", 13, 7, "`8` is no list of priorities",
     "\"3,4\""},
    {"pcp_as_a_number", "\"ef\"", "\"ef\"\npcp = 3", 13, 7, "`pcp` is to be text in quotes",
     "write pcp = \"3\""},
    {"pcp_as_a_large_number", "\"ef\"", "\"ef\"\npcp = 34", 13, 7, "`pcp` is to be text in quotes",
     "\"3,4\""},
    {"pcp_as_an_array", "\"ef\"", "\"ef\"\npcp = [3, 4]", 13, 7, "`pcp` is to be text in quotes",
     "\"3,4\""},
    {"pcp_twice", "weight = 4", "pcp = \"3\"\n[[switch.class]]\nname = \"more\"\npcp = \"4,3\"", 21,
     7, "priority 3 was given", "one class"},
    {"pcp_that_no_port_trusts", "weight = 4", "pcp = \"3\"", 18, 7,
     "`pcp`, but no port of the switch", "trust = \"pcp\""},
    {"trust_without_pcp", "tap = \"tap0\"", "tap = \"tap0\"\ntrust = \"pcp\"", 8, 9,
     "no class of the switch has `pcp`", "write `pcp`"},
    {"trust_unknown", "tap = \"tap0\"", "tap = \"tap0\"\ntrust = \"cos\"", 8, 9,
     "`cos` is no value", "\"pcp\""},
    {"queues_above_that_of_the_port", "\"32KiB\"", "\"63KiB\"", 9, 9, "less than its classes need",
     "larger `queue`"},
    {"pause", "tap = \"tap0\"", "tap = \"tap0\"\nflow_control = \"pause\"", 8, 16,
     "\"pause\"` in a switch that has traffic classes", "`pfc_priority`"},
    {"pfc_without_a_lossless_class", "tap = \"tap0\"", "tap = \"tap0\"\nflow_control = \"pfc\"", 8,
     16, "no class of the switch is lossless", "`pfc_priority`"},
    {"priorities_of_a_port", "tap = \"tap0\"",
     "tap = \"tap0\"\nflow_control = \"pfc\"\npfc_priorities = \"3\"", 9, 18,
     "`pfc_priorities` in a switch that has traffic classes", "[[switch.class]]"},
    {"lossless_without_pfc", "weight = 4", "weight = 4\npfc_priority = 3", 19, 16,
     "no port of the switch has priority flow control", "flow_control = \"pfc\""},
    {"priority_out_of_range", "weight = 4", "weight = 4\npfc_priority = 8", 19, 16,
     "`pfc_priority` is out of range", "to 7"},
};

class ConfigClassTest : public testing::TestWithParam<test::Damage> {};
TEST_P(ConfigClassTest, errors_are_placed_and_explained) {
  test::expect_placed_and_explained(good_classes, GetParam());
}
INSTANTIATE_TEST_SUITE_P(Damages, ConfigClassTest, testing::ValuesIn(damaged_classes),
                         test::name_of);

TEST(ConfigClass, IsReadAndGivenToAllPorts) {
  const auto config = parse_config(good_classes, "test.toml");
  ASSERT_TRUE(config) << to_string(config.error());
  const auto& classes = config->switches[0].config.classes;
  ASSERT_EQ(classes.size(), 3u);
  EXPECT_EQ(classes[0].codepoints, (std::vector<forwarding::Codepoint>{{46}}));
  EXPECT_TRUE(classes[0].strict);
  EXPECT_EQ(classes[0].rate_bps, 10'000'000u);
  EXPECT_EQ(classes[1].codepoints, (std::vector<forwarding::Codepoint>{{56}, {33}}));
  EXPECT_EQ(classes[1].weight, 4u);
  EXPECT_EQ(classes[1].capacity_bytes, 32u * 1024);
  EXPECT_EQ(classes[1].ecn_ramp_packets, 40u);
  EXPECT_TRUE(classes[2].codepoints.empty());
  EXPECT_EQ(config->switches[0].config.ports[0].queue.classes.size(), 3u);
}

constexpr std::string_view with_pfc = "tap = \"tap0\"\nflow_control = \"pfc\"";

TEST(ConfigClass, OneIsLosslessWherePortsHavePriorityFlowControl) {
  const auto text = test::replaced(
      test::replaced(test::replaced(good_classes, "tap = \"tap0\"", with_pfc), "64KiB", "8MiB"),
      "queue = \"32KiB\"", "queue = \"2MiB\"\npfc_priority = 3");
  const auto config = parse_config(text, "test.toml");
  ASSERT_TRUE(config) << to_string(config.error());
  const auto& classes = config->switches[0].config.classes;
  EXPECT_EQ(classes[0].pfc_priority, std::nullopt);
  EXPECT_EQ(classes[1].pfc_priority, 3);
  const auto other =
      parse_config(test::replaced(text, "pfc_priority = 3", "pfc_priority = 4"), "n");
  ASSERT_TRUE(other) << to_string(other.error());
  EXPECT_FALSE(needs_restart(diff(*config, *other)));
}

constexpr std::string_view with_trust = "tap = \"tap0\"\nflow_control = \"pfc\"\ntrust = \"pcp\"";

std::string told_by_tags(std::string_view pcp) {
  return test::replaced(
      test::replaced(test::replaced(good_classes, "tap = \"tap0\"", with_trust), "64KiB", "8MiB"),
      "queue = \"32KiB\"", "queue = \"2MiB\"\npfc_priority = 3\npcp = " + std::string(pcp));
}

TEST(ConfigClass, OneIsToldByTheTagsOfPortsThatTrustThem) {
  const auto config = parse_config(told_by_tags("\"3\""), "test.toml");
  ASSERT_TRUE(config) << to_string(config.error());
  const auto& with = config->switches[0].config;
  EXPECT_TRUE(with.ports[0].trusts_tags);
  EXPECT_EQ(with.classes[1].pcp, forwarding::Priorities{0x08});
  EXPECT_FALSE(with.classes[0].pcp);
  const auto without =
      parse_config(test::replaced(test::replaced(told_by_tags("\"3\""), "trust = \"pcp\"", ""),
                                  "pcp = \"3\"", ""),
                   "n");
  ASSERT_TRUE(without) << to_string(without.error());
  const auto changes = diff(*without, *config);
  EXPECT_EQ(changes.size(), 2u);
  EXPECT_FALSE(needs_restart(changes));
}

TEST(ConfigClass, ALosslessOneHasThePriorityOfItsTags) {
  for (const auto* pcp : {"\"4\"", "\"3,4\""}) {
    const auto loaded = parse_config(told_by_tags(pcp), "test.toml");
    ASSERT_FALSE(loaded);
    EXPECT_NE(to_string(loaded.error()).find("write pcp = \"3\""), std::string::npos)
        << to_string(loaded.error());
  }
}

TEST(ConfigClass, ALosslessOneIsToldByTagsBesidePortsThatTrustThem) {
  const auto told = test::replaced(told_by_tags("\"5\""), "pfc_priority = 3\n", "");
  for (const std::string lossy : {"name = \"rest\"", "name = \"voice\""}) {
    const auto loaded =
        parse_config(test::replaced(told, lossy, lossy + "\npfc_priority = 3"), "test.toml");
    ASSERT_FALSE(loaded);
    EXPECT_NE(to_string(loaded.error()).find("a lossless class without `pcp`"), std::string::npos)
        << to_string(loaded.error());
  }
}

TEST(ConfigClass, TrustOfTagsNeedsNoClassesWherePrioritiesAreLossless) {
  const auto alone = good_classes.substr(0, good_classes.find("[[switch.class]]"));
  const auto lossless =
      test::replaced(test::replaced(alone, "tap = \"tap0\"", with_trust), "64KiB", "8MiB");
  const auto config = parse_config(lossless, "test.toml");
  EXPECT_TRUE(config) << to_string(config.error());
  EXPECT_FALSE(parse_config(test::replaced(lossless, "flow_control = \"pfc\"", ""), "n"));
}

TEST(ConfigClass, ALosslessOneNeedsRoomForWhatIsOnTheWay) {
  const auto text = test::replaced(
      test::replaced(test::replaced(good_classes, "tap = \"tap0\"", with_pfc), "64KiB", "8MiB"),
      "queue = \"32KiB\"", "queue = \"32KiB\"\npfc_priority = 3");
  const auto loaded = parse_config(text, "test.toml");
  ASSERT_FALSE(loaded);
  EXPECT_NE(to_string(loaded.error()).find("the classes with `pfc_priority` need"),
            std::string::npos)
      << to_string(loaded.error());
}

TEST(ConfigClass, CodepointsAreGivenOnceInAllClasses) {
  const auto text = test::replaced(good_classes, "[\"cs7\", \"33\"]", "[\"cs7\", \"56\"]");
  EXPECT_FALSE(parse_config(text, "test.toml"));
}

TEST(ConfigClass, ASmallQueueIsRefused) {
  const auto text = test::replaced(good_classes, "tap = \"tap0\"", "tap = \"tap0\"\nmtu = 9000");
  const auto loaded =
      parse_config(test::replaced(text, "queue = \"32KiB\"", "queue = \"4KiB\""), "test.toml");
  ASSERT_FALSE(loaded);
  EXPECT_NE(to_string(loaded.error()).find("cannot hold one frame"), std::string::npos)
      << to_string(loaded.error());
}

TEST(ConfigClass, AQueueHoldsAFrameWithItsTag) {
  const auto text =
      test::replaced(good_classes, "tap = \"tap0\"", "tap = \"tap0\"\nmtu = 9000\nvlan = 5");
  const auto loaded =
      parse_config(test::replaced(text, "queue = \"32KiB\"", "queue = \"9014B\""), "test.toml");
  ASSERT_FALSE(loaded);
  EXPECT_NE(to_string(loaded.error()).find("at least 9018B"), std::string::npos)
      << to_string(loaded.error());
}

TEST(ConfigClass, ChangesCanBeReloaded) {
  const auto before = parse_config(good_classes, "before");
  const auto after =
      parse_config(test::replaced(good_classes, "weight = 4", "weight = 5"), "after");
  ASSERT_TRUE(before && after);
  const auto changes = diff(*before, *after);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(to_string(changes[0]), "~ switch s class sums weight: 4 -> 5");
  EXPECT_FALSE(needs_restart(changes));

  const auto none =
      parse_config(good_classes.substr(0, good_classes.find("[[switch.class]]")), "n");
  ASSERT_TRUE(none);
  EXPECT_EQ(diff(*none, *before).size(), 4u) << "three classes, and the place of the strict one";
  EXPECT_FALSE(needs_restart(diff(*none, *before)));
}

// Strict classes go in the order in which they stand there.
TEST(ConfigClass, another_order_of_strict_classes_is_a_change) {
  const auto strict = test::replaced(good_classes, "weight = 4", "service = \"strict\"");
  const auto first = strict.find("[[switch.class]]");
  const auto second = strict.find("[[switch.class]]", first + 1);
  const auto third = strict.find("[[switch.class]]", second + 1);
  const auto swapped = strict.substr(0, first) + strict.substr(second, third - second) +
                       strict.substr(first, second - first) + strict.substr(third);
  const auto before = parse_config(strict, "f");
  const auto after = parse_config(swapped, "f");
  ASSERT_TRUE(before && after);
  const auto changes = diff(*before, *after);
  EXPECT_EQ(changes.size(), 2u);
  EXPECT_FALSE(needs_restart(changes));
}

}  // namespace
}  // namespace tributary::control
