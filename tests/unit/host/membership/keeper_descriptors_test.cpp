// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <ctime>
#include <poll.h>
#include <string>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/transport/address.h"
#include "host/transport/tcp.h"
#include "system/file_descriptor.h"
#include "unit/host/membership/elastic_worlds.h"

namespace tributary::host::test {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

// Takes all descriptors that the process may have, while it exists.
class NoDescriptors {
 public:
  NoDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    auto few = before_;
    few.rlim_cur = std::min<rlim_t>(before_.rlim_cur, 256);
    ::setrlimit(RLIMIT_NOFILE, &few);
    for (FileDescriptor next(::dup(0)); next; next = FileDescriptor(::dup(0))) {
      taken_.push_back(std::move(next));
    }
  }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
  std::vector<FileDescriptor> taken_;
};

std::chrono::nanoseconds time_on_cpu() {
  timespec spent{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec);
}

TEST_F(ElasticWorlds, WaitForTheKeeperToHaveDescriptors) {
  auto members = found(1);
  const FileDescriptor caller(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto place = to_sockaddr(keeper_.place());
  {
    const NoDescriptors none;
    ASSERT_EQ(::connect(caller.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place), 0);
    const auto before = time_on_cpu();
    EXPECT_FALSE(wait_for(caller.get(), POLLIN, Clock::now() + 1s));
    EXPECT_LT(time_on_cpu() - before, 400ms);
  }
  EXPECT_TRUE(wait_for(caller.get(), POLLIN, Clock::now() + 5s)) << "its welcome";
  const auto lines = said();
  const auto line = lines.find("out of file descriptors");
  ASSERT_NE(line, std::string::npos) << lines;
  EXPECT_THAT(lines, HasSubstr("raise 'ulimit -n'"));
  EXPECT_EQ(lines.find("out of file descriptors", line + 1), std::string::npos) << "once";
}

}  // namespace
}  // namespace tributary::host::test
