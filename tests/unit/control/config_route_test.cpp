// SPDX-License-Identifier: BSD-3-Clause
// Tests [[switch.route]], [switch.selection] and [[switch.arp]].
#include <chrono>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "control/loader.h"
#include "control/text.h"
#include "damaged_config.h"
#include "two_routers.h"

namespace tributary::control {
namespace {

using namespace std::chrono_literals;

constexpr test::Damage damaged_routes[] = {
    {"route_with_host_bits", "0.0.0.0/0", "10.2.3.4/16", 23, 10, "has host bits set",
     "did you mean \"10.2.0.0/16\"?"},
    {"route_without_via", "via = [\"10.100.1.2\"]\n", "\n", 22, 1,
     "`via` is missing in [switch.route]", ""},
    {"route_with_empty_via", "via = [\"10.100.1.2\"]", "via = []", 24, 7, "1 to 64 next hops", ""},
    {"selection_of_a_route_unknown", "via = [\"10.100.1.2\"]",
     "via = [\"10.100.1.2\"]\nselection = \"fastest\"", 25, 13, "`fastest` is no way to select",
     "ecmp, flowlet, adaptive"},
    {"selection_of_ordinary_traffic_static", "via = [\"10.100.1.2\"]",
     "via = [\"10.100.1.2\"]\nselection = \"static\"", 25, 13, "`static` serves reductions only",
     "{ reduction = \"static\" }"},
    {"selection_of_a_route_misspelt", "via = [\"10.100.1.2\"]",
     "via = [\"10.100.1.2\"]\nselection = { reductions = \"ecmp\" }", 25, 15,
     "unknown key `reductions` in [switch.route.selection]", "`reduction`"},
    {"selection_of_a_route_no_text", "via = [\"10.100.1.2\"]",
     "via = [\"10.100.1.2\"]\nselection = 3", 25, 13, "`selection` is to be", ""},
    {"selection_without_trees", "[switch.canary]", "[switch.selection]\ntrees = 0\n[switch.canary]",
     7, 9, "`trees` is out of range", "from 1 to 64"},
    {"selection_gap_of_nothing", "[switch.canary]",
     "[switch.selection]\nflowlet_gap = \"0us\"\n[switch.canary]", 7, 15,
     "`flowlet_gap` is out of range", "from 1us to 10s"},
    {"route_via_nowhere", "via = [\"10.100.1.2\"]", "via = [\"10.9.9.9\"]", 24, 7,
     "10.9.9.9 is on no connected prefix", "connected: 10.1.1.0/24, 10.100.1.0/30"},
    {"route_for_a_connected_prefix", "0.0.0.0/0", "10.1.1.0/24", 23, 10,
     "10.1.1.0/24 is that of h1, by which", "never be used"},
    {"route_for_its_own_address", "0.0.0.0/0", "10.1.1.1/32", 23, 10,
     "10.1.1.1/32 is the switch's own address on h1", "never be used"},
    {"route_for_the_address_of_the_switch", "0.0.0.0/0", "10.1.255.1/32", 23, 10,
     "10.1.255.1/32 is the switch's own address", "never be used"},
    {"route_via_itself", "via = [\"10.100.1.2\"]", "via = [\"10.100.1.1\"]", 24, 7,
     "the switch's own address", "neighbour"},
    {"arp_on_no_prefix", "10.1.1.2", "10.7.1.2", 29, 11, "on no connected prefix", "connected:"},
};

class ConfigRouteTest : public testing::TestWithParam<test::Damage> {};
TEST_P(ConfigRouteTest, errors_are_placed_and_explained) {
  test::expect_placed_and_explained(test::two_routers, GetParam());
}
INSTANTIATE_TEST_SUITE_P(Damages, ConfigRouteTest, testing::ValuesIn(damaged_routes),
                         test::name_of);

TEST(ConfigRoute, they_differ_from_their_switch_in_selection_where_they_say_so) {
  using forwarding::Policy;
  std::string text(test::two_routers);
  text.replace(text.find("via = [\"10.100.1.2\"]"), 20, R"(via = ["10.100.1.2"]
[[switch.route]]
prefix = "10.2.0.0/16"
via = ["10.100.1.2"]
selection = "flowlet"
[[switch.route]]
prefix = "10.3.0.0/16"
via = ["10.100.1.2"]
selection = { reduction = "static" }
[switch.selection]
ordinary = "adaptive"
flowlet_gap = "2ms"
trees = 4
tree_seed = 9
reduction_seed = 11)");
  const Loaded loaded = parse_config(text, "f");
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  const auto& config = loaded->switches[0].config;
  EXPECT_EQ(config.selection.policies.ordinary, Policy::adaptive);
  EXPECT_EQ(config.selection.policies.reduction, Policy::adaptive);
  EXPECT_EQ(config.selection.flowlet_gap, 2ms);
  EXPECT_EQ(config.selection.trees, 4u);
  EXPECT_EQ(config.selection.tree_seed, 9u);
  EXPECT_EQ(config.selection.reduction_seed, 11u);
  EXPECT_EQ(config.routes[0].ordinary, std::nullopt);
  EXPECT_EQ(config.routes[1].ordinary, Policy::flowlet);
  EXPECT_EQ(config.routes[1].reduction, Policy::flowlet);
  EXPECT_EQ(config.routes[2].ordinary, std::nullopt);
  EXPECT_EQ(config.routes[2].reduction, Policy::static_trees);
}

}  // namespace
}  // namespace tributary::control
