// SPDX-License-Identifier: BSD-3-Clause
#include "system/file_descriptor.h"

#include <fcntl.h>
#include <utility>

#include <gtest/gtest.h>

namespace tributary::test {
namespace {

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

TEST(FileDescriptor, ClosesWhatItOwns) {
  int fd = -1;
  {
    const FileDescriptor owner(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    ASSERT_TRUE(owner);
    fd = owner.get();
    EXPECT_TRUE(is_open(fd));
  }
  EXPECT_FALSE(is_open(fd));
}

TEST(FileDescriptor, HasOneOwner) {
  FileDescriptor first(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int fd = first.get();
  FileDescriptor second(std::move(first));
  EXPECT_FALSE(first);
  EXPECT_EQ(second.get(), fd);
  second = FileDescriptor();
  EXPECT_FALSE(second);
  EXPECT_FALSE(is_open(fd));
}

}  // namespace
}  // namespace tributary::test
