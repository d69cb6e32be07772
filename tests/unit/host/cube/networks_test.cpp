// SPDX-License-Identifier: BSD-3-Clause
#include "host/cube/networks.h"

#include <cerrno>
#include <cstring>
#include <net/if.h>
#include <sched.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

// Two ranks with these interfaces each. One of a name that there is not never runs.
class CubeNetworksOfTwo : public testing::Test {
 protected:
  CubeNetworks over(const std::vector<std::string>& names) {
    std::vector<CubeInterface> interfaces;
    for (const auto& name : names) {
      interfaces.push_back({name, *listen_on({{}, 0})});
    }
    Job job;
    job.rank = 1;
    const auto count = static_cast<std::uint32_t>(names.size());
    return {options_, std::move(job),        *CubeLayout::of(CubeLayout::Kind::mesh, 1, 2, count),
            1,        std::move(interfaces), {}};
  }

  CommunicatorOptions options_;
};

TEST_F(CubeNetworksOfTwo, AreHeardToFailOnceWhereItIsDown) {
  auto networks = over({"not-there"});
  const auto heard = networks.hear();
  ASSERT_FALSE(heard);
  EXPECT_EQ(heard.error().code, Error::Code::network);
  EXPECT_TRUE(
      heard.error().message.starts_with("rank 1 over not-there (0.0.0.0): the interface is "
                                        "down or has no carrier; make a communicator"))
      << heard.error().message;
  EXPECT_TRUE(networks.hear()) << "the ring may go on over others";
}

TEST_F(CubeNetworksOfTwo, AreHeardToBeSoundWhereAllRun) {
  EXPECT_TRUE(over({"lo", "lo"}).hear());
}

TEST_F(CubeNetworksOfTwo, AreHeardToFailOnceForEachInterface) {
  auto networks = over({"lo", "not-there", "nor-there"});
  for (const std::string name : {"not-there", "nor-there"}) {
    const auto heard = networks.hear();
    ASSERT_FALSE(heard);
    EXPECT_TRUE(heard.error().message.starts_with("rank 1 over " + name)) << heard.error().message;
  }
  EXPECT_TRUE(networks.hear());
}

// Brings `lo` up or down in the network namespace of this thread.
void set_up(bool up) {
  const FileDescriptor any_socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = up ? IFF_UP : 0;
  ASSERT_EQ(::ioctl(any_socket.get(), SIOCSIFFLAGS, &request), 0) << std::strerror(errno);
}

TEST_F(CubeNetworksOfTwo, AreHeardToFailAgainWhereAnInterfaceHasRunInBetween) {
  std::jthread([this] {
    if (::unshare(CLONE_NEWNET) != 0) {
      GTEST_SKIP() << "a network namespace takes privileges";
    }
    auto networks = over({"lo"});
    for (int round = 0; round < 2; ++round) {
      set_up(true);
      EXPECT_TRUE(networks.hear());
      set_up(false);
      EXPECT_FALSE(networks.hear()) << round;
      EXPECT_TRUE(networks.hear());
    }
  }).join();
}

}  // namespace
}  // namespace tributary::host::test
