// SPDX-License-Identifier: BSD-3-Clause
#include "host/cube/endings.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/transport/tcp.h"

namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;

constexpr auto long_enough = 60s;

class CubeEndings : public testing::Test {
 protected:
  // These are two ends of a connection: this rank's, and a neighbour's.
  struct Connection {
    FileDescriptor here;
    FileDescriptor there;
  };

  Connection connected() const {
    const auto until = Clock::now() + long_enough;
    auto here = connect_until(listener_.local, {}, until);
    auto there = accept_until(listener_, until);
    EXPECT_TRUE(here && there);
    return {std::move(*here), std::move(*there)};
  }
  // Sends until the connection takes no more.
  static void fill(const Connection& connection) {
    const std::vector<std::byte> some(65536);
    while (::send(connection.here.get(), some.data(), some.size(), MSG_DONTWAIT) > 0) {
    }
  }
  // Returns the last bytes that the neighbour reads before an orderly end; nothing if it is none.
  static std::optional<std::vector<std::byte>> read_last(const Connection& connection,
                                                         std::size_t count) {
    std::vector<std::byte> last;
    std::vector<std::byte> piece(65536);
    while (wait_for(connection.there.get(), POLLIN, Clock::now() + long_enough)) {
      const auto n = ::recv(connection.there.get(), piece.data(), piece.size(), MSG_DONTWAIT);
      if (n == 0) {
        return last;
      }
      if (n < 0) {
        break;
      }
      last.insert(last.end(), piece.begin(), piece.begin() + n);
      last.erase(last.begin(),
                 last.end() - static_cast<std::ptrdiff_t>(std::min(last.size(), count)));
    }
    return std::nullopt;
  }

  const Listener listener_ = *listen_on({wire::Ipv4Address(127, 0, 0, 1), 0});
  const std::vector<std::byte> why_{std::byte{1}, std::byte{2}, std::byte{3}};
};

TEST_F(CubeEndings, ANeighbourHearsWhyThoughAnotherOneDoesNotListen) {
  auto deaf = connected();
  const auto listening = connected();
  fill(deaf);
  fill(listening);
  std::thread sending([&] {
    send_endings({{deaf.here.get(), why_}, {listening.here.get(), why_}},
                 Clock::now() + long_enough);
  });
  EXPECT_EQ(read_last(listening, why_.size()), why_);
  deaf.there = FileDescriptor();
  sending.join();
}

TEST_F(CubeEndings, AllHasArrivedWhenTheSocketIsClosed) {
  auto connection = connected();
  fill(connection);
  ASSERT_TRUE(send_all(connection.there.get(), why_, Clock::now() + long_enough));
  std::thread sending([&] {
    send_endings({{connection.here.get(), why_}}, Clock::now() + long_enough);
    connection.here = FileDescriptor();
  });
  EXPECT_EQ(read_last(connection, why_.size()), why_);
  sending.join();
}

TEST_F(CubeEndings, TheTimeLimitHolds) {
  const auto deaf = connected();
  fill(deaf);
  send_endings({{deaf.here.get(), why_}}, Clock::now());  // otherwise this test never ends
}

TEST_F(CubeEndings, WhoIsGoneIsNotWaitedFor) {
  auto connection = connected();
  connection.there = FileDescriptor();
  send_endings({{connection.here.get(), why_}}, never);
}

}  // namespace
}  // namespace tributary::host::test
