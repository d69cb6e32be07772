// SPDX-License-Identifier: BSD-3-Clause
#include "controller/fabric_transaction.h"

#include <functional>
#include <map>

#include <gtest/gtest.h>

namespace tributary::controller {
namespace {

using Has = std::map<std::size_t, std::vector<TreePart>>;

PlacedPart part_at(std::size_t sw, std::uint32_t job, std::uint16_t tree,
                   const std::string& child = "h1") {
  return {sw, {job, tree, wire::Ipv4Address(239, 0, 0, 1), {child}, "up", 2, 1, 2}};
}

// Switches that carry out all calls, except those that `fails` picks.
class Switches {
 public:
  explicit Switches(const std::vector<PlacedPart>& installed) {
    for (const PlacedPart& each : installed) {
      has[each.switch_index].push_back(each.part);
    }
  }

  tl::expected<void, control::CallError> install(std::size_t sw,
                                                 const std::vector<std::uint32_t>& jobs,
                                                 const std::vector<TreePart>& parts, bool check) {
    calls += std::string(check ? "?" : "!") + std::to_string(sw);
    const std::string error = fails ? fails(sw, check, parts) : "";
    if (!error.empty() && !changes_anyway) {
      return tl::unexpected(control::CallError{.message = error});
    }
    if (!check) {
      std::erase_if(has[sw], [&](const TreePart& part) {
        return std::find(jobs.begin(), jobs.end(), part.job) != jobs.end();
      });
      has[sw].insert(has[sw].end(), parts.begin(), parts.end());
    }
    if (!error.empty()) {
      return tl::unexpected(control::CallError{.message = error});
    }
    return {};
  }
  tl::expected<void, TransactionFailure> run(const std::vector<SwitchChange>& changes) {
    return carry_out(changes, [this](std::size_t sw, const auto& jobs, const auto& parts,
                                     bool check) { return install(sw, jobs, parts, check); });
  }
  std::size_t count() const {
    std::size_t count = 0;
    for (const auto& entry : has) {
      count += entry.second.size();
    }
    return count;
  }

  Has has;
  std::string calls;
  bool changes_anyway = false;  // and only the answer is lost
  std::function<std::string(std::size_t, bool, const std::vector<TreePart>&)> fails;
};

const std::vector<PlacedPart> before = {part_at(0, 7, 0), part_at(1, 7, 0), part_at(0, 9, 0)};
const std::vector<PlacedPart> after = {part_at(0, 7, 0, "h2"), part_at(2, 7, 0), part_at(2, 7, 1)};

TEST(FabricTransaction, changes_are_what_differs) {
  const auto changes = changes_between(before, after, {7, 8});
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_EQ(changes[0].switch_index, 0u);
  EXPECT_EQ(changes[0].jobs, (std::vector<std::uint32_t>{7}));
  EXPECT_EQ(changes[1].after.size(), 0u);
  EXPECT_EQ(changes[2].before.size(), 0u);
  EXPECT_EQ(changes[2].after.size(), 2u);
  EXPECT_TRUE(changes_between(before, before, {7, 9}).empty());
  EXPECT_TRUE(changes_between(before, {}, {8}).empty());
}

TEST(FabricTransaction, the_order_in_which_trees_are_listed_is_no_change) {
  EXPECT_TRUE(changes_between({part_at(0, 7, 1), part_at(0, 7, 0)},
                              {part_at(0, 7, 0), part_at(0, 7, 1)}, {7})
                  .empty());
}

TEST(FabricTransaction, all_are_asked_before_one_is_told) {
  Switches switches(before);
  ASSERT_TRUE(switches.run(changes_between(before, after, {7})));
  EXPECT_EQ(switches.calls, "?0?1?2!0!1!2");
  EXPECT_EQ(switches.has[0], (std::vector{before[2].part, after[0].part}));
  EXPECT_TRUE(switches.has[1].empty());
  EXPECT_EQ(switches.has[2].size(), 2u);
}

TEST(FabricTransaction, a_switch_that_has_no_room_stops_all) {
  Switches switches(before);
  switches.fails = [](std::size_t sw, bool check, const auto&) {
    return sw == 2 && check ? "no room" : "";
  };
  const auto done = switches.run(changes_between(before, after, {7}));
  ASSERT_FALSE(done);
  EXPECT_EQ(switches.calls, "?0?1?2");
  EXPECT_EQ(done.error().switch_index, 2u);
  EXPECT_EQ(done.error().why.message, "no room");
  EXPECT_FALSE(done.error().changed);
}

// Each of the switches fails in turn, before and after it has made the change.
TEST(FabricTransaction, whoever_fails_all_have_what_they_had) {
  const auto changes = changes_between(before, after, {7});
  for (const bool lost_answer : {false, true}) {
    for (std::size_t bad = 0; bad < 3; ++bad) {
      Switches switches(before);
      const Has had = switches.has;
      switches.changes_anyway = lost_answer;
      bool failed = false;
      switches.fails = [&](std::size_t sw, bool check, const auto&) {
        const bool now = sw == bad && !check && !failed;
        failed = failed || now;
        return now ? "gone" : "";
      };
      const auto done = switches.run(changes);
      ASSERT_FALSE(done);
      EXPECT_TRUE(done.error().changed);
      EXPECT_TRUE(done.error().left.empty());
      EXPECT_EQ(switches.count(), before.size()) << bad;
      for (const auto& entry : had) {
        auto has = switches.has[entry.first];
        std::sort(has.begin(), has.end(), [](auto& a, auto& b) { return a.job < b.job; });
        EXPECT_EQ(has, entry.second) << bad;
      }
    }
  }
}

TEST(FabricTransaction, who_cannot_be_brought_back_is_named_and_the_others_are) {
  Switches switches(before);
  bool dead = false;
  switches.fails = [&](std::size_t sw, bool check, const auto&) {
    dead = dead || (sw == 1 && !check);
    return sw == 1 && dead ? "no answer" : "";
  };
  const auto done = switches.run(changes_between(before, after, {7}));
  ASSERT_FALSE(done);
  ASSERT_EQ(done.error().left.size(), 1u);
  EXPECT_EQ(done.error().left[0], (std::pair<std::size_t, std::string>(1, "no answer")));
  EXPECT_EQ(switches.has[0].size(), 2u);
}

}  // namespace
}  // namespace tributary::controller
