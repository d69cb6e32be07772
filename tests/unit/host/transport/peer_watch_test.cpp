// SPDX-License-Identifier: BSD-3-Clause
#include "host/transport/peer_watch.h"

#include <chrono>
#include <sys/socket.h>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "host/transport/tcp.h"

namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;

struct Connection {
  FileDescriptor here;
  FileDescriptor there;
};

Connection connect() {
  const auto listener = *listen_on({wire::Ipv4Address(127, 0, 0, 1), 0});
  const auto until = Clock::now() + 20s;
  auto there = *connect_until(listener.local, {}, until);
  return {*accept_until(listener, until), std::move(there)};
}

bool misses_one(const PeerWatch& watch, Duration within) {
  for (const auto until = Clock::now() + within; Clock::now() < until;) {
    if (watch.is_one_gone()) {
      return true;
    }
    std::this_thread::sleep_for(10ms);
  }
  return watch.is_one_gone();
}

TEST(PeerWatch, MissesNobodyWhoIsOnlyBusy) {
  const auto busy = connect();
  const auto watch = *PeerWatch::over({busy.here.get()}, 500ms);
  EXPECT_FALSE(misses_one(*watch, 2s));
}

TEST(PeerWatch, MissesWhoeverClosesThoughSomethingLiesUnread) {
  const auto stays = connect();
  auto ends = connect();
  const auto watch = *PeerWatch::over({stays.here.get(), ends.here.get()}, 30s);
  ASSERT_EQ(::send(ends.there.get(), "last", 4, MSG_NOSIGNAL), 4);
  EXPECT_FALSE(misses_one(*watch, 100ms));
  ends.there = {};
  EXPECT_TRUE(misses_one(*watch, 20s));
}

}  // namespace
}  // namespace tributary::host::test
