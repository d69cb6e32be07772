// SPDX-License-Identifier: BSD-3-Clause
#include "wire/pause.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace tributary::wire {
namespace {

constexpr MacAddress source{{0x02, 0, 0, 0, 0, 7}};

std::uint8_t octet(const PauseFrame& frame, std::size_t at) {
  return static_cast<std::uint8_t>(frame[at]);
}

TEST(PauseFrame, IsThatOfTheStandard) {
  Pause pause{false, all_classes, {}};
  pause.quanta.fill(0x1234);
  const auto frame = make_pause(source, pause);
  constexpr std::uint8_t expected[] = {0x01, 0x80, 0xc2, 0,    0, 1, 0x02, 0,    0,
                                       0,    0,    7,    0x88, 8, 0, 0x01, 0x12, 0x34};
  for (std::size_t i = 0; i < frame.size(); ++i) {
    EXPECT_EQ(octet(frame, i), i < sizeof expected ? expected[i] : 0) << i;
  }
  const auto read = parse_pause(frame);
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->by_class);
  EXPECT_EQ(read->classes, all_classes);
  EXPECT_EQ(read->quanta, pause.quanta);
}

TEST(PauseFrame, ByClassIsThatOfTheStandard) {
  const Pause pause{true, 0x81, {5, 0, 0, 0, 0, 0, 0, 0xffff}};
  const auto frame = make_pause(source, pause);
  EXPECT_EQ(octet(frame, 14), 0x01);
  EXPECT_EQ(octet(frame, 15), 0x01);
  EXPECT_EQ(octet(frame, 16), 0x00);
  EXPECT_EQ(octet(frame, 17), 0x81);
  EXPECT_EQ(octet(frame, 19), 5);
  EXPECT_EQ(octet(frame, 32), 0xff);
  EXPECT_EQ(octet(frame, 33), 0xff);
  const auto read = parse_pause(frame);
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->by_class);
  EXPECT_EQ(read->classes, 0x81);
  EXPECT_TRUE(read->speaks_of(0) && read->speaks_of(7) && !read->speaks_of(3));
  EXPECT_EQ(read->quanta, pause.quanta);
}

TEST(ParsePause, ReservedClassesAreIgnored) {
  auto frame = make_pause(source, {true, 0x80, {}});
  frame[16] = std::byte{0xff};
  EXPECT_EQ(parse_pause(frame)->classes, 0x80);
}

TEST(ParsePause, RefusesWhatIsShort) {
  for (const bool by_class : {false, true}) {
    const auto frame = make_pause(source, {by_class, 0xff, {}});
    const std::size_t needed =
        sizeof(EthernetHeader) + (by_class ? sizeof(PriorityPauseHeader) : sizeof(PauseHeader));
    for (std::size_t bytes = 0; bytes <= frame.size(); ++bytes) {
      EXPECT_EQ(parse_pause(Bytes(frame).first(bytes)).has_value(), bytes >= needed) << bytes;
    }
  }
}

TEST(ParsePause, RefusesOtherFrames) {
  const auto good = make_pause(source, {false, 0xff, {}});
  for (const std::size_t at : {0u, 5u, 12u, 13u, 15u}) {
    auto frame = good;
    frame[at] = std::byte{0x77};
    EXPECT_FALSE(parse_pause(frame)) << at;
  }
}

}  // namespace
}  // namespace tributary::wire
