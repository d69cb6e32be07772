// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/engine/epochs.h"

#include "fixture.h"

namespace tributary::panama {
namespace {

bool any_position(std::uint64_t /*position*/) {
  return true;
}
std::optional<std::uint64_t> position_in(const Epochs& epochs, const Round& round,
                                         std::uint32_t vid) {
  return epochs.find(round, vid, any_position);
}

TEST(Epochs, PositionsGoOnWhereVidsBeginAnew) {
  Epochs epochs;
  EXPECT_FALSE(epochs.any());
  EXPECT_EQ(position_in(epochs, {1, 0}, 0), std::nullopt);
  epochs.begin({1, 40}, 100);
  epochs.begin({1, 41}, 130);
  EXPECT_TRUE(epochs.is_current({1, 41}));
  EXPECT_EQ(epochs.first(), 130u);
  EXPECT_EQ(position_in(epochs, {1, 41}, 5), 135u);
  EXPECT_EQ(position_in(epochs, {1, 40}, 29), 129u);
  EXPECT_EQ(position_in(epochs, {1, 40}, 30), std::nullopt) << "that is the next one's";
  EXPECT_EQ(position_in(epochs, {1, 42}, 0), std::nullopt);
  EXPECT_EQ(position_in(epochs, {2, 41}, 5), std::nullopt);
}

TEST(Epochs, PositionsAreThoseOfWhatIsKnown) {
  Epochs epochs;
  epochs.begin({1, 1}, 0);
  const auto only_even = [](std::uint64_t position) { return position % 2 == 0; };
  EXPECT_EQ(epochs.find({1, 1}, 4, only_even), 4u);
  EXPECT_EQ(epochs.find({1, 1}, 5, only_even), std::nullopt);
}

TEST(Epochs, OneThatIsBegunAgainHasBothItsPlaces) {
  Epochs epochs;
  epochs.begin({1, 1}, 0);
  epochs.begin({1, 2}, 10);
  EXPECT_FALSE(epochs.is_again());
  epochs.begin({1, 1}, 20);
  EXPECT_TRUE(epochs.is_again());
  EXPECT_EQ(position_in(epochs, {1, 1}, 3), 23u) << "the latest first";
  const auto from_before = [](std::uint64_t position) { return position < 10; };
  EXPECT_EQ(epochs.find({1, 1}, 3, from_before), 3u);
}

TEST(Epochs, NumbersAreComparedRoundTheCircle) {
  Epochs epochs;
  epochs.begin({1, 0xffff'fffe}, 0);
  EXPECT_TRUE(epochs.is_newer({1, 3}));
  EXPECT_FALSE(epochs.is_newer({1, 0xffff'fffd}));
  EXPECT_FALSE(epochs.is_newer({1, 0xffff'fffe}));
  EXPECT_FALSE(epochs.is_newer({2, 3})) << "of another run";
}

TEST(Epochs, AreForgottenAfterTenAndWithTheirRun) {
  Epochs epochs;
  for (std::uint32_t epoch = 0; epoch < 11; ++epoch) {
    epochs.begin({1, epoch}, 10 * epoch);
  }
  EXPECT_EQ(epochs.oldest(), 30u) << "of the latest eight";
  EXPECT_EQ(position_in(epochs, {1, 0}, 0), std::nullopt);
  EXPECT_EQ(position_in(epochs, {1, 1}, 2), 12u);
  epochs.begin({2, 11}, 110);
  EXPECT_EQ(epochs.oldest(), 110u);
  EXPECT_EQ(position_in(epochs, {1, 10}, 0), std::nullopt);
  EXPECT_EQ(position_in(epochs, {2, 11}, 1), 111u);
}

}  // namespace
}  // namespace tributary::panama
