// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/pacer.h"

#include <gtest/gtest.h>

namespace tributary::traffic {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;

// Returns how many packets leave within 10 ms, from `start` on.
int sent_from(Time start, double packets_per_second) {
  Pacer pacer;
  pacer.start({Rate::Unit::packets, packets_per_second}, start);
  int sent = 0;
  for (Time now = start; now < start + milliseconds(10); now += microseconds(1)) {
    for (pacer.refresh(now); pacer.ready(); ++sent) {
      pacer.charge(84);
    }
  }
  return sent;
}

TEST(Pacer, KeepsFractionsOfNanosecondsOnAClockThatHasRunForMonths) {
  for (const double rate : {14.88e6, 30e6}) {
    EXPECT_NEAR(sent_from(Time{}, rate), rate / 100, 50);
    EXPECT_NEAR(sent_from(Time{hours(24 * 300)}, rate), rate / 100, 50);
  }
}

}  // namespace
}  // namespace tributary::traffic
