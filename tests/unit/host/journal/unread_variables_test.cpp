// SPDX-License-Identifier: BSD-3-Clause
#include "host/journal/unread_variables.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/protocol.h"

namespace tributary::host::test {
namespace {

CommunicatorOptions with_interfaces(const std::string& algorithm) {
  CommunicatorOptions options;
  options.algorithm = algorithm;
  options.set("interfaces", "eth0,eth1");
  return options;
}

const std::vector<std::string> interface_variable = {"TRIBUTARY_INTERFACES"};

TEST(UnreadVariables, UnknownOnesAreNamedWithTheNearestThatThereIs) {
  EXPECT_EQ(unknown_variables({"TRIBUTARY_TUNNE"}),
            "nothing reads TRIBUTARY_TUNNE (is it TRIBUTARY_TUNE?) of the environment; "
            "docs/reference/library.md lists the variables that there are");
  EXPECT_EQ(unknown_variables({"TRIBUTARY_ALGORITM", "TRIBUTARY_MTU", "TRIBUTARY_SERVICE_HOST",
                               "TRIBUTARY_SECRT"}),
            "nothing reads TRIBUTARY_ALGORITM (is it TRIBUTARY_ALGORITHM?), "
            "TRIBUTARY_SERVICE_HOST and TRIBUTARY_SECRT (is it TRIBUTARY_SECRET?) of the "
            "environment; docs/reference/library.md lists the variables that there are");
}

TEST(UnreadVariables, AShortNameIsNotTakenForAnyOtherShortOne) {
  EXPECT_EQ(unknown_variables({"TRIBUTARY_PORT"}),
            "nothing reads TRIBUTARY_PORT of the environment; docs/reference/library.md lists the "
            "variables that there are");
}

TEST(UnreadVariables, ThoseOfTheLibraryAndOfOtherProgramsAreKnown) {
  std::vector<std::string> names = {"TRIBUTARY_MEMBERSHIP",
                                    "TRIBUTARY_JOIN_TIMEOUT",
                                    "TRIBUTARY_SECRET",
                                    "TRIBUTARY_LOCAL_ADDRESS",
                                    "TRIBUTARY_INTERFACE",
                                    "TRIBUTARY_MTU",
                                    "TRIBUTARY_WINDOW",
                                    "TRIBUTARY_STALL_TIMEOUT",
                                    "TRIBUTARY_LATE_TIMEOUT",
                                    "TRIBUTARY_DEADLINE",
                                    "TRIBUTARY_ENCAPSULATION",
                                    "TRIBUTARY_JOB",
                                    "TRIBUTARY_ALGORITHM",
                                    "TRIBUTARY_FALLBACK",
                                    "TRIBUTARY_REPRODUCIBLE",
                                    "TRIBUTARY_REPORT",
                                    "TRIBUTARY_TIMELINE",
                                    "TRIBUTARY_LOG",
                                    "TRIBUTARY_SOCKET",
                                    "TRIBUTARY_SSH",
                                    "TRIBUTARY_BUILD",
                                    "TRIBUTARY_MPI_THRESHOLD",
                                    "TRIBUTARY_MPI_ENABLE",
                                    "TRIBUTARY_MPI_SHARE_MACHINE",
                                    "TRIBUTARY_NCCL_CONNECT_TIMEOUT"};
  for (const auto* parameter : all_parameters()) {
    names.push_back(variable_of(*parameter));
  }
  EXPECT_EQ(unknown_variables(names), "");
}

TEST(UnreadVariables, ThoseOfAProtocolThatHasNoPartCountForNothing) {
  for (const auto* algorithm : {"auto", "canary", "flare"}) {
    EXPECT_EQ(
        idle_variables(interface_variable, with_interfaces(algorithm)),
        "by algorithm " + std::string(algorithm) + " TRIBUTARY_INTERFACES counts for nothing");
  }
  auto options = with_interfaces("canary");
  options.set("trees", "239.192.0.1");
  EXPECT_EQ(idle_variables({"TRIBUTARY_INTERFACES", "TRIBUTARY_TREES"}, options),
            "by algorithm canary TRIBUTARY_TREES and TRIBUTARY_INTERFACES count for nothing");
}

TEST(UnreadVariables, WhatHasAPartOrIsNotOfTheEnvironmentIsNotSaid) {
  for (const auto* algorithm : {"bcube", "mesh-switches", "ring"}) {
    EXPECT_EQ(idle_variables(interface_variable, with_interfaces(algorithm)), "") << algorithm;
  }
  EXPECT_EQ(idle_variables({}, with_interfaces("canary")), "");
  EXPECT_EQ(idle_variables(interface_variable, CommunicatorOptions()), "")
      << "an option took it away";
  for (const auto* algorithm : {"canary", "flare", "panama"}) {
    auto classed = with_interfaces(algorithm);
    classed.set("dscp", "32");
    EXPECT_EQ(idle_variables({"TRIBUTARY_DSCP"}, classed), "") << algorithm;
  }
  auto options = with_interfaces("bcube-switches");
  options.set("attempts", "2");
  EXPECT_EQ(idle_variables({"TRIBUTARY_ATTEMPTS", "TRIBUTARY_INTERFACES"}, options), "");
}

}  // namespace
}  // namespace tributary::host::test
