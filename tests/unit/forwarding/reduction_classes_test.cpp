// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/reduction_classes.h"

#include <gtest/gtest.h>

namespace tributary::forwarding {
namespace {

using namespace std::chrono_literals;

constexpr Time start{1000s};

TEST(ReductionClasses, UntilOneCameAllCountOrNone) {
  ReductionClasses classes;
  classes.reset(true);
  EXPECT_TRUE(classes.has(0) && classes.has(7));
  classes.reset(false);
  EXPECT_FALSE(classes.has(0) || classes.has(7));
}

TEST(ReductionClasses, OnlyThoseOfLateCount) {
  ReductionClasses classes;
  classes.reset(true);
  classes.note(2, start);
  EXPECT_TRUE(classes.has(2));
  EXPECT_FALSE(classes.has(0));
  classes.note(0, start + ReductionClasses::memory);
  EXPECT_TRUE(classes.has(0) && classes.has(2));
  classes.note(0, start + ReductionClasses::memory + 1ns);
  EXPECT_FALSE(classes.has(2));
}

}  // namespace
}  // namespace tributary::forwarding
