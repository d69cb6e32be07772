// SPDX-License-Identifier: BSD-3-Clause
#include "system/abstract_address.h"

#include <string>
#include <unistd.h>
#include <utility>

#include <gtest/gtest.h>

#include "system/file_descriptor.h"

namespace tributary::test {
namespace {

FileDescriptor bound_to(const AbstractAddress& address) {
  FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ::bind(fd.get(), address.get(), address.size()) == 0 ? std::move(fd) : FileDescriptor();
}

TEST(AbstractAddress, IsTakenUntilItsSocketCloses) {
  const std::string name = "tributary/test/" + std::to_string(::getpid());
  auto first = bound_to(AbstractAddress(name));
  EXPECT_TRUE(first);
  EXPECT_FALSE(bound_to(AbstractAddress(name)));
  EXPECT_TRUE(bound_to(AbstractAddress(name + "/other")));
  first = FileDescriptor();
  EXPECT_TRUE(bound_to(AbstractAddress(name)));
}

TEST(AbstractAddress, IsCutWhereItIsTooLong) {
  EXPECT_EQ(AbstractAddress(std::string(1000, 'x')).size(), sizeof(sockaddr_un));
}

}  // namespace
}  // namespace tributary::test
