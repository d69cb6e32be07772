// SPDX-License-Identifier: BSD-3-Clause
#include "engine/figures.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::engine {
namespace {

struct Numbers {
  std::uint64_t taken = 0;
  std::uint64_t window = 0;
  std::uint64_t room = 0;
};
constexpr FigureOf<Numbers> figures[] = {
    {&Numbers::taken, {"taken_total", "packets", "what was taken", Of::both}},
    {&Numbers::window, {"window", "blocks", "what may be under way", Of::tree}},
    {&Numbers::room, {"room", "packets", "what may wait", Of::engine, Merge::minimum}},
};

std::string told(const Numbers& numbers, Of which) {
  std::vector<Figure> all;
  append_figures(all, numbers, figures, which);
  std::string text;
  for (const auto& figure : all) {
    text += std::string(figure.name) + (figure.merge == Merge::minimum ? " at least " : " ") +
            std::to_string(figure.value) + "; ";
  }
  return text;
}

TEST(Figures, are_told_of_the_engine_or_of_a_tree) {
  const Numbers numbers{3, 8, 100};
  EXPECT_EQ(told(numbers, Of::engine), "taken_total 3; room at least 100; ");
  EXPECT_EQ(told(numbers, Of::tree), "taken_total 3; window 8; ");
}

TEST(Figures, of_several_trees_are_added) {
  Numbers sums{3, 8, 100};
  add_numbers(sums, {4, 1, 1}, figures);
  EXPECT_EQ(sums.taken, 7u);
  EXPECT_EQ(sums.window, 9u);
}

TEST(Figures, of_all_tables_are_described_in_order) {
  const auto kinds = kinds_of(figures, figures);
  ASSERT_EQ(kinds.size(), 6u);
  EXPECT_EQ(kinds[2].help, "what may wait");
  EXPECT_EQ(kinds[3].name, "taken_total");
}

}  // namespace
}  // namespace tributary::engine
