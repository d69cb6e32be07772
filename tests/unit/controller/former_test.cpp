// SPDX-License-Identifier: BSD-3-Clause
#include "controller/former.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/spanning.h"
#include "fabrics.h"

namespace tributary::controller {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr wire::Ipv4Address group_a(239, 0, 0, 1);
constexpr wire::Ipv4Address group_b(239, 0, 0, 2);

PlacedPart had(std::size_t sw, std::optional<std::string> parent,
               wire::Ipv4Address group = group_a) {
  return {sw, {7, 0, group, {}, std::move(parent), 2, 1, 2}};
}

class FormerTree : public testing::Test {
 protected:
  // Leaves 0 and 1, spines 2 and 3.
  Former former(const std::vector<PlacedPart>& installed) { return {topology_, installed, 7, 0}; }
  std::size_t kept(const Former& former, std::size_t root) {
    const Graph graph(topology_, std::vector<bool>(topology_.switches.size(), true));
    return former.kept(root, graph.distances(root));
  }

  Topology topology_ = two_levels(2, 2, 1);
  std::vector<PlacedPart> whole_ = {had(0, "spine1"), had(1, "spine1"), had(2, std::nullopt)};
};

TEST_F(FormerTree, KeepsTheMostPartsWithTheRootThatItHad) {
  const auto former = this->former(whole_);
  EXPECT_EQ(kept(former, 2), 3u);
  EXPECT_EQ(kept(former, 3), 0u);
  EXPECT_EQ(kept(former, 0), 1u) << "leaf2 leads by spine1 to leaf1 as well";
}

TEST_F(FormerTree, KeepsNoPartWhoseLinkIsNoMore) {
  topology_.links.erase(topology_.links.begin());  // leaf1 to spine1
  EXPECT_EQ(kept(former(whole_), 2), 2u);
}

TEST_F(FormerTree, IsOfItsJobAndNumberAlone) {
  auto others = whole_;
  others[0].part.job = 8;
  others[1].part.tree = 1;
  EXPECT_EQ(kept(former(others), 2), 1u);
  EXPECT_THAT(former(others).parents(), IsEmpty());
}

TEST_F(FormerTree, SaysWhereThePortsTowardsTheRootWere) {
  EXPECT_THAT(former(whole_).parents(), ElementsAre(Pair(0, "spine1"), Pair(1, "spine1")));
}

TEST_F(FormerTree, HasTheGroupOfMostSwitches) {
  EXPECT_EQ(former({}).group(), std::nullopt);
  EXPECT_EQ(former({had(0, "spine1", group_b), had(1, "spine1"), had(2, std::nullopt)}).group(),
            group_a);
  EXPECT_EQ(former({had(0, "spine1", group_b), had(1, "spine1", group_b), had(2, {})}).group(),
            group_b);
}

}  // namespace
}  // namespace tributary::controller
