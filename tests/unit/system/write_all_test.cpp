// SPDX-License-Identifier: BSD-3-Clause
#include "system/write_all.h"

#include <array>
#include <csignal>
#include <fcntl.h>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "system/file_descriptor.h"

namespace tributary::test {
namespace {

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) == 0) {
      out = FileDescriptor(ends[0]);
      in = FileDescriptor(ends[1]);
    }
  }
  FileDescriptor in;
  FileDescriptor out;
};

// It writes more than a pipe holds, into a pipe that does not block.
TEST(WriteAll, WaitsForRoom) {
  Pipe pipe;
  ASSERT_EQ(::fcntl(pipe.in.get(), F_SETFL, O_NONBLOCK), 0);
  const std::string text(1 << 20, 'x');
  std::size_t read = 0;
  std::jthread reader([&] {
    std::array<char, 4096> chunk{};
    while (read < text.size()) {
      const auto got = ::read(pipe.out.get(), chunk.data(), chunk.size());
      read += got > 0 ? static_cast<std::size_t>(got) : text.size();
    }
  });
  EXPECT_EQ(write_all(pipe.in.get(), text), "");
  reader.join();
  EXPECT_EQ(read, text.size());
}

TEST(WriteAll, ReturnsWhatNobodyCanRead) {
  std::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  pipe.out = FileDescriptor();
  EXPECT_EQ(write_all(pipe.in.get(), "lost"), "lost");
}

}  // namespace
}  // namespace tributary::test
