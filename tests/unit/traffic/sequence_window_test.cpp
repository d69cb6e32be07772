// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/sequence_window.h"

#include <gtest/gtest.h>

namespace tributary::traffic {
namespace {

TEST(SequenceWindow, TakesEachNumberOnceInAnyOrder) {
  SequenceWindow window;
  for (const std::uint32_t number : {0u, 5u, 3u, 4u, 1u, 2u, 6u}) {
    EXPECT_TRUE(window.take(number)) << number;
    EXPECT_FALSE(window.take(number)) << number;
  }
  for (std::uint32_t number = 0; number < 7; ++number) {
    EXPECT_FALSE(window.take(number)) << number;
  }
  EXPECT_EQ(window.next(), 7u);
}

TEST(SequenceWindow, ForgetsWhatIsFarBehind) {
  SequenceWindow window;
  EXPECT_TRUE(window.take(1));
  EXPECT_TRUE(window.take(SequenceWindow::size + 1));
  EXPECT_TRUE(window.take(2));
  EXPECT_FALSE(window.take(0)) << "too old to be told from one that came before";
  EXPECT_TRUE(window.take(100 * SequenceWindow::size));
  EXPECT_TRUE(window.take(100 * SequenceWindow::size - 1));
}

TEST(SequenceWindow, GoesOnWhenNumbersWrap) {
  SequenceWindow window;
  for (std::uint64_t number = 0; number <= (std::uint64_t{1} << 32); number += 0x40000000u) {
    window.take(static_cast<std::uint32_t>(number));
  }
  EXPECT_EQ(window.next(), 1u);
  EXPECT_TRUE(window.take(0xffffffffu));
  EXPECT_FALSE(window.take(0xffffffffu));
  EXPECT_TRUE(window.take(1));
}

TEST(SequenceWindow, IsEmptyAfterReset) {
  SequenceWindow window;
  EXPECT_TRUE(window.take(0));
  EXPECT_TRUE(window.take(10));
  window.reset();
  EXPECT_EQ(window.next(), 0u);
  EXPECT_TRUE(window.take(20));
  EXPECT_TRUE(window.take(10));
  EXPECT_TRUE(window.take(0));
}

}  // namespace
}  // namespace tributary::traffic
