// SPDX-License-Identifier: BSD-3-Clause
#include "controller/objections.h"

#include <gtest/gtest.h>

namespace tributary::controller {
namespace {

TreePart part_of(std::uint32_t job) {
  return {job, 0, wire::Ipv4Address(239, 0, 0, 1), {"h1"}, "up", 2, 1, 2};
}

// Each switch has room for so many trees besides those of other jobs.
class SwitchesWithRoom {
 public:
  explicit SwitchesWithRoom(std::size_t room) : room_(room) {}

  std::vector<Objection> objections(const std::vector<SwitchChange>& changes) {
    return find_objections(changes, [this](std::size_t, const auto&, const auto& parts) {
      ++asked;
      return parts.size() > room_ ? std::optional<std::string>("full") : std::nullopt;
    });
  }

  int asked = 0;

 private:
  std::size_t room_;
};

TEST(Objections, ThereAreNoneWhereAllFits) {
  SwitchesWithRoom switches(2);
  EXPECT_TRUE(switches.objections({{0, {1, 2}, {}, {part_of(1), part_of(2)}}}).empty());
  EXPECT_EQ(switches.asked, 1);
}

TEST(Objections, NameTheFirstJobThatDoesNotFit) {
  SwitchesWithRoom switches(1);
  const auto found = switches.objections({{3, {1, 2}, {}, {part_of(1), part_of(2)}}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].switch_index, 3u);
  EXPECT_EQ(found[0].job, 2u);
  EXPECT_EQ(found[0].why, "full");
}

TEST(Objections, WhatIsInstalledStaysBeforeWhatIsNew) {
  SwitchesWithRoom switches(1);
  const auto found = switches.objections({{0, {1, 2}, {part_of(2)}, {part_of(1), part_of(2)}}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].job, 1u);
}

TEST(Objections, AJobThatLeavesMakesRoomFirst) {
  std::vector<std::vector<std::uint32_t>> asked;
  find_objections({{0, {1, 2}, {part_of(2)}, {part_of(1)}}},
                  [&](std::size_t, const auto& jobs, const auto&) {
                    asked.push_back(jobs);
                    return jobs.size() == 2 ? std::optional<std::string>("full") : std::nullopt;
                  });
  ASSERT_GE(asked.size(), 2u);
  EXPECT_EQ(asked[1], std::vector<std::uint32_t>{2});
}

TEST(Objections, ASwitchThatLetsNothingGoIsNotGoneAround) {
  const auto none =
      find_objections({{0, {1}, {part_of(1)}, {}}}, [](std::size_t, const auto&, const auto&) {
        return std::optional<std::string>("no such switch");
      });
  EXPECT_TRUE(none.empty());
}

TEST(Objections, EachSwitchHasItsOwn) {
  SwitchesWithRoom switches(0);
  const auto found = switches.objections({{0, {1}, {}, {part_of(1)}}, {4, {1}, {}, {part_of(1)}}});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1].switch_index, 4u);
}

}  // namespace
}  // namespace tributary::controller
