// SPDX-License-Identifier: BSD-3-Clause
#include "host/transport/driver.h"

#include <algorithm>
#include <cstring>
#include <sys/socket.h>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "host/transport/address.h"
#include "protocols/canary/carrier/socket.h"
#include "protocols/canary/host/collectives.h"

// Tests one rank on a real socket, driven as in applications, and one that the test drives by hand.
namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t payload_bytes = 1408;

DatagramSocket socket_of(std::uint8_t rank) {
  auto socket = open_canary_socket(
      wire::Ipv4Address(127, 0, 0, static_cast<std::uint8_t>(rank + 1)), wire::ecn::ect0);
  EXPECT_TRUE(socket) << socket.error().message;
  return std::move(*socket);
}

Job job_of(std::uint32_t rank, const DatagramSocket& first, const DatagramSocket& second) {
  Job job;
  job.id = 7;
  job.key = {1, 2, 3};
  job.rank = rank;
  job.peers = {first.local, second.local};
  job.payload_bytes = payload_bytes;
  job.window = 8;
  return job;
}

class ByHand {
 public:
  ByHand(const Job& job, const DatagramSocket& socket) : machine_(job), socket_(socket.fd.get()) {}

  void begin(const Call& call, Time deadline) { machine_.begin(call, Clock::now(), deadline); }

  // Drives until the collective is over, or `until`. With `deaf` all packets that come are lost.
  void drive(Time until, bool deaf) {
    while (machine_.running() && Clock::now() < until) {
      machine_.poll(outbox_, Clock::now());
      for (; !outbox_.empty(); outbox_.pop()) {
        send(outbox_.front());
      }
      std::byte buffer[2048];
      const auto length = ::recv(socket_, buffer, sizeof buffer, MSG_DONTWAIT);
      if (length > 0 && !deaf) {
        machine_.receive({buffer, static_cast<std::size_t>(length)}, Clock::now());
      }
      machine_.expire(Clock::now());
      std::this_thread::sleep_for(length > 0 ? 0ms : 1ms);
    }
  }
  bool finished() const { return !machine_.running() && !machine_.failure(); }
  const CanaryStatistics& statistics() const { return machine_.statistics(); }

 private:
  void send(const Datagram& datagram) const {
    const auto header = datagram.header();
    std::vector<std::byte> bytes(header.begin(), header.end());
    bytes.insert(bytes.end(), datagram.payload.begin(), datagram.payload.end());
    const auto to = to_sockaddr(datagram.destination);
    ::sendto(socket_, bytes.data(), bytes.size(), 0, to.get(), to.bytes);
  }

  CanaryCollectives machine_;
  Outbox outbox_{64};
  int socket_;
};

Call sum_of(std::vector<std::int32_t>& values) {
  auto* const bytes = reinterpret_cast<std::byte*>(values.data());
  return {Collective::allreduce,
          {bytes, bytes, values.size(), wire::ElementType::i32, wire::Operator::sum},
          0};
}

// Rank 0 leads the only block and has its result at once, overwrites its buffer, and does not call
// the library again; rank 1 loses every packet of the result that was sent unasked.
TEST(Driver, AnswersAfterTheCollectiveIsOver) {
  auto first = socket_of(0);
  const auto second = socket_of(1);
  const auto job = job_of(0, first, second);
  ByHand other(job_of(1, first, second), second);
  auto transport =
      UringTransport::create(std::move(first), sizeof(wire::CanaryHeader) + payload_bytes);
  ASSERT_TRUE(transport) << transport.error().message;
  CanaryCollectives machine(job);
  Driver driver(machine, std::move(*transport));
  ASSERT_TRUE(driver.start());

  const auto deadline = Clock::now() + 10s;
  std::vector<std::int32_t> mine(8, 40);
  std::vector<std::int32_t> theirs(8, 2);
  other.begin(sum_of(theirs), deadline);
  std::jthread peer([&] {
    other.drive(Clock::now() + 300ms, true);
    other.drive(deadline, false);
  });
  const auto done = driver.run(sum_of(mine), deadline);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(mine, std::vector<std::int32_t>(8, 42));
  mine.assign(8, -1);
  EXPECT_TRUE(driver.retaining());
  peer.join();
  EXPECT_TRUE(other.finished());
  EXPECT_EQ(theirs, std::vector<std::int32_t>(8, 42));
  EXPECT_GT(other.statistics().requests_sent, 0u);
  EXPECT_GT(driver.with_machine([&] { return machine.statistics().replays_sent; }), 0u);
}

}  // namespace
}  // namespace tributary::host::test
