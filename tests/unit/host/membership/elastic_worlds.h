// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "../loopback.h"
#include "host/communicator.h"
#include "host/membership/keeper.h"

// Runs elastic worlds on real sockets of the loopback interface, with a keeper in a thread.
namespace tributary::host::test {

using namespace std::chrono_literals;

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

  // Returns the options of process number `process`, each of which has an address of its own.
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
  // Regroups all present members at once.
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

  // Expects that the sum over all present members is exact on all of them.
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

}  // namespace tributary::host::test
