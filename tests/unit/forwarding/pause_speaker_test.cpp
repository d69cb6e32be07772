// SPDX-License-Identifier: BSD-3-Clause
// flow_control_test.cpp tests its PAUSE frames for whole ports and for classes.
#include "forwarding/pause_speaker.h"

#include <gtest/gtest.h>

#include "unit/forwarding/start.h"

namespace tributary::forwarding {
namespace {

using namespace std::chrono_literals;

class SpeakerOfClasses : public testing::Test {
 protected:
  SpeakerOfClasses() { speaker_.configure(limits_); }

  BufferLimits limits_{FlowControl::pfc, 10'000, 5'000, 4'000, 2'000, 20'000, 1000, 5ms, true, {}};
  PauseSpeaker speaker_;
  PortBuffer buffer_;
};

TEST_F(SpeakerOfClasses, EndsTheSilenceOfAClassBelowItsLowerThreshold) {
  buffer_.charge(7, 4'000);
  EXPECT_FALSE(speaker_.poll(buffer_, start));
  buffer_.charge(7, 1);
  EXPECT_TRUE(speaker_.poll(buffer_, start));
  buffer_.discharge(7, 2'000);
  EXPECT_FALSE(speaker_.poll(buffer_, start)) << "is silent until 2,000";
  buffer_.discharge(7, 1);
  const auto end = speaker_.poll(buffer_, start);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->classes, 0x80);
  EXPECT_EQ(end->quanta[7], 0);
}

TEST_F(SpeakerOfClasses, EndsTheSilenceOfAllTogether) {
  for (const std::size_t priority : {0, 1, 2}) {
    buffer_.charge(priority, 3'500);
  }
  EXPECT_EQ(speaker_.poll(buffer_, start)->classes, wire::all_classes);
  buffer_.discharge(0, 3'500);
  EXPECT_FALSE(speaker_.poll(buffer_, start));
  buffer_.discharge(1, 2'000);
  const auto end = speaker_.poll(buffer_, start);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->classes, wire::all_classes);
  EXPECT_EQ(end->quanta[2], 0) << "which was never full by itself";
}

TEST_F(SpeakerOfClasses, ForgetsWhatItSaidWhereFlowControlIsOff) {
  buffer_.charge(7, 4'001);
  EXPECT_TRUE(speaker_.poll(buffer_, start));
  limits_.mode = FlowControl::off;
  speaker_.configure(limits_);
  EXPECT_FALSE(speaker_.poll(buffer_, start + 1s));
  EXPECT_EQ(speaker_.deadline(), never);
}

}  // namespace
}  // namespace tributary::forwarding
