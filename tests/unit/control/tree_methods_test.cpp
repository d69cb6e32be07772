// SPDX-License-Identifier: BSD-3-Clause
#include "control/tree_methods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include "control/dispatcher.h"
#include "control/tree_json.h"
#include "fake_backend.h"
#include "protocols/panama/engine/config.h"
#include "tree_parts.h"

namespace tributary::control {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class TreeMethodsTest : public testing::Test {
 protected:
  TreeMethodsTest() { add_panama(backend_.running); }

  tl::expected<json, Failure> call(const std::string& method, json params = json::object()) {
    return parse_reply(dispatch(request_text({1, method, std::move(params)}), backend_), 1);
  }
  json install(const std::vector<TreePart>& parts, json more = json::object()) {
    json list = json::array();
    for (const TreePart& part : parts) {
      list.push_back(to_json(part));
    }
    more["switch"] = "leaf1";
    more["trees"] = std::move(list);
    return more;
  }
  std::string refusal(json params) {
    const auto result = call("tree.install", std::move(params));
    EXPECT_FALSE(result);
    EXPECT_EQ(backend_.tree_changes, 0);
    return result ? "" : result.error().message;
  }

  FakeBackend backend_;
};

TEST_F(TreeMethodsTest, what_is_installed_is_listed_and_removed) {
  ASSERT_TRUE(call("tree.install", install({part_of(7, 0), part_of(7, 1)})));
  const auto listed = call("tree.list");
  ASSERT_TRUE(listed);
  EXPECT_EQ((*listed)["rows_total"], 2);
  json row = (*listed)["rows"][1];
  EXPECT_EQ(row["switch"], "leaf1");
  EXPECT_EQ(row["engine"], "panama") << "also where tree.install may leave it out";
  EXPECT_EQ(row["origin"], "controller");
  row.erase("switch");
  row.erase("origin");
  EXPECT_TRUE(row["state"].is_null()) << "not known";
  row.erase("state");
  EXPECT_EQ(read_trees(json::array({row})).value()[0], part_of(7, 1));
  EXPECT_EQ((*listed)["switches"],
            json::parse(R"([{"switch":"leaf1","engine":"panama","packet_memory_packets":8,
                                                    "trees_max":4}])"));
  const auto removed = call("tree.remove", {{"switch", "leaf1"}, {"job", 7}});
  ASSERT_TRUE(removed);
  EXPECT_EQ((*removed)["removed_total"], 2);
  EXPECT_TRUE(backend_.installed.empty());
}

TEST_F(TreeMethodsTest, the_list_says_how_a_tree_stands) {
  ASSERT_TRUE(call("tree.install", install({part_of(7, 0), part_of(7, 1)})));
  engine::TreeStatus status;
  status.job = 7;
  status.tree = 1;
  status.active = true;
  status.figures = {{"epoch", 3}, {"held_packets", 5}};
  backend_.states = {{"spine1", status, {}, "panama"},
                     {"leaf1", status, std::chrono::milliseconds(250), "panama"}};
  backend_.states[0].tree.figures = {{"held_packets", 9}};
  const auto listed = call("tree.list");
  ASSERT_TRUE(listed);
  EXPECT_TRUE((*listed)["rows"][0]["state"].is_null());
  const auto state = (*listed)["rows"][1]["state"];
  EXPECT_EQ(state["active"], true);
  EXPECT_EQ(state["idle_seconds"], 0.25);
  EXPECT_EQ(state["epoch"], 3);
  EXPECT_EQ(state["held_packets"], 5);
}

TEST_F(TreeMethodsTest, trees_of_the_file_are_listed_too_and_stay) {
  auto& section = backend_.running.switches[0];
  section.config.protocols.get<panama::PanamaConfig>().trees.push_back(
      {{3, wire::Ipv4Address(239, 1, 1, 1), {0, 1}, 2, 4, 2}, 0, 4});
  const auto listed = call("tree.list");
  EXPECT_EQ((*listed)["rows"][0]["origin"], "file");
  EXPECT_EQ((*listed)["rows"][0]["children"], json({"h1", "h2"}));
  EXPECT_EQ((*listed)["rows"][0]["parent"], "up1");
  EXPECT_EQ((*call("tree.remove", {{"switch", "leaf1"}, {"job", 3}}))["removed_total"], 0);
  EXPECT_THAT(refusal(install({part_of(3, 1)})), HasSubstr("in the configuration file"));
}

TEST_F(TreeMethodsTest, lists_are_cut_at_their_limit) {
  ASSERT_TRUE(call("tree.install", install({part_of(7, 0), part_of(7, 1)})));
  const auto listed = call("tree.list", {{"limit", 1}});
  EXPECT_EQ((*listed)["rows"].size(), 1u);
  EXPECT_EQ((*listed)["rows_total"], 2);
}

TEST_F(TreeMethodsTest, a_check_changes_nothing) {
  ASSERT_TRUE(call("tree.install", install({part_of(7, 0)}, {{"check", true}})));
  EXPECT_EQ(backend_.tree_changes, 0);
  EXPECT_THAT(refusal(install({part_of(7, 0), part_of(7, 0)}, {{"check", true}})),
              HasSubstr("given before"));
}

TEST_F(TreeMethodsTest, the_same_again_is_no_change) {
  ASSERT_TRUE(call("tree.install", install({part_of(7, 0)})));
  ASSERT_TRUE(call("tree.install", install({part_of(7, 0)})));
  EXPECT_EQ(backend_.tree_changes, 1);
}

TEST_F(TreeMethodsTest, a_job_s_trees_are_replaced_and_others_left_alone) {
  ASSERT_TRUE(call("tree.install", install({part_of(7, 0), part_of(7, 1), part_of(8, 2)})));
  ASSERT_TRUE(call("tree.install", install({part_of(7, 3)})));
  EXPECT_EQ(backend_.installed["leaf1"], (std::vector{part_of(7, 3), part_of(8, 2)}));
  ASSERT_TRUE(call("tree.install", install({part_of(9, 4)}, {{"replace", {7, 8}}})));
  EXPECT_EQ(backend_.installed["leaf1"], (std::vector{part_of(9, 4)}));
}

TEST_F(TreeMethodsTest, all_of_a_list_or_none) {
  auto bad = part_of(7, 1);
  bad.children = {"h1", "nothing"};
  EXPECT_THAT(refusal(install({part_of(7, 0), bad})),
              HasSubstr("switch leaf1, tree 1 of job 7: there is no port `nothing`"));
  bad = part_of(7, 1);
  bad.workers_below = 9;
  EXPECT_THAT(refusal(install({part_of(7, 0), bad})), HasSubstr("workers_below"));
  EXPECT_THAT(refusal(install({part_of(7, 0), part_of(0, 1)})), HasSubstr("number jobs from 1"));
  EXPECT_THAT(refusal(install({part_of(7, 16)})), HasSubstr("at most 16 trees"));
  EXPECT_TRUE(backend_.installed.empty());
}

TEST_F(TreeMethodsTest, memory_is_not_overbooked) {
  std::vector<TreePart> parts;
  for (std::uint16_t tree = 0; tree < 4; ++tree) {
    parts.push_back(part_of(7, tree));
  }
  ASSERT_TRUE(call("tree.install", install(parts, {{"check", true}})));
  parts.push_back(part_of(8, 4));
  EXPECT_THAT(refusal(install(parts)), HasSubstr("no room"));
}

TEST_F(TreeMethodsTest, what_makes_no_sense_is_refused) {
  EXPECT_THAT(refusal({{"switch", "leaf9"}, {"trees", json::array()}}), HasSubstr("no switch"));
  EXPECT_THAT(refusal({{"switch", "leaf1"}, {"trees", {1}}}), HasSubstr("no object"));
  EXPECT_THAT(refusal({{"switch", "leaf1"}, {"trees", json::array()}, {"replace", {-1}}}),
              HasSubstr("replace"));
  EXPECT_THAT(refusal(install({part_of(7, 0)}, {{"chek", true}})), HasSubstr("chek"));
  for (const char* member : {"job", "tree", "group", "children", "workers", "quorum"}) {
    json params = install({part_of(7, 0)});
    params["trees"][0].erase(member);
    EXPECT_THAT(refusal(params), HasSubstr(member));
    params["trees"][0][member] = json::object();
    EXPECT_THAT(refusal(params), HasSubstr(member));
  }
  json params = install({part_of(7, 0)});
  params["trees"][0]["parnt"] = "up1";
  EXPECT_THAT(refusal(params), HasSubstr("`parnt` is not known"));
  params = install({part_of(7, 0)});
  params["trees"][0]["engine"] = "abacus";
  EXPECT_THAT(refusal(params), HasSubstr("no engine `abacus` takes trees"));
  params = install({part_of(7, 0)});
  params["trees"][0]["tree"] = 65536;
  EXPECT_THAT(refusal(params), HasSubstr("16 bits"));
  backend_.running.switches[0].config.protocols.reset<panama::PanamaConfig>();
  EXPECT_THAT(refusal(install({part_of(7, 0)})), HasSubstr("panama is off; add [switch.panama]"));
}

TEST_F(TreeMethodsTest, a_tree_says_where_its_packets_come_from) {
  auto part = part_of(7, 0);
  part.child_addresses = {wire::Ipv4Address(10, 1, 1, 2), wire::IpAddress{}};
  part.parent_address = wire::Ipv4Address(10, 0, 0, 1);
  auto params = install({part});
  EXPECT_EQ(params["trees"][0]["child_addresses"], (json{"10.1.1.2", "0.0.0.0"}));
  for (const auto& wrong : std::vector<json>{"10.1.1.2", json{"h1", "h2"}, json{1, 2}}) {
    params["trees"][0]["child_addresses"] = wrong;
    EXPECT_THAT(refusal(params), HasSubstr("child_addresses"));
  }
  params = install({part});
  params["trees"][0]["parent_address"] = "spine1";
  EXPECT_THAT(refusal(params), HasSubstr("parent_address"));
  ASSERT_TRUE(call("tree.install", install({part})));
  EXPECT_EQ(backend_.installed["leaf1"], std::vector{part});
}

TEST_F(TreeMethodsTest, a_data_plane_that_fails_says_why) {
  backend_.trees_refused = "no space left";
  EXPECT_EQ(refusal(install({part_of(7, 0)})), "no space left");
}

}  // namespace
}  // namespace tributary::control
