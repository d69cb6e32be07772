// SPDX-License-Identifier: BSD-3-Clause
#include "control/tree_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/text.h"

namespace tributary::control {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using wire::Ipv4Address;

// Returns a part with all members that a part can have.
TreePart whole_part() {
  TreePart part{7, 2, Ipv4Address(239, 0, 0, 1), {"h1", "up"}, "root", 4, 3, 2, {}, {}, "flare"};
  part.child_addresses = {Ipv4Address(10, 0, 0, 1), wire::IpAddress{}};
  part.parent_address = Ipv4Address(10, 0, 0, 9);
  part.members = {Ipv4Address(10, 0, 0, 1), *parse_ip("fd00::2")};
  part.racks = {{*parse_ip("fd00::2")}, {}};
  part.settings = {{"window", 16}};
  return part;
}

// Returns the complaint about a part in which one member has another value, or is left out (null).
std::string complaint_about(const char* member, json value) {
  auto object = to_json(whole_part());
  object[member] = std::move(value);
  const auto parts = read_trees(json::array({to_json(whole_part()), object}));
  return parts ? "it was read" : parts.error();
}
std::string complaint_without(const char* member) {
  auto object = to_json(whole_part());
  object.erase(member);
  const auto parts = read_trees(json::array({object}));
  return parts ? "it was read" : parts.error();
}

TEST(TreeJson, IsReadAsItWasWritten) {
  auto bare = whole_part();
  bare = {bare.job, bare.tree, {}, {}, std::nullopt, 1, 1, 1, {}, {}, "panama"};
  const auto parts = read_trees(json::array({to_json(whole_part()), to_json(bare)}));
  ASSERT_TRUE(parts) << parts.error();
  EXPECT_EQ(parts->at(0), whole_part());
  EXPECT_EQ(parts->at(1), bare);
}

TEST(TreeJson, MayLeaveOutWhatAProtocolDoesNotUse) {
  for (const auto* const member : {"group", "parent", "child_addresses", "parent_address",
                                   "members", "racks", "settings", "engine"}) {
    EXPECT_EQ(complaint_without(member), "it was read") << member;
  }
  for (const auto* const member :
       {"job", "tree", "children", "workers", "workers_below", "quorum"}) {
    EXPECT_THAT(complaint_without(member),
                HasSubstr("tree 1 of the list: `" + std::string(member) + "` is to be a "));
  }
}

TEST(TreeJson, SaysWhatIsWrongWithWhichTree) {
  EXPECT_EQ(complaint_about("tree", 65'536u),
            "tree 2 of the list: `tree` is to be a number of up to 16 bits");
  EXPECT_EQ(complaint_about("tree", 65'535u), "it was read");
  EXPECT_THAT(complaint_about("job", -1), HasSubstr("`job` is to be a number of up to 32 bits"));
  EXPECT_THAT(complaint_about("job", "7"), HasSubstr("`job`"));
  EXPECT_THAT(complaint_about("group", "10.0.0.1"), HasSubstr("is to be a multicast address"));
  EXPECT_THAT(complaint_about("parent", 7), HasSubstr("the name of a port, or null"));
  EXPECT_THAT(complaint_about("parent", ""), HasSubstr("the name of a port, or null"));
  EXPECT_THAT(complaint_about("parent_address", "nowhere"), HasSubstr("an IP address"));
  EXPECT_THAT(complaint_about("racks", {"10.0.0.1"}), HasSubstr("a list of lists"));
  EXPECT_THAT(complaint_about("settings", {{"window", "16"}}), HasSubstr("an object of numbers"));
  EXPECT_THAT(complaint_about("sise", 7), HasSubstr("`sise` is not known"));
}

TEST(TreeJson, IsOfBoundedSize) {
  EXPECT_EQ(complaint_about("children", std::vector<std::string>(tree_children_max, "h1")),
            "it was read");
  EXPECT_THAT(complaint_about("children", std::vector<std::string>(tree_children_max + 1, "h1")),
              HasSubstr("a list of up to 64 names of ports"));
  EXPECT_EQ(complaint_about("engine", std::string(64, 'e')), "it was read");
  EXPECT_THAT(complaint_about("engine", std::string(65, 'e')), HasSubstr("`engine`"));
  EXPECT_LT(complaint_about(std::string(10'000, 'e').c_str(), 7).size(), 200u);
  json settings = json::object();
  for (int i = 0; i < 17; ++i) {
    settings["setting" + std::to_string(i)] = i;
  }
  EXPECT_THAT(complaint_about("settings", settings), HasSubstr("`settings`"));
}

TEST(TreeJson, PassesOverWhatItsReaderKnowsOfItself) {
  auto object = to_json(whole_part());
  object["origin"] = "controller";
  EXPECT_FALSE(read_trees(json::array({object})));
  EXPECT_TRUE(read_trees(json::array({object}), {"state", "origin"}));
}

TEST(TreeJson, IsAListOfObjects) {
  EXPECT_TRUE(read_trees(json::array())->empty());
  EXPECT_EQ(read_trees(json::object()).error(), "the trees are no list");
  EXPECT_EQ(read_trees(json::array({7})).error(), "tree 1 of the list: it is no object");
}

TEST(TreeJson, SaysHowATreeStands) {
  engine::TreeStatus status;
  status.active = true;
  status.figures = {{"epoch", 3}};
  EXPECT_EQ(to_json(status), json({{"active", true}, {"epoch", 3}}));
}

}  // namespace
}  // namespace tributary::control
