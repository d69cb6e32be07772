// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <poll.h>
#include <span>
#include <string>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../loopback.h"
#include "../ports.h"
#include "host/communicator.h"
#include "host/membership/keeper.h"
#include "host/parallel/parallel_communicator.h"
#include "host/queue/collective_queue.h"
#include "host/transport/address.h"
#include "host/transport/tcp.h"
#include "system/file_descriptor.h"

// Elastic worlds on real sockets of the loopback interface, with a keeper in a thread.
namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

// They end as they do in processes of their own: all at once.
struct Members : std::vector<std::optional<Communicator>> {
  using std::vector<std::optional<Communicator>>::vector;
  Members(Members&&) = default;
  Members& operator=(Members&&) = default;
  ~Members() {
    run_ranks(static_cast<std::uint32_t>(size()), [this](std::uint32_t i) { at(i).reset(); });
  }
};

class ElasticWorlds : public testing::Test {
 protected:
  explicit ElasticWorlds(const std::string& secret = "")
      : secret_(secret),
        keeper_(*Keeper::at({wire::Ipv4Address(127, 0, 0, 1), 0}, secret,
                            [this](const std::string& line) {
                              const std::lock_guard lock(mutex_);
                              said_ += line + "\n";
                            })),
        serving_([this] { keeper_.serve([this] { return stops_.load(); }); }) {}
  ~ElasticWorlds() override { stop_keeper(); }

  void stop_keeper() {
    stops_ = true;
    if (serving_.joinable()) {
      serving_.join();
    }
  }
  std::string said() {
    const std::lock_guard lock(mutex_);
    return said_;
  }

  // Of process number `process`, each of which has an address of its own.
  CommunicatorOptions options_of(std::uint32_t process, std::uint32_t world_size) const {
    auto options = options_on_loopback(process, world_size, keeper_.place().port);
    options.algorithm = "canary";  // the loopback has no switch that aggregates
    options.secret = secret_;
    options.deadline = 20s;
    options.membership = Membership::elastic;
    return options;
  }
  CommunicatorOptions options_to_join(std::uint32_t process) const {
    auto options = options_of(process, 1);
    options.rank = 0;
    options.membership = Membership::join;
    options.join_timeout = 20s;
    return options;
  }

  Members found(std::uint32_t world_size,
                const std::function<void(CommunicatorOptions&)>& change = {}) {
    Members members(world_size);
    run_ranks(world_size, [&](std::uint32_t rank) {
      auto options = options_of(rank, world_size);
      if (change) {
        change(options);
      }
      members[rank] = created(Communicator::create(options));
    });
    return members;
  }
  static std::optional<Communicator> created(Result<Communicator> made) {
    EXPECT_TRUE(made) << made.error().message;
    return made ? std::optional(std::move(*made)) : std::nullopt;
  }
  // All that are there, at once.
  static void regroup(Members& members, std::uint32_t world_size = 0) {
    run_ranks(static_cast<std::uint32_t>(members.size()), [&](std::uint32_t i) {
      if (members[i]) {
        members[i] = created(members[i]->regroup(world_size));
      }
    });
  }
  std::jthread joining(std::uint32_t process, std::optional<Communicator>& into) {
    return std::jthread(
        [this, process, &into] { into = created(Communicator::create(options_to_join(process))); });
  }
  void await_waiting(const Communicator& member, std::uint32_t count) {
    const auto until = Clock::now() + 10s;
    while (member.membership().waiting != count && Clock::now() < until) {
      std::this_thread::sleep_for(5ms);
    }
    ASSERT_EQ(member.membership().waiting, count);
  }

  // The sum over all that are there is exact, on all of them.
  static void expect_sums(Members& members) {
    std::uint32_t ranks = 0;
    for (const auto& member : members) {
      ranks += member ? 1 : 0;
    }
    run_ranks(static_cast<std::uint32_t>(members.size()), [&](std::uint32_t i) {
      if (!members[i]) {
        return;
      }
      ASSERT_EQ(members[i]->world_size(), ranks);
      std::vector<std::int32_t> values(3001);
      std::iota(values.begin(), values.end(), static_cast<std::int32_t>(members[i]->rank()));
      const auto done = members[i]->allreduce(std::span(values));
      ASSERT_TRUE(done) << done.error().message;
      const auto of_ranks = static_cast<std::int32_t>(ranks * (ranks - 1) / 2);
      for (std::size_t k = 0; k < values.size(); ++k) {
        ASSERT_EQ(values[k], of_ranks + static_cast<std::int32_t>(ranks * k)) << k;
      }
    });
  }

  std::string secret_;
  std::mutex mutex_;
  std::string said_;
  std::atomic<bool> stops_ = false;
  Keeper keeper_;
  std::jthread serving_;
};

class SecretElasticWorlds : public ElasticWorlds {
 protected:
  SecretElasticWorlds() : ElasticWorlds("as random as it gets") {}
};

TEST_F(ElasticWorlds, AreFoundedAndRegroupAsTheyAre) {
  auto members = found(3);
  expect_sums(members);
  EXPECT_EQ(members[1]->membership().epoch, 1u);
  EXPECT_EQ(members[1]->membership().newcomers, 3u);
  regroup(members);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(members[rank]->rank(), rank);
    EXPECT_EQ(members[rank]->membership().epoch, 2u);
    EXPECT_EQ(members[rank]->membership().newcomers, 0u);
    EXPECT_FALSE(members[rank]->membership().ended);
  }
  expect_sums(members);
}

TEST_F(ElasticWorlds, EndACollectiveWhenAMemberIsGone) {
  auto members = found(3);
  expect_sums(members);
  std::jthread ending([&] {
    std::this_thread::sleep_for(200ms);
    members[1].reset();
  });
  run_ranks(3, [&](std::uint32_t rank) {
    if (rank == 1) {
      return;
    }
    std::vector<std::int32_t> values(100'000, 1);
    const auto began = Clock::now();
    const auto done = members[rank]->allreduce(std::span(values));
    EXPECT_LT(Clock::now() - began, 8s);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Error::Code::membership_ended);
    EXPECT_THAT(done.error().message, HasSubstr("membership 1 has ended: rank 1 at 127.0.0."));
    EXPECT_THAT(done.error().message, HasSubstr("call regroup()"));
    EXPECT_TRUE(members[rank]->membership().ended);
  });
  ending.join();
  regroup(members);
  EXPECT_EQ(members[2]->rank(), 1u);
  expect_sums(members);
}

TEST_F(ElasticWorlds, ReplaceAMember) {
  auto members = found(3);
  members[0].reset();
  std::optional<Communicator> newcomer;
  auto thread = joining(3, newcomer);
  regroup(members, 3);
  thread.join();
  members.push_back(std::move(newcomer));
  ASSERT_TRUE(members[3]);
  EXPECT_EQ(members[1]->rank(), 0u);
  EXPECT_EQ(members[3]->rank(), 1u);
  EXPECT_EQ(members[2]->rank(), 2u);
  EXPECT_EQ(members[3]->membership().epoch, 2u);
  EXPECT_EQ(members[3]->membership().newcomers, 1u);
  expect_sums(members);
}

TEST_F(ElasticWorlds, GrowByTwoAndShrinkToOneAndGrowAgain) {
  auto members = found(1);
  expect_sums(members);
  members.resize(3);
  {
    const auto first = joining(1, members[1]);
    const auto second = joining(2, members[2]);
    await_waiting(*members[0], 2);
    auto next = members[0]->regroup();
    members[0] = created(std::move(next));
  }
  expect_sums(members);
  members[0].reset();
  members[1].reset();
  regroup(members);
  EXPECT_EQ(members[2]->rank(), 0u);
  expect_sums(members);
  {
    const auto again = joining(0, members[0]);
    await_waiting(*members[2], 1);
    members[2] = created(members[2]->regroup());
  }
  expect_sums(members);
}

TEST_F(ElasticWorlds, FailEveryCallOfAnOldMembership) {
  auto members = found(2);
  Members next(2);
  run_ranks(2, [&](std::uint32_t rank) { next[rank] = created(members[rank]->regroup()); });
  std::vector<float> values(10);
  const std::vector<std::uint32_t> indices{1};
  auto& old = *members[0];
  GradientSketch sketch(values.size());
  std::vector<Error> errors;
  const auto keep = [&](const auto& done) {
    ASSERT_FALSE(done);
    errors.push_back(done.error());
  };
  keep(old.allreduce(std::span(values)));
  keep(old.ring_allreduce(std::span(values)));
  keep(old.reduce(std::span<const float>(values), std::span(values), 0));
  keep(old.broadcast(std::span(values), 0));
  keep(old.barrier());
  keep(old.ring_barrier());
  keep(old.allgather(values.data(), values.data(), 1, wire::ElementType::f32));
  keep(old.reduce_scatter(values.data(), values.data(), 1, wire::ElementType::f32,
                          wire::Operator::sum));
  keep(old.sparse_allreduce(std::span(indices), std::span<const float>(values).first(1), 10));
  keep(old.sketched_allreduce(std::span(values), sketch));
  for (const auto& error : errors) {
    EXPECT_EQ(error.code, Error::Code::membership_ended) << error.message;
    EXPECT_THAT(error.message, HasSubstr("membership 1 has ended: this rank has called regroup()"));
  }
  EXPECT_TRUE(old.membership().ended);
  EXPECT_EQ(old.statistics()["blocks_in_network"], 0u);
  members.clear();
  expect_sums(next);
}

TEST_F(ElasticWorlds, LeaveBehindWhoDoesNotCall) {
  auto members = found(3, [](CommunicatorOptions& options) { options.deadline = 2s; });
  auto behind = std::exchange(members[2], std::nullopt);
  regroup(members);
  expect_sums(members);
  for (int i = 0; i < 2; ++i) {
    const auto done = behind->barrier();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Error::Code::membership_ended);
    EXPECT_THAT(done.error().message, HasSubstr("membership 2 was agreed on without rank 2"));
    EXPECT_THAT(done.error().message, HasSubstr("TRIBUTARY_MEMBERSHIP=join"));
    EXPECT_THAT(done.error().message, Not(HasSubstr("call regroup() for the next one")));
  }
  const auto next = behind->regroup();
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().code, Error::Code::membership_ended);
  EXPECT_THAT(next.error().message, HasSubstr("membership 2 was agreed on without rank 2"));
  const auto done = behind->barrier();
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("membership 2 was agreed on without rank 2"));
  behind.reset();
  expect_sums(members);
}

TEST_F(SecretElasticWorlds, TurnAwayStrangers) {
  auto members = found(2);
  for (const auto* secret : {"", "guessed"}) {
    auto options = options_to_join(2);
    options.secret = secret;
    const auto stranger = Communicator::create(options);
    ASSERT_FALSE(stranger);
    EXPECT_EQ(stranger.error().code, Error::Code::rendezvous);
    EXPECT_THAT(stranger.error().message, HasSubstr("TRIBUTARY_SECRET"));
  }
  EXPECT_EQ(members[0]->membership().waiting, 0u);
  EXPECT_THAT(said(), HasSubstr("turned away from 127.0.0.1"));
  // Who knows it is taken in.
  members.resize(3);
  {
    const auto thread = joining(2, members[2]);
    await_waiting(*members[0], 1);
    run_ranks(2, [&](std::uint32_t rank) { members[rank] = created(members[rank]->regroup()); });
  }
  expect_sums(members);
}

TEST_F(ElasticWorlds, TurnAwayWhoHasOtherOptions) {
  auto members = found(2);
  auto options = options_to_join(2);
  options.algorithm = "ring";
  const auto made = Communicator::create(options);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Error::Code::rendezvous);
  EXPECT_THAT(made.error().message, HasSubstr("differ in the algorithm"));
  expect_sums(members);
}

// What all have alike may depend on how many there are, which a newcomer does not know.
TEST_F(ElasticWorlds, LetInWhoHasTheSameShareOfAWorldOfAnotherSize) {
  const auto group = next_multicast_group();
  const auto share = [&](CommunicatorOptions& options) {
    options.algorithm = "panama";
    options.job = 1;
    options.set("trees", group).set("share", "0.5");
  };
  auto members = found(3, share);
  auto options = options_to_join(3);
  share(options);
  options.join_timeout = 200ms;
  const auto made = Communicator::create(options);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("nobody has taken in who waits"));
  options.set("trees", next_multicast_group());
  const auto other = Communicator::create(options);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("differ in TRIBUTARY_TREES"));
}

TEST_F(ElasticWorlds, GoOnWithoutAKeeperUntilTheyRegroup) {
  auto members = found(2);
  stop_keeper();
  keeper_ = *Keeper::at({wire::Ipv4Address(127, 0, 0, 1), 0}, "", [](const std::string&) {});
  expect_sums(members);
  const auto next = members[0]->regroup();
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().code, Error::Code::rendezvous);
  EXPECT_THAT(next.error().message, HasSubstr("the connection with the keeper"));
}

TEST_F(ElasticWorlds, SayWhenNobodyTakesInWhoWaits) {
  auto members = found(1);
  auto options = options_to_join(1);
  options.join_timeout = 100ms;
  const auto made = Communicator::create(options);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Error::Code::timeout);
  EXPECT_THAT(made.error().message, HasSubstr("TRIBUTARY_JOIN_TIMEOUT"));
}

TEST_F(ElasticWorlds, SayWhenThereIsNoKeeper) {
  auto options = options_of(1, 2);
  options.deadline = 1s;
  options.rendezvous = "127.0.0.1:" + std::to_string(next_ports());
  const auto made = Communicator::create(options);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("no keeper of memberships listens at 127.0.0.1"));
}

// All that the process may have, as long as this exists.
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

TEST_F(ElasticWorlds, AreNoneOfFixedRanks) {
  auto options = options_on_loopback(0, 1, next_ports());
  auto fixed = Communicator::create(options);
  ASSERT_TRUE(fixed);
  EXPECT_EQ(fixed->membership().epoch, 0u);
  const auto next = fixed->regroup();
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().code, Error::Code::invalid_argument);
  EXPECT_THAT(next.error().message, HasSubstr("TRIBUTARY_MEMBERSHIP=elastic"));
  EXPECT_TRUE(fixed->barrier());

  // And those do not come to a keeper.
  auto lost = options_on_loopback(1, 2, keeper_.place().port);
  lost.deadline = 2s;
  const auto made = Communicator::create(lost);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("a keeper of memberships"));
}

TEST_F(ElasticWorlds, AreNotForMachinesThatAreSharedNorForQueues) {
  ParallelOptions parallel;
  parallel.communicator = options_of(0, 1);
  parallel.local_world_size = 1;
  const auto made = ParallelCommunicator::create(parallel);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("TRIBUTARY_MEMBERSHIP"));
  auto members = found(1);
  const auto queue = CollectiveQueue::create(std::move(*members[0]));
  ASSERT_FALSE(queue);
  EXPECT_THAT(queue.error().message, HasSubstr("TRIBUTARY_MEMBERSHIP"));
}

}  // namespace
}  // namespace tributary::host::test
