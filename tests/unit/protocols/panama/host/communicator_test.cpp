// SPDX-License-Identifier: BSD-3-Clause
#include "host/communicator.h"

#include <atomic>
#include <bit>
#include <chrono>
#include <cstring>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/c/tributary.h"
#include "host/clock.h"
#include "host/transport/address.h"
#include "model_root.h"
#include "protocols/panama/carrier/socket.h"
#include "unit/host/loopback.h"
#include "unit/host/ports.h"
#include "unit/host/values.h"

// These tests use real sockets: multicast on the loopback interface, where a thread stands for the
// switches.
namespace tributary::host::test {
namespace {

using wire::ElementType;
using wire::Operator;
using namespace std::chrono_literals;

std::vector<std::string> groups(std::uint32_t trees) {
  std::vector<std::string> names;
  for (; trees > 0; --trees) {
    names.push_back(next_multicast_group());
  }
  return names;
}

std::string joined(const std::vector<std::string>& trees) {
  std::string text;
  for (const auto& tree : trees) {
    text += (text.empty() ? "" : ",") + tree;
  }
  return text;
}

// Workers bind a source port that their job tells, so tests that run at the same time need jobs of
// their own.
std::uint32_t job_of_this_process() {
  return 77 + process_number();
}

// Receives what the workers send to the groups, and answers there.
class Switches {
 public:
  // Each answer takes `delay`.
  Switches(std::uint32_t ranks, std::uint32_t quorum, const std::vector<std::string>& trees,
           std::uint32_t job, bool marking, Duration delay = {})
      : root_(ranks, quorum), delay_(delay) {
    for (const auto& tree : trees) {
      groups_.push_back(*parse_address(tree));
    }
    auto socket = open_panama_socket(wire::Ipv4Address(127, 0, 0, 200), groups_, job);
    EXPECT_TRUE(socket) << socket.error().message;
    socket_ = std::move(*socket);
    const timeval patience{0, 20'000};
    ::setsockopt(socket_.fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    const int tos = wire::panama_dscp << 2 | (marking ? wire::ecn::ce : wire::ecn::ect0);
    for (const auto& sender : socket_.senders) {
      ::setsockopt(sender.get(), IPPROTO_IP, IP_TOS, &tos, sizeof tos);
    }
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

  // Returns the UDP source ports of the packets that came.
  std::set<std::uint16_t> source_ports() const {
    const std::lock_guard lock(mutex_);
    return source_ports_;
  }
  std::set<std::uint8_t> ecn_and_dscp() const {
    const std::lock_guard lock(mutex_);
    return tos_;
  }

 private:
  void run(const std::stop_token& stop) {
    std::vector<std::byte> buffer(65536);
    while (!stop.stop_requested()) {
      sockaddr_in from{};
      iovec part{buffer.data(), buffer.size()};
      alignas(cmsghdr) std::byte control[64];
      msghdr message{};
      message.msg_name = &from;
      message.msg_namelen = sizeof from;
      message.msg_iov = &part;
      message.msg_iovlen = 1;
      message.msg_control = control;
      message.msg_controllen = sizeof control;
      const auto length = ::recvmsg(socket_.fd.get(), &message, 0);
      if (length <= 0) {
        continue;
      }
      const auto packet = wire::MutableBytes(buffer).first(static_cast<std::size_t>(length));
      const auto* header = wire::Cursor(packet).take<wire::PanamaHeader>();
      if (header == nullptr || header->kind != wire::PanamaKind::aggregation) {
        continue;  // what the model itself sent
      }
      {
        const std::lock_guard lock(mutex_);
        source_ports_.insert(ntohs(from.sin_port));
        tos_.insert(*CMSG_DATA(CMSG_FIRSTHDR(&message)));
      }
      const std::size_t tree = header->tree.value();
      if (const auto answer = root_.add(packet); answer.result != nullptr) {
        std::this_thread::sleep_for(delay_);
        const auto to = to_sockaddr({groups_[tree], wire::panama_udp_port});
        ::sendto(socket_.senders[tree].get(), answer.result->data(), answer.result->size(), 0,
                 to.get(), to.bytes);
      }
    }
  }

  ModelRoot root_;
  Duration delay_;
  std::vector<wire::Ipv4Address> groups_;
  DatagramSocket socket_;
  mutable std::mutex mutex_;
  std::set<std::uint16_t> source_ports_;
  std::set<std::uint8_t> tos_;
  std::jthread thread_;
};

CommunicatorOptions options_of(std::uint32_t rank, std::uint32_t world_size,
                               const std::vector<std::string>& trees, std::uint16_t port) {
  auto options = options_on_loopback(rank, world_size, port);
  options.job = job_of_this_process();
  options.set("trees", joined(trees));
  options.algorithm = "panama";
  return options;
}

using Change = std::function<void(CommunicatorOptions&)>;

void run_world(std::uint32_t world_size, const std::vector<std::string>& trees,
               const std::function<void(Communicator&)>& body, const Change& change = {}) {
  const auto port = next_ports();
  run_ranks(world_size, [=, &body, &change, &trees](std::uint32_t rank) {
    auto options = options_of(rank, world_size, trees, port);
    if (change) {
      change(options);
    }
    auto communicator = Communicator::create(options);
    ASSERT_TRUE(communicator) << communicator.error().message;
    body(*communicator);
  });
}

void expect_reduced(Communicator& communicator, std::size_t count) {
  const auto in = input(communicator.rank(), count, ElementType::f32, Operator::sum);
  Elements out(in.size());
  const auto done =
      communicator.allreduce(in.data(), out.data(), count, ElementType::f32, Operator::sum);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(wrong_elements(out, communicator.world_size(), count, ElementType::f32, Operator::sum),
            0u);
}

TEST(PanamaCommunicator, CollectivesOverSockets) {
  constexpr std::uint32_t ranks = 3;
  const auto trees = groups(2);
  const Switches switches(ranks, ranks, trees, job_of_this_process(), false);
  run_world(ranks, trees, [](Communicator& communicator) {
    EXPECT_EQ(communicator.algorithm(), "panama");
    EXPECT_EQ(communicator.job(), job_of_this_process());
    for (const std::size_t count : {0, 1, 352, 353, 100003}) {
      expect_reduced(communicator, count);
    }
    std::vector<std::int64_t> values(1000, communicator.rank() == 1 ? -5 : 3);
    auto done = communicator.broadcast(std::span(values), 1);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(values, std::vector<std::int64_t>(1000, -5));
    done = communicator.barrier();
    ASSERT_TRUE(done) << done.error().message;
    const auto statistics = communicator.statistics();
    EXPECT_EQ(statistics["collectives_by_panama"], 7u);
    const auto& told = statistics.carried.trees;
    ASSERT_EQ(told.size(), 2u);
    EXPECT_GT(told[1]["results_received"], 100u);
    EXPECT_EQ(told[0]["results_marked"], 0u);
    EXPECT_EQ(told[0]["window_cap"], 64u);
  });
  const std::uint8_t asked = wire::panama_dscp << 2 | wire::ecn::ect0;
  EXPECT_EQ(switches.ecn_and_dscp(), std::set<std::uint8_t>{asked});
  const auto key = wire::panama_key(job_of_this_process(), 0);
  EXPECT_TRUE(switches.source_ports().contains(wire::source_port_of(key)));
}

TEST(PanamaCommunicator, MarksOfTheIpHeaderReachTheWindow) {
  const auto trees = groups(1);
  const Switches switches(2, 2, trees, job_of_this_process(), true);
  run_world(
      2, trees,
      [](Communicator& communicator) {
        expect_reduced(communicator, 20000);
        const auto tree = communicator.statistics().carried.trees.at(0);
        EXPECT_GT(tree["results_received"], 0u);
        EXPECT_EQ(tree["results_marked"], tree["results_received"]);
        EXPECT_EQ(tree.value<double>("window"), 1);
      },
      [](CommunicatorOptions& options) { options.algorithm = "auto"; });
}

// Broadcast and barrier need all ranks, so they do not use trees that may leave some out.
TEST(PanamaCommunicator, AShareOfTheRanksIsEnoughForASumOnly) {
  const auto trees = groups(1);
  const Switches switches(3, 2, trees, job_of_this_process(), false);
  run_world(
      3, trees,
      [](Communicator& communicator) {
        std::vector<std::int32_t> values(64, 1);
        auto done = communicator.allreduce(std::span(values));
        ASSERT_TRUE(done) << done.error().message;
        EXPECT_EQ(values[0], 2);
        EXPECT_GT(communicator.statistics()["contributions_missing"], 0u);
        const auto partial = communicator.partial_results();
        ASSERT_TRUE(partial) << partial.error().message;
        ASSERT_EQ(partial->size(), 1u);
        EXPECT_EQ(partial->front().count, 64u);
        EXPECT_EQ(partial->front().missing.size(), 1u);
        std::vector<std::int32_t> all(48, 1);
        std::vector<std::int32_t> own(16);
        done = communicator.reduce_scatter(all.data(), own.data(), own.size(),
                                           wire::ElementType::i32, wire::Operator::sum);
        ASSERT_TRUE(done) << done.error().message;
        const auto of_part = *communicator.partial_results();
        ASSERT_EQ(of_part.size(), 1u);
        EXPECT_EQ(of_part[0].first, 0u);
        EXPECT_EQ(of_part[0].count, 16u);
        done = communicator.barrier();
        ASSERT_TRUE(done) << done.error().message;
        EXPECT_TRUE(communicator.partial_results()->empty()) << "the ring had the barrier";
        values.assign(64, communicator.rank() == 2 ? 9 : 0);
        done = communicator.broadcast(std::span(values), 2);
        ASSERT_TRUE(done) << done.error().message;
        EXPECT_EQ(values, std::vector<std::int32_t>(64, 9));
        EXPECT_EQ(communicator.statistics()["collectives_by_ring"], 2u);
      },
      [](CommunicatorOptions& options) { options.set("share", "0.6"); });
}

// Has the ranges of one collective that lack a rank.
struct OfC {
  tributary_comm* comm;
  std::vector<PartialResult> ranges{};
  std::atomic<bool> told = false;

  void ask() {
    std::size_t count = 0;
    ASSERT_EQ(tributary_comm_partial_results(comm, nullptr, nullptr, &count), TRIBUTARY_SUCCESS);
    std::vector<tributary_partial_result> results(count);
    std::vector<std::uint64_t> missing(count);  // a word for each is enough
    ASSERT_EQ(tributary_comm_partial_results(comm, results.data(), missing.data(), &count),
              TRIBUTARY_SUCCESS);
    ASSERT_EQ(count, results.size());
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(results[i].missing_count, std::popcount(missing[i]));
      ranges.push_back({results[i].first,
                        results[i].count,
                        {static_cast<std::uint32_t>(std::countr_zero(missing[i]))}});
    }
  }
  static void ended(void* context, tributary_result result) {
    auto& self = *static_cast<OfC*>(context);
    EXPECT_EQ(result, TRIBUTARY_SUCCESS) << tributary_last_error();
    self.ask();
    self.told = true;
    self.told.notify_all();
  }
};

tributary_comm* comm_of_c(std::uint32_t rank, std::uint16_t port, const std::string& trees) {
  tributary_options* options = nullptr;
  tributary_options_create(&options);
  const std::pair<const char*, std::string> variables[] = {
      {"RANK", std::to_string(rank)},
      {"WORLD_SIZE", "3"},
      {"MASTER_ADDR", "127.0.0.1"},
      {"MASTER_PORT", std::to_string(port)},
      {"TRIBUTARY_LOCAL_ADDRESS", "127.0.0." + std::to_string(rank + 1)},
      {"TRIBUTARY_MTU", "1500"},
      {"TRIBUTARY_DEADLINE", "10s"},
      {"TRIBUTARY_JOB", std::to_string(job_of_this_process())},
      {"TRIBUTARY_TREES", trees},
      {"TRIBUTARY_ALGORITHM", "panama"},
      {"TRIBUTARY_SHARE", "0.6"}};
  for (const auto& [name, value] : variables) {
    tributary_options_set(options, name, value.c_str());
  }
  tributary_comm* comm = nullptr;
  EXPECT_EQ(tributary_comm_create(&comm, options), TRIBUTARY_SUCCESS) << tributary_last_error();
  tributary_options_destroy(options);
  return comm;
}

// Of a group each allreduce is one by itself, and its completion is told of that one.
TEST(PanamaCommunicator, CIsToldWhoIsMissing) {
  const auto trees = groups(1);
  const Switches switches(3, 2, trees, job_of_this_process(), false);
  const auto port = next_ports();
  run_ranks(3, [&](std::uint32_t rank) {
    auto* const comm = comm_of_c(rank, port, joined(trees));
    ASSERT_NE(comm, nullptr);
    std::vector<std::int32_t> values(64, 1);
    ASSERT_EQ(tributary_allreduce(comm, values.data(), values.data(), values.size(), TRIBUTARY_I32,
                                  TRIBUTARY_SUM),
              TRIBUTARY_SUCCESS)
        << tributary_last_error();
    OfC last{comm};
    last.ask();
    ASSERT_EQ(last.ranges.size(), 1u);
    EXPECT_EQ(last.ranges[0].count, 64u);
    std::size_t none = 0;
    EXPECT_EQ(tributary_comm_partial_results(comm, nullptr, nullptr, &none), TRIBUTARY_SUCCESS);
    EXPECT_EQ(none, 1u) << "there was no room";
    EXPECT_EQ(tributary_comm_partial_results(comm, nullptr, nullptr, &none),
              TRIBUTARY_INVALID_ARGUMENT);

    std::vector<std::int32_t> more(16, 1);
    OfC of_values{comm};
    OfC of_more{comm};
    tributary_group_begin(comm);
    for (const auto& [vector, told] :
         {std::pair(&values, &of_values), std::pair(&more, &of_more)}) {
      tributary_request* request = nullptr;
      ASSERT_EQ(tributary_iallreduce(comm, vector->data(), vector->data(), vector->size(),
                                     TRIBUTARY_I32, TRIBUTARY_SUM, &request),
                TRIBUTARY_SUCCESS);
      ASSERT_EQ(tributary_request_on_completion(request, OfC::ended, told), TRIBUTARY_SUCCESS);
      tributary_request_free(&request);
    }
    tributary_group_end(comm);
    of_more.told.wait(false);
    ASSERT_EQ(of_values.ranges.size(), 1u);
    ASSERT_EQ(of_more.ranges.size(), 1u);
    EXPECT_EQ(of_values.ranges[0].count, 64u);
    EXPECT_EQ(of_more.ranges[0].count, 16u);
    EXPECT_EQ(of_more.ranges[0].first, 0u);
    tributary_comm_destroy(comm);
  });
}

TEST(PanamaCommunicator, WithoutTreesThatAnswerTheRingIsUsedAndOneLineSaysSo) {
  std::mutex mutex;
  std::vector<std::string> lines;
  run_world(
      2, groups(1),
      [](Communicator& communicator) {
        EXPECT_EQ(communicator.algorithm(), "ring");
        expect_reduced(communicator, 1000);
        EXPECT_EQ(communicator.statistics()["collectives_by_ring"], 1u);
      },
      [&](CommunicatorOptions& options) {
        options.deadline = 2s;
        options.on_notice = [&](const std::string& line) {
          const std::lock_guard lock(mutex);
          lines.push_back(line);
        };
      });
  ASSERT_EQ(lines.size(), 2u);
  for (const auto& line : lines) {
    EXPECT_NE(line.find("the aggregation trees do not answer 2 of 2 ranks"), std::string::npos)
        << line;
    EXPECT_NE(line.find("TRIBUTARY_TREES"), std::string::npos) << line;
  }
}

// Returns the notices of three ranks with that share, whose trees need so many of them.
std::vector<std::string> notices_with(std::uint32_t quorum, const char* share) {
  const auto trees = groups(2);
  const Switches switches(3, quorum, trees, job_of_this_process(), false);
  std::mutex mutex;
  std::vector<std::string> lines;
  run_world(
      3, trees,
      [](Communicator& communicator) {
        EXPECT_EQ(communicator.algorithm(), "ring");
        expect_reduced(communicator, 1000);
        EXPECT_TRUE(communicator.partial_results()->empty());
      },
      [&](CommunicatorOptions& options) {
        options.deadline = 2s;
        options.set("share", share);
        options.on_notice = [&](const std::string& line) {
          const std::lock_guard lock(mutex);
          lines.push_back(line);
        };
      });
  EXPECT_EQ(lines.size(), 3u);
  return lines;
}

TEST(PanamaCommunicator, AShareThatIsNotThatOfTheTreesIsSaid) {
  for (const auto& line : notices_with(2, "1")) {
    EXPECT_NE(line.find("but these ranks wait for all of them (TRIBUTARY_SHARE is 1)"),
              std::string::npos)
        << line;
  }
  for (const auto& line : notices_with(3, "0.6")) {
    EXPECT_NE(line.find("go on without those that are late (TRIBUTARY_SHARE is 0.6)"),
              std::string::npos)
        << line;
    EXPECT_NE(line.find("tributaryctl fabric show"), std::string::npos) << line;
  }
}

// Returns the statistics of three ranks that have reduced vectors of several sizes, with switches
// that take `delay` for each answer.
CommunicatorStatistics with_slow_switches(const Change& change, Duration delay = 5ms) {
  const auto trees = groups(1);
  const Switches switches(3, 3, trees, job_of_this_process(), false, delay);
  std::mutex mutex;
  CommunicatorStatistics told;
  run_world(
      3, trees,
      [&](Communicator& communicator) {
        EXPECT_EQ(communicator.algorithm(), "panama");
        for (const std::size_t count : {0, 1, 2, 1000, 3000}) {
          expect_reduced(communicator, count);
        }
        EXPECT_TRUE(communicator.barrier());
        std::vector<std::int32_t> values(10, static_cast<std::int32_t>(communicator.rank()));
        EXPECT_TRUE(communicator.broadcast(std::span(values), 1));
        EXPECT_EQ(values, std::vector<std::int32_t>(10, 1));
        const std::lock_guard lock(mutex);
        told = communicator.statistics();
      },
      [&](CommunicatorOptions& options) {
        options.algorithm = "auto";
        change(options);
      });
  return told;
}

TEST(PanamaCommunicator, ByAutoHostsCarryWhatTheyWereFasterFor) {
  // The switches are so slow that hosts are faster on a busy machine, too. Whether doubling or the
  // ring is faster depends on the machine.
  const auto told = with_slow_switches([](auto& options) { options.set("tune_time", "3s"); }, 40ms);
  EXPECT_EQ(told["collectives_by_ring"], 6u);
  EXPECT_EQ(told["collectives_by_plan"], 6u);
  EXPECT_EQ(told["collectives_by_panama"], 1u) << "broadcasts are not measured";
  EXPECT_GT(told["tuned_us"], 0u);
  const auto plan = told.general.value<std::string>("plan");
  EXPECT_TRUE(plan.starts_with("doubling ") || plan.starts_with("ring ")) << plan;
}

TEST(PanamaCommunicator, WithoutMeasuringSwitchesCarryAll) {
  const auto by_switches_alone = [](const Change& change) {
    const auto told = with_slow_switches(change);
    EXPECT_EQ(told["collectives_by_panama"], 7u);
    EXPECT_EQ(told["tuned_us"], 0u);
    EXPECT_EQ(told.general.value<std::string>("plan"), "");
  };
  by_switches_alone([](auto& options) { options.set("tune", "off"); });
  by_switches_alone([](auto& options) { options.fallback = Fallback::error; });
  by_switches_alone([](auto& options) { options.algorithm = "panama"; });
  // One rank with this option is enough.
  by_switches_alone([](auto& options) { options.set("tune", options.rank == 2 ? "off" : "on"); });
}

TEST(PanamaCommunicator, FallbackCanBeAnError) {
  const auto trees = groups(1);
  const auto port = next_ports();
  run_ranks(2, [&trees, port](std::uint32_t rank) {
    auto options = options_of(rank, 2, trees, port);
    options.deadline = 2s;
    options.fallback = Fallback::error;
    const auto communicator = Communicator::create(options);
    ASSERT_FALSE(communicator);
    EXPECT_NE(communicator.error().message.find("do not answer"), std::string::npos)
        << communicator.error().message;
  });
}

TEST(PanamaCommunicator, RefusesWhatCannotBe) {
  const auto complaint = [](const Change& change) {
    auto options = options_of(0, 2, {"239.192.0.1"}, 31000);
    change(options);
    const auto created = Communicator::create(options);
    return created ? std::string() : created.error().message;
  };
  const auto expect = [&](const Change& change, const std::string& words) {
    const auto said = complaint(change);
    EXPECT_NE(said.find(words), std::string::npos) << said;
  };
  const auto with_trees = [](const std::string& trees) {
    return [trees](auto& options) { options.set("trees", trees); };
  };
  expect(with_trees(""), "TRIBUTARY_TREES");
  expect(with_trees(joined(std::vector<std::string>(17, "239.192.0.2"))), "1 to 16");
  expect(with_trees("239.192.0.1,10.0.0.1"), "'10.0.0.1' is not");
  expect(with_trees("239.192.0.1,leaf1"), "'leaf1' is not");
  expect(with_trees("239.192.0.1,239.192.0.1"), "given twice");
  expect([](auto& options) { options.job = 0; }, "TRIBUTARY_JOB");
  expect([](auto& options) { options.encapsulation = wire::Encapsulation::ethernet; }, "UDP only");
  expect([](auto& options) { options.set("share", "0"); }, "TRIBUTARY_SHARE=0 is not");
}

}  // namespace
}  // namespace tributary::host::test
