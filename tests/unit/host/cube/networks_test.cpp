// SPDX-License-Identifier: BSD-3-Clause
#include "host/cube/networks.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

// Two ranks with an interface each. One of that name that there is not never runs.
class CubeNetworksWithOneInterface : public testing::Test {
 protected:
  CubeNetworks over(const std::string& name) {
    std::vector<CubeInterface> interfaces;
    interfaces.push_back({name, *listen_on({{}, 0})});
    Job job;
    job.rank = 1;
    return {options_,
            std::move(job),
            *CubeLayout::of(CubeLayout::Kind::mesh, 1, 2, 1),
            1,
            std::move(interfaces),
            {}};
  }

  CommunicatorOptions options_;
};

TEST_F(CubeNetworksWithOneInterface, AreHeardToFailOnceWhereItIsDown) {
  auto networks = over("not-there");
  const auto heard = networks.hear();
  ASSERT_FALSE(heard);
  EXPECT_EQ(heard.error().code, Error::Code::network);
  EXPECT_TRUE(
      heard.error().message.starts_with("rank 1 over not-there (0.0.0.0): the interface is "
                                        "down or has no carrier; make a communicator"))
      << heard.error().message;
  EXPECT_TRUE(networks.hear()) << "the ring may go on over others";
}

TEST_F(CubeNetworksWithOneInterface, AreHeardToBeSoundWhereItRuns) {
  EXPECT_TRUE(over("lo").hear());
}

}  // namespace
}  // namespace tributary::host::test
