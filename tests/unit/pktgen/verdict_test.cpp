// SPDX-License-Identifier: BSD-3-Clause
#include "verdict.h"

#include <gtest/gtest.h>

#include "port_spec.h"

namespace tributary::pktgen {
namespace {

traffic::TrialResult trial(std::uint64_t begun, std::uint64_t done, std::uint64_t wrong = 0) {
  traffic::TrialResult result;
  result.counters.begun = begun;
  result.counters.done = done;
  result.wrong = wrong;
  return result;
}

TEST(Verdict, NothingThatComesBackIsAFailure) {
  const auto failure = failure_of({trial(10, 0)}, true);
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->find("nothing came back"), std::string::npos) << *failure;
  EXPECT_TRUE(failure_of({trial(10, 0), trial(5, 0)}, true));
}

TEST(Verdict, AnythingThatComesBackIsEnoughForASearch) {
  EXPECT_FALSE(failure_of({trial(10, 1)}, true, true));
  EXPECT_FALSE(failure_of({trial(10, 0), trial(5, 1)}, true, true));
}

TEST(Verdict, ARunThatLosesMoreThanHalfIsAFailure) {
  EXPECT_FALSE(failure_of({trial(10, 5)}, true));
  const auto failure = failure_of({trial(10, 4)}, true);
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->find("more than half"), std::string::npos) << *failure;
  EXPECT_FALSE(failure_of({trial(10, 4)}, false)) << "only sends";
}

TEST(Verdict, WhoSendsNothingOrOnlySendsExpectsNothing) {
  EXPECT_FALSE(failure_of({}, true));
  EXPECT_FALSE(failure_of({trial(0, 0)}, true));
  EXPECT_FALSE(failure_of({trial(10, 0)}, false));
}

TEST(Verdict, WrongResultsAreAlwaysAFailure) {
  for (const bool expects_answers : {false, true}) {
    const auto failure = failure_of({trial(10, 9, 3)}, expects_answers);
    ASSERT_TRUE(failure);
    EXPECT_EQ(*failure, "3 results were wrong");
  }
}

TEST(Verdict, KnowsPortsThatOnlySend) {
  for (const char* port :
       {"pcap-tx=out", "device=net_null0,no-rx=1", "device=net_null0,no-rx=1,size=64"}) {
    EXPECT_FALSE(receives(parse_port(port, 0)->device)) << port;
  }
  for (const char* port : {"pcap-rx=in", "pcap-tx=out,pcap-rx=in", "device=net_null0",
                           "device=net_null0,no-rx=10", "interface=a", "ring=r0"}) {
    EXPECT_TRUE(receives(parse_port(port, 0)->device)) << port;
  }
}

}  // namespace
}  // namespace tributary::pktgen
