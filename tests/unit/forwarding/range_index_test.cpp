// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/range_index.h"

#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace tributary::forwarding {
namespace {

using Range = RangeIndex::Range;

std::uint32_t value_by_search(const std::vector<Range>& ranges, std::uint32_t key) {
  const auto starts_after = [](std::uint32_t at, const Range& range) { return at < range.first; };
  return std::prev(std::upper_bound(ranges.begin(), ranges.end(), key, starts_after))->value;
}

// Checks both ends of every range, and the middle.
void expect_right(const std::vector<Range>& ranges) {
  const RangeIndex index(ranges);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const auto last = i + 1 < ranges.size() ? ranges[i + 1].first - 1 : 0xffffffff;
    for (const auto key : {ranges[i].first, ranges[i].first / 2 + last / 2, last}) {
      ASSERT_EQ(index.find(key), value_by_search(ranges, key)) << key;
    }
  }
}

TEST(RangeIndex, FindsTheOnlyRange) {
  expect_right({{0, 5}});
}

TEST(RangeIndex, SearchesAmongFewRanges) {
  std::vector<Range> ranges{{0, 0}};
  for (std::uint32_t i = 1; i < 8; ++i) {
    ranges.push_back({0x0a000000 + i * 3, i});
    expect_right(ranges);
  }
}

TEST(RangeIndex, DividesDownToSingleNumbers) {
  std::vector<Range> ranges{{0, 0xfffffff}};
  for (std::uint32_t i = 1; i < 1000; ++i) {
    ranges.push_back({0xffffffff - 999 + i, i});
  }
  expect_right(ranges);
}

TEST(RangeIndex, AgreesWithABinarySearch) {
  std::mt19937 random(3);
  for (const std::uint32_t space : {0xffffffffu, 0x00ffffffu, 0x0f0f0fffu, 0x00000fffu}) {
    std::set<std::uint32_t> firsts{0};
    for (int i = 0; i < 3000; ++i) {
      firsts.insert(static_cast<std::uint32_t>(random()) & space);
    }
    std::vector<Range> ranges;
    for (const auto first : firsts) {
      ranges.push_back({first, static_cast<std::uint32_t>(random() % 3)});
    }
    expect_right(ranges);
  }
}

}  // namespace
}  // namespace tributary::forwarding
