// SPDX-License-Identifier: BSD-3-Clause
#include "host/socket_preparation.h"

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

constexpr AutomaticWindow automatic{60, 2, 128};

std::uint32_t window_with(std::size_t receive_buffer_bytes, std::uint32_t given = 0) {
  CommunicatorOptions options;
  options.window = given;
  DatagramSocket socket;
  socket.receive_buffer_bytes = receive_buffer_bytes;
  return socket_offer(options, socket, 1024, automatic).window;
}

// Each packet takes 2 KiB of the buffer, as the kernel accounts it.
TEST(SocketOffer, TheReceiveBufferHoldsSeveralWindows) {
  EXPECT_EQ(window_with(2048 * 40), 20u);
}

TEST(SocketOffer, TheWindowHasBounds) {
  EXPECT_EQ(window_with(0), 4u);
  EXPECT_EQ(window_with(std::size_t{1} << 30), 128u);
}

TEST(SocketOffer, WhatIsGivenCounts) {
  EXPECT_EQ(window_with(2048 * 40, 1000), 1000u);
}

}  // namespace
}  // namespace tributary::host::test
