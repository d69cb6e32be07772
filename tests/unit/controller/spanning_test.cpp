// SPDX-License-Identifier: BSD-3-Clause
#include "controller/spanning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabrics.h"

namespace tributary::controller {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The request of most tests: no link is loaded, and no tree has to be kept.
class Spanning : public testing::Test {
 protected:
  explicit Spanning(Topology topology = two_levels(3, 2, 1))
      : topology_(std::move(topology)),
        usable_(topology_.switches.size(), true),
        load_{std::vector<std::size_t>(topology_.links.size()),
              std::vector<std::size_t>(topology_.switches.size())},
        own_(topology_.links.size()) {}

  Graph graph() const { return {topology_, usable_}; }
  // Returns the switch above each of the terminals.
  std::vector<std::size_t> above(std::size_t root, const std::vector<std::size_t>& terminals) {
    const auto graph = this->graph();
    const auto parents = span(graph, root, terminals, {load_, own_, kept_});
    std::vector<std::size_t> above;
    for (const auto terminal : terminals) {
      above.push_back(parents.at(terminal).to);
    }
    return above;
  }

  Topology topology_;
  std::vector<bool> usable_;
  Load load_;
  std::vector<std::size_t> own_;
  std::map<std::size_t, std::string> kept_;
};

TEST_F(Spanning, CountsLinksBetweenSwitches) {
  EXPECT_THAT(graph().distances(0), ElementsAre(0, 2, 2, 1, 1));
  usable_[3] = false;
  topology_.links[5].unusable = "port leaf3:spine2 is down";
  EXPECT_THAT(graph().distances(0), ElementsAre(0, 2, unreachable, unreachable, 1));
  EXPECT_THAT(graph().distances(3), testing::Each(unreachable)) << "of one that is not usable";
}

TEST_F(Spanning, HasItsCentresAboveAllTerminals) {
  EXPECT_THAT(graph().centres({0, 1}), ElementsAre(3, 4));
  EXPECT_THAT(graph().centres({2}), ElementsAre(2));
  topology_.links[1].unusable = "is down";  // of leaf2
  EXPECT_THAT(graph().centres({0, 1}), ElementsAre(4));
  topology_.links[4].unusable = "is down";
  EXPECT_THAT(graph().centres({0, 1}), IsEmpty()) << "nobody reaches both";
}

TEST_F(Spanning, SeesLinksFromBothEnds) {
  const auto edge = graph().edges(4).front();
  EXPECT_EQ(edge.link, 3u);
  EXPECT_EQ(edge.to, 0u);
  EXPECT_EQ(*edge.port, "leaf1");
  EXPECT_EQ(*edge.far_port, "spine2");
  EXPECT_EQ(*graph().edges(0)[1].port, "spine2");
}

TEST_F(Spanning, LeadsAllTerminalsToTheRoot) {
  EXPECT_THAT(above(4, {0, 1, 2}), ElementsAre(4, 4, 4));
  const auto graph = this->graph();
  EXPECT_THAT(span(graph, 0, {0}, {load_, own_, {}}), IsEmpty()) << "the root is the only one";
}

class SpanningThreeLevels : public Spanning {
 protected:
  // Leaves 0 to 3, spines 4 and 5 of the first pod and 6 and 7 of the second, cores 8 to 11: 8 and
  // 9 above 4 and 6, the others above 5 and 7. Two switches of a pod share a spine.
  SpanningThreeLevels() : Spanning(three_levels(2, 2)) {}

  std::size_t link(std::size_t below, std::size_t above) const {
    for (std::size_t i = 0; i < topology_.links.size(); ++i) {
      const auto& link = topology_.links[i];
      if (link.a.switch_index == below && link.b.switch_index == above) {
        return i;
      }
    }
    return topology_.links.size();
  }
};

TEST_F(SpanningThreeLevels, MeetsEarly) {
  EXPECT_THAT(above(8, {0, 1}), ElementsAre(4, 4));
  load_.links[link(0, 4)] = 5;
  EXPECT_THAT(above(8, {0, 1}), ElementsAre(4, 4)) << "whatever the load";
  EXPECT_THAT(above(4, {0, 2}), ElementsAre(4, 6));
}

TEST_F(SpanningThreeLevels, ChoosesTheLeastLoadedOfShortestWays) {
  EXPECT_THAT(above(2, {0}), ElementsAre(4));
  load_.links[link(0, 4)] = 1;
  EXPECT_THAT(above(2, {0}), ElementsAre(5));
  load_.switches[5] = 7;
  EXPECT_THAT(above(2, {0}), ElementsAre(5)) << "links count before switches";
  load_.links[link(0, 5)] = 1;
  EXPECT_THAT(above(2, {0}), ElementsAre(4));
}

TEST_F(SpanningThreeLevels, AvoidsFirstWhatTheJobsOtherTreesUse) {
  own_[link(0, 4)] = 1;
  load_.links[link(0, 5)] = 100;
  EXPECT_THAT(above(2, {0}), ElementsAre(5));
}

TEST_F(SpanningThreeLevels, KeepsAParentThatIsStillOnAShortestWay) {
  kept_ = {{0, "spine2"}};
  EXPECT_THAT(above(2, {0}), ElementsAre(5));
  EXPECT_THAT(above(2, {0, 1}), ElementsAre(5, 5)) << "others join it";
  EXPECT_THAT(above(8, {0}), ElementsAre(4)) << "which is on no way to this root";
}

}  // namespace
}  // namespace tributary::controller
