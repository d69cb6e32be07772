// SPDX-License-Identifier: BSD-3-Clause
#include "host/communicator.h"

#include <barrier>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/clock.h"
#include "host/transport/address.h"
#include "protocols/flare/carrier/socket.h"
#include "unit/host/loopback.h"
#include "unit/host/ports.h"
#include "unit/host/sparse_vectors.h"
#include "unit/host/values.h"
#include "unit/protocols/flare/host/model_sparse_switch.h"
#include "unit/protocols/flare/host/model_switch.h"

// These tests use real sockets: multicast on the loopback interface, where a thread stands for the
// switches.
namespace tributary::host::test {
namespace {

using wire::ElementType;
using wire::Operator;
using namespace std::chrono_literals;

// Receives what the ranks send to the tree's group, and answers there, also sparse blocks if it has
// any.
class FlareSwitches {
 public:
  // Each answer takes `delay`.
  FlareSwitches(std::uint32_t ranks, const std::string& group, bool has_sparse, Duration delay = {})
      : ranks_(ranks),
        group_(*parse_address(group)),
        has_sparse_(has_sparse),
        delay_(delay),
        dense_(ranks),
        sparse_(ranks) {
    auto socket = open_flare_socket(wire::Ipv4Address(127, 0, 0, 200), group_, 0);
    EXPECT_TRUE(socket) << socket.error().message;
    socket_ = std::move(*socket);
    const timeval patience{0, 20'000};
    ::setsockopt(socket_.fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

 private:
  void run(const std::stop_token& stop) {
    std::vector<std::byte> buffer(65536);
    while (!stop.stop_requested()) {
      SocketName from;
      const auto length =
          ::recvfrom(socket_.fd.get(), buffer.data(), buffer.size(), 0, from.get(), &from.bytes);
      const auto rank = (from_sockaddr(from).address.value() & 0xff) - 1;
      if (length > 0 && rank < ranks_) {  // or this sent it
        take(rank, wire::MutableBytes(buffer).first(static_cast<std::size_t>(length)));
      }
    }
  }

  void take(std::uint32_t rank, wire::MutableBytes packet) {
    if (!wire::is_flare_sparse(packet)) {
      return send(dense_.take(rank, packet));
    }
    if (has_sparse_) {
      for (const auto& answer : sparse_.take(rank, packet)) {
        send(answer);
      }
    }
  }

  void send(const FlareModelSwitch::Answer& answer) {
    if (!answer.ranks.empty()) {
      std::this_thread::sleep_for(delay_);
      const auto to = to_sockaddr({group_, wire::flare_udp_port});
      ::sendto(socket_.senders[0].get(), answer.bytes.data(), answer.bytes.size(), 0, to.get(),
               to.bytes);
    }
  }

  std::uint32_t ranks_;
  wire::Ipv4Address group_;
  bool has_sparse_;
  Duration delay_;
  FlareModelSwitch dense_;
  SparseModelSwitch sparse_;
  DatagramSocket socket_;
  std::jthread thread_;
};

constexpr std::uint32_t flare_ranks = 3;

using FlareChange = std::function<void(CommunicatorOptions&)>;

CommunicatorOptions flare_options(std::uint32_t rank, const std::string& group,
                                  std::uint16_t port) {
  auto options = options_on_loopback(rank, flare_ranks, port);
  options.job = 77;
  options.algorithm = "flare";
  options.set("flare_tree", group).set("flare_sparse_window", "4");
  return options;
}

void run_flare_world(const std::string& group, const std::function<void(Communicator&)>& body,
                     const FlareChange& change = {}) {
  const auto port = next_ports();
  run_ranks(flare_ranks, [=, &body, &change, &group](std::uint32_t rank) {
    auto options = flare_options(rank, group, port);
    if (change) {
      change(options);
    }
    auto communicator = Communicator::create(options);
    ASSERT_TRUE(communicator) << communicator.error().message;
    body(*communicator);
  });
}

void expect_sparse_sums(Communicator& communicator) {
  for (const std::size_t count : {0, 1, 5, 30011}) {
    for (const std::uint32_t permille : {0, 10, 600}) {
      const SparseVectors vectors(flare_ranks, count, ElementType::f32, drawn(permille));
      const auto mine = vectors.of(communicator.rank());
      const auto sum = communicator.sparse_allreduce(mine.indices, mine.values, count,
                                                     ElementType::f32, Operator::sum);
      ASSERT_TRUE(sum) << sum.error().message;
      EXPECT_EQ(expanded(*sum), vectors.sum());
    }
  }
}

void expect_dense_sum(Communicator& communicator) {
  std::vector<std::int32_t> values(5000, 7);
  const auto done = communicator.allreduce(std::span(values));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(values, std::vector<std::int32_t>(5000, 7 * flare_ranks));
}

TEST(FlareCommunicator, SparseVectorsGoByTheTreeThatHasBlocksForThem) {
  const auto group = next_multicast_group();
  const FlareSwitches switches(flare_ranks, group, true);
  run_flare_world(
      group,
      [](Communicator& communicator) {
        EXPECT_EQ(communicator.algorithm(), "flare");
        expect_sparse_sums(communicator);
        expect_dense_sum(communicator);
        expect_sparse_sums(communicator);
        const auto statistics = communicator.statistics();
        EXPECT_EQ(statistics["collectives_by_flare"], 19u);
        EXPECT_EQ(statistics["collectives_by_ring"], 0u);
        EXPECT_GT(statistics.carried.trees.at(0)["sparse_results_received"], 64u);
      },
      [](CommunicatorOptions& options) { options.fallback = Fallback::error; });
}

TEST(FlareCommunicator, WithoutAWindowForThemSparseVectorsGoByTheRing) {
  const auto group = next_multicast_group();
  const FlareSwitches switches(flare_ranks, group, true);
  run_flare_world(
      group,
      [](Communicator& communicator) {
        expect_sparse_sums(communicator);
        expect_dense_sum(communicator);
        EXPECT_EQ(communicator.statistics()["collectives_by_flare"], 1u);
        EXPECT_EQ(communicator.statistics()["collectives_by_ring"], 9u);
      },
      [](CommunicatorOptions& options) { options.set("flare_sparse_window", "0"); });
}

TEST(FlareCommunicator, ReproducibleSumsOfSparseVectorsAreTheRings) {
  const auto group = next_multicast_group();
  const FlareSwitches switches(flare_ranks, group, true);
  run_flare_world(
      group,
      [](Communicator& communicator) {
        expect_sparse_sums(communicator);
        EXPECT_EQ(communicator.statistics()["collectives_by_ring"], 9u);
      },
      [](CommunicatorOptions& options) { options.reproducible = true; });
}

// A tree may have an order for floats, which ranks do not know: only sums that do not depend on the
// order go by the hosts where these are faster.
TEST(FlareCommunicator, ByAutoSumsOfFloatsStayWithTheTreeUnlessTheyAreReproducible) {
  const auto carried = [](bool reproducible) {
    const auto group = next_multicast_group();
    const FlareSwitches switches(flare_ranks, group, false, 3ms);
    std::mutex mutex;
    CommunicatorStatistics told;
    run_flare_world(
        group,
        [&](Communicator& communicator) {
          std::vector<float> floats(100, 1);
          EXPECT_TRUE(communicator.allreduce(std::span(floats)));
          EXPECT_EQ(floats, std::vector<float>(100, flare_ranks));
          EXPECT_TRUE(communicator.allreduce(std::span(floats), Operator::min));
          std::vector<std::int32_t> integers(100, 1);
          EXPECT_TRUE(communicator.allreduce(std::span(integers)));
          EXPECT_EQ(integers, std::vector<std::int32_t>(100, flare_ranks));
          const std::lock_guard lock(mutex);
          told = communicator.statistics();
        },
        [=](CommunicatorOptions& options) {
          options.algorithm = "auto";
          options.reproducible = reproducible;
          options.set("tune_time", "1s").set("flare_sparse_window", "0");
        });
    return std::pair(told["collectives_by_flare"], told["collectives_by_plan"]);
  };
  EXPECT_EQ(carried(false), std::pair(std::uint64_t{1}, std::uint64_t{2}));
  EXPECT_EQ(carried(true), std::pair(std::uint64_t{0}, std::uint64_t{3}));
}

// The switches have another window for sparse blocks, or none: all other calls still go by them.
TEST(FlareCommunicator, WhereOnlySparseBlocksAreNotAnsweredTheRingTakesThemAlone) {
  const auto group = next_multicast_group();
  const FlareSwitches switches(flare_ranks, group, false);
  std::mutex mutex;
  std::vector<std::string> lines;
  run_flare_world(
      group,
      [](Communicator& communicator) {
        EXPECT_EQ(communicator.algorithm(), "flare");
        expect_sparse_sums(communicator);
        expect_dense_sum(communicator);
        EXPECT_EQ(communicator.statistics()["collectives_by_flare"], 1u);
        EXPECT_EQ(communicator.statistics()["collectives_by_ring"], 9u);
      },
      [&](CommunicatorOptions& options) {
        options.deadline = 4s;
        options.on_notice = [&](const std::string& line) {
          const std::lock_guard lock(mutex);
          lines.push_back(line);
        };
      });
  ASSERT_EQ(lines.size(), flare_ranks);
  for (const auto* part : {"flare over the tree ",
                           "sparse allreduces by the hosts' ring: the "
                           "reduction tree does not answer for sparse "
                           "blocks 3 of 3 ranks",
                           "flare_not_sparse"}) {
    EXPECT_NE(lines[0].find(part), std::string::npos) << lines[0];
  }
}

TEST(FlareCommunicator, ThatTheRingTakesSparseVectorsCanBeAnError) {
  const auto group = next_multicast_group();
  const FlareSwitches switches(flare_ranks, group, false);
  const auto port = next_ports();
  run_ranks(flare_ranks, [&](std::uint32_t rank) {
    auto options = flare_options(rank, group, port);
    options.fallback = Fallback::error;
    options.deadline = 4s;
    const auto communicator = Communicator::create(options);
    ASSERT_FALSE(communicator);
    EXPECT_NE(communicator.error().message.find("does not answer for sparse blocks"),
              std::string::npos)
        << communicator.error().message;
  });
}

// The controller has refused the job, perhaps.
TEST(FlareCommunicator, AJobWithoutATreeGoesByTheRingAndSaysSo) {
  std::mutex mutex;
  std::vector<std::string> lines;
  run_flare_world(
      "",
      [](Communicator& communicator) {
        EXPECT_EQ(communicator.algorithm(), "ring");
        expect_dense_sum(communicator);
      },
      [&](CommunicatorOptions& options) {
        options.on_notice = [&](const std::string& line) {
          const std::lock_guard lock(mutex);
          lines.push_back(line);
        };
      });
  ASSERT_EQ(lines.size(), flare_ranks);
  EXPECT_NE(lines[0].find("no reduction tree was named; set TRIBUTARY_FLARE_TREE on every rank"),
            std::string::npos)
      << lines[0];
}

TEST(FlareCommunicator, WhereOneRankHasNoTreeAllSayInWhatTheyDiffer) {
  const auto group = next_multicast_group();
  for (const auto without : {0u, 2u}) {
    const auto port = next_ports();
    run_ranks(flare_ranks, [&](std::uint32_t rank) {
      const auto options = flare_options(rank, rank == without ? "" : group, port);
      const auto communicator = Communicator::create(options);
      ASSERT_FALSE(communicator);
      EXPECT_NE(communicator.error().message.find("TRIBUTARY_FLARE_TREE"), std::string::npos)
          << communicator.error().message;
    });
  }
}

// The others give up the call, and the next one has its number.
TEST(FlareCommunicator, ASparseAllreduceThatOneRankRefusesIsNoPartOfTheNext) {
  const auto group = next_multicast_group();
  const FlareSwitches switches(flare_ranks, group, true);
  std::barrier<> given_up(flare_ranks);
  run_flare_world(
      group,
      [&](Communicator& communicator) {
        const std::vector<std::uint32_t> unsorted = {5, 2};
        const std::vector<std::uint32_t> sorted = {2, 5};
        const std::vector<std::int32_t> values = {1, 2};
        const bool refuses = communicator.rank() == 1;
        const auto failed = communicator.sparse_allreduce(
            std::span<const std::uint32_t>(refuses ? unsorted : sorted),
            std::span<const std::int32_t>(values), 64);
        given_up.arrive_and_wait();
        ASSERT_FALSE(failed);
        EXPECT_EQ(failed.error().code,
                  refuses ? Error::Code::invalid_argument : Error::Code::timeout);
        expect_sparse_sums(communicator);
      },
      // The timeout is long enough for the sums on a busy machine.
      [](CommunicatorOptions& options) { options.stall_timeout = 10s; });
}

TEST(FlareCommunicator, SparseVectorsThatDifferAreAnErrorOnAllRanks) {
  const auto group = next_multicast_group();
  const FlareSwitches switches(flare_ranks, group, true);
  run_flare_world(group, [](Communicator& communicator) {
    const std::vector<std::uint32_t> indices = {2, 5};
    const std::vector<std::int32_t> values = {1, 2};
    const auto failed = communicator.sparse_allreduce(std::span(indices), std::span(values),
                                                      communicator.rank() == 2 ? 65 : 64);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, Error::Code::mismatch);
    expect_sparse_sums(communicator);
  });
}

}  // namespace
}  // namespace tributary::host::test
