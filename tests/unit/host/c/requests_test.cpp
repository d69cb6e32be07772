// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <latch>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "host/c/tributary.h"
#include "world.h"

namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t soon_ns = 50'000'000;
constexpr std::uint64_t late_ns = 8'000'000'000;  // before the deadline of these communicators

bool error_says(const std::string& text) {
  return std::string(tributary_last_error()).find(text) != std::string::npos;
}

tributary_request* post_sum(tributary_comm* comm, std::int32_t& value) {
  tributary_request* request = nullptr;
  EXPECT_EQ(tributary_iallreduce(comm, &value, &value, 1, TRIBUTARY_I32, TRIBUTARY_SUM, &request),
            TRIBUTARY_SUCCESS);
  return request;
}

tributary_result sum_up(tributary_comm* comm, std::int32_t& value) {
  return tributary_allreduce(comm, &value, &value, 1, TRIBUTARY_I32, TRIBUTARY_SUM);
}

void use_canary(tributary_options* options) {
  tributary_options_set(options, "TRIBUTARY_ALGORITHM", "canary");
}

TEST(CRequestDeadlines, NameWhatIsMissingAndEndTheRing) {
  std::atomic<bool> given_up = false;
  run_c_world(2, [&](tributary_comm* comm) {
    std::int32_t value = 1;
    // The vector is so long that each rank needs the other one's progress.
    std::vector<std::int32_t> values(10'000, 1);
    if (tributary_comm_rank(comm) == 1) {
      given_up.wait(false);
      EXPECT_NE(tributary_allreduce(comm, values.data(), values.data(), values.size(),
                                    TRIBUTARY_I32, TRIBUTARY_SUM),
                TRIBUTARY_SUCCESS)
          << "the other one is gone";
      return;
    }
    tributary_request* request = nullptr;
    ASSERT_EQ(tributary_iallreduce(comm, values.data(), values.data(), values.size(), TRIBUTARY_I32,
                                   TRIBUTARY_SUM, &request),
              TRIBUTARY_SUCCESS);
    ASSERT_EQ(tributary_request_deadline(request, soon_ns), TRIBUTARY_SUCCESS);
    const auto began = std::chrono::steady_clock::now();
    EXPECT_EQ(tributary_wait(&request), TRIBUTARY_TIMEOUT);
    EXPECT_LT(std::chrono::steady_clock::now() - began, 5s) << "not by the communicator's";
    EXPECT_TRUE(error_says("by the deadline of its request")) << tributary_last_error();
    EXPECT_TRUE(error_says("rank 1")) << tributary_last_error();
    EXPECT_EQ(sum_up(comm, value), TRIBUTARY_NETWORK);
    EXPECT_TRUE(error_says("broken since an earlier error")) << tributary_last_error();
    given_up = true;
    given_up.notify_all();
  });
}

TEST(CRequestDeadlines, ThatAreNotMetCostNothing) {
  run_c_world(2, [](tributary_comm* comm) {
    for (int i = 0; i < 20; ++i) {
      std::int32_t value = i;
      auto* request = post_sum(comm, value);
      ASSERT_EQ(tributary_request_deadline(request, late_ns), TRIBUTARY_SUCCESS);
      ASSERT_EQ(tributary_wait(&request), TRIBUTARY_SUCCESS) << tributary_last_error();
      ASSERT_EQ(value, 2 * i);
    }
    std::int32_t last = 1;
    auto* request = post_sum(comm, last);
    ASSERT_EQ(tributary_request_deadline(request, late_ns / 8), TRIBUTARY_SUCCESS);
    ASSERT_EQ(tributary_wait(&request), TRIBUTARY_SUCCESS) << tributary_last_error();
    std::this_thread::sleep_for(std::chrono::nanoseconds(late_ns / 8));
    EXPECT_EQ(sum_up(comm, last), TRIBUTARY_SUCCESS) << "it is not a later one's";
    EXPECT_EQ(last, 4);
  });
}

// Each rank gives up the call by itself. Over Canary each collective has a number of its own, so
// later ones succeed.
TEST(CRequestDeadlines, LeaveLaterCollectivesOverCanaryAlone) {
  std::atomic<bool> given_up = false;
  run_c_world(
      2,
      [&](tributary_comm* comm) {
        std::int32_t value = 100;
        auto* request = static_cast<tributary_request*>(nullptr);
        if (tributary_comm_rank(comm) == 1) {
          given_up.wait(false);
        }
        request = post_sum(comm, value);
        ASSERT_EQ(tributary_request_deadline(request, soon_ns), TRIBUTARY_SUCCESS);
        EXPECT_EQ(tributary_wait(&request), TRIBUTARY_TIMEOUT);
        given_up = true;
        given_up.notify_all();
        for (std::int32_t i = 0; i < 3; ++i) {
          std::int32_t next = i;
          ASSERT_EQ(sum_up(comm, next), TRIBUTARY_SUCCESS) << tributary_last_error();
          ASSERT_EQ(next, 2 * i);
        }
      },
      use_canary);
}

TEST(CRequestDeadlines, BeforeItsTurnABarrierCountsOverCanary) {
  run_c_world(
      2,
      [](tributary_comm* comm) {
        tributary_request* request = nullptr;
        ASSERT_EQ(tributary_group_begin(comm), TRIBUTARY_SUCCESS);
        ASSERT_EQ(tributary_ibarrier(comm, &request), TRIBUTARY_SUCCESS);
        const bool begins = tributary_comm_rank(comm) == 1;
        ASSERT_EQ(tributary_request_deadline(request, begins ? soon_ns : 0), TRIBUTARY_SUCCESS);
        ASSERT_EQ(tributary_group_end(comm), TRIBUTARY_SUCCESS);
        EXPECT_EQ(tributary_wait(&request), TRIBUTARY_TIMEOUT);
        std::int32_t next = 3;
        EXPECT_EQ(sum_up(comm, next), TRIBUTARY_SUCCESS) << tributary_last_error();
        EXPECT_EQ(next, 6);
      },
      use_canary);
}

// Whichever collective a rank gives up, sums are right or fail.
TEST(CRequestDeadlines, NeverMakeAWrongSum) {
  constexpr std::uint32_t ranks = 3;
  std::atomic<int> succeeded = 0;
  std::atomic<int> failed = 0;
  std::barrier<> together(ranks);
  run_c_world(
      ranks,
      [&](tributary_comm* comm) {
        const auto rank = static_cast<std::int32_t>(tributary_comm_rank(comm));
        std::mt19937 random(static_cast<unsigned>(rank));
        for (std::int32_t i = 0; i < 60; ++i) {
          if (i % 10 == 0) {
            together.arrive_and_wait();  // or one would be ahead of the others for good
          }
          std::vector<std::int32_t> values(2000, (i + 1) * (rank + 1));
          tributary_request* request = nullptr;
          EXPECT_EQ(tributary_iallreduce(comm, values.data(), values.data(), values.size(),
                                         TRIBUTARY_I32, TRIBUTARY_SUM, &request),
                    TRIBUTARY_SUCCESS);
          const bool hurries = random() % 10 == 0;
          EXPECT_EQ(tributary_request_deadline(request, hurries ? random() % 300'000 : 100'000'000),
                    TRIBUTARY_SUCCESS);
          const auto result = tributary_wait(&request);
          if (result == TRIBUTARY_SUCCESS) {
            EXPECT_EQ(values, std::vector<std::int32_t>(values.size(), (i + 1) * 6));
          }
          ++(result == TRIBUTARY_SUCCESS ? succeeded : failed);
        }
      },
      use_canary);
  EXPECT_GT(succeeded, 0);
  EXPECT_GT(failed, 0);
}

TEST(CRequestDeadlines, EndWhatWaitsForItsTurnAtOnce) {
  std::atomic<bool> given_up = false;
  run_c_world(2, [&](tributary_comm* comm) {
    const auto other = static_cast<std::int32_t>(tributary_comm_rank(comm)) + 1;
    std::int32_t first = other;
    std::int32_t second = 7;
    std::array<std::int32_t, 2> gathered{-1, -1};
    if (tributary_comm_rank(comm) == 1) {
      given_up.wait(false);
    }
    std::array<tributary_request*, 4> requests{};
    // The group has nothing begin before its deadline is set.
    ASSERT_EQ(tributary_group_begin(comm), TRIBUTARY_SUCCESS);
    ASSERT_EQ(
        tributary_ireduce(comm, &first, &first, 1, TRIBUTARY_I32, TRIBUTARY_SUM, 0, &requests[0]),
        TRIBUTARY_SUCCESS);
    requests[1] = post_sum(comm, second);
    ASSERT_EQ(tributary_ibarrier(comm, &requests[2]), TRIBUTARY_SUCCESS);
    ASSERT_EQ(tributary_iallgather(comm, &other, gathered.data(), 1, TRIBUTARY_I32, &requests[3]),
              TRIBUTARY_SUCCESS);
    for (const auto place : {1u, 2u, 3u}) {
      ASSERT_EQ(tributary_request_deadline(requests[place], 0), TRIBUTARY_SUCCESS);
    }
    ASSERT_EQ(tributary_group_end(comm), TRIBUTARY_SUCCESS);
    for (const auto place : {1u, 2u, 3u}) {
      EXPECT_EQ(tributary_wait(&requests[place]), TRIBUTARY_TIMEOUT);
    }
    if (tributary_comm_rank(comm) == 0) {
      EXPECT_EQ(tributary_test(&requests[0]), TRIBUTARY_IN_PROGRESS) << "that one is not concerned";
      second = 8;  // their memory is the caller's again
      gathered.fill(8);
      given_up = true;
      given_up.notify_all();
    }
    EXPECT_EQ(tributary_wait(&requests[0]), TRIBUTARY_SUCCESS) << tributary_last_error();
    EXPECT_EQ(first, tributary_comm_rank(comm) == 0 ? 3 : 2);
    // All ranks gave them up, so that they are in step.
    std::int32_t last = 1;
    EXPECT_EQ(sum_up(comm, last), TRIBUTARY_SUCCESS) << tributary_last_error();
    EXPECT_EQ(last, 2);
    EXPECT_EQ(second, tributary_comm_rank(comm) == 0 ? 8 : 7);
    EXPECT_EQ(gathered[1], tributary_comm_rank(comm) == 0 ? 8 : -1);
  });
}

TEST(CRequestDeadlines, GivenUpByOneRankBeforeItsTurnIsNoLaterOne) {
  run_c_world(2, [](tributary_comm* comm) {
    std::int32_t value = 5;
    ASSERT_EQ(tributary_group_begin(comm), TRIBUTARY_SUCCESS);
    auto* request = post_sum(comm, value);
    if (tributary_comm_rank(comm) == 0) {
      ASSERT_EQ(tributary_request_deadline(request, 0), TRIBUTARY_SUCCESS);
    }
    ASSERT_EQ(tributary_group_end(comm), TRIBUTARY_SUCCESS);
    std::int32_t next = 70;
    const auto later = sum_up(comm, next);
    EXPECT_NE(tributary_wait(&request), TRIBUTARY_SUCCESS);
    EXPECT_NE(later, TRIBUTARY_SUCCESS) << "over the ring that is all";
  });
}

// The collective before it is the last one, for whose result the others may still ask.
TEST(CRequestDeadlines, WhatWasNeverBegunHasNoRankLeaveBeforeTheOthers) {
  constexpr std::uint32_t ranks = 3;
  std::atomic<std::uint32_t> arrived = 0;
  const auto give_up_a_barrier = [&](tributary_comm* comm) {
    std::int32_t value = 1;
    EXPECT_EQ(sum_up(comm, value), TRIBUTARY_SUCCESS) << tributary_last_error();
    tributary_request* request = nullptr;
    ASSERT_EQ(tributary_group_begin(comm), TRIBUTARY_SUCCESS);
    ASSERT_EQ(tributary_ibarrier(comm, &request), TRIBUTARY_SUCCESS);
    ASSERT_EQ(tributary_request_deadline(request, 0), TRIBUTARY_SUCCESS);
    ASSERT_EQ(tributary_group_end(comm), TRIBUTARY_SUCCESS);
    EXPECT_EQ(tributary_wait(&request), TRIBUTARY_TIMEOUT);
    std::this_thread::sleep_for(tributary_comm_rank(comm) * 200ms);
    ++arrived;
  };
  run_c_world(ranks, give_up_a_barrier, use_canary, [&] { EXPECT_EQ(arrived.load(), ranks); });
}

TEST(CRequestDeadlines, OfOneAreThoseOfAllThatTravelWithIt) {
  run_c_world(2, [](tributary_comm* comm) {
    std::array<std::int32_t, 3> values{1, 2, 3};
    std::array<tributary_request*, 3> requests{};
    ASSERT_EQ(tributary_group_begin(comm), TRIBUTARY_SUCCESS);
    for (std::size_t i = 0; i < values.size(); ++i) {
      requests[i] = post_sum(comm, values[i]);
    }
    ASSERT_EQ(tributary_request_deadline(requests[1], 0), TRIBUTARY_SUCCESS);
    ASSERT_EQ(tributary_group_end(comm), TRIBUTARY_SUCCESS);
    for (auto& request : requests) {
      EXPECT_EQ(tributary_wait(&request), TRIBUTARY_TIMEOUT) << tributary_last_error();
    }
    EXPECT_EQ(values, (std::array<std::int32_t, 3>{1, 2, 3}));
    EXPECT_EQ(sum_up(comm, values[0]), TRIBUTARY_SUCCESS) << "all ranks gave it up";
  });
}

TEST(CRequestDeadlines, EndAGroupThatNobodyEnds) {
  run_c_world(1, [](tributary_comm* comm) {
    tributary_request* request = nullptr;
    ASSERT_EQ(tributary_group_begin(comm), TRIBUTARY_SUCCESS);
    ASSERT_EQ(tributary_ibarrier(comm, &request), TRIBUTARY_SUCCESS);
    ASSERT_EQ(tributary_request_deadline(request, soon_ns), TRIBUTARY_SUCCESS);
    EXPECT_EQ(tributary_wait(&request), TRIBUTARY_TIMEOUT);
    ASSERT_EQ(tributary_group_end(comm), TRIBUTARY_SUCCESS);
    EXPECT_EQ(tributary_barrier(comm), TRIBUTARY_SUCCESS);
  });
  EXPECT_EQ(tributary_request_deadline(nullptr, 1), TRIBUTARY_INVALID_ARGUMENT);
}

TEST(CWaitAny, ReturnsTheOneThatEnds) {
  std::atomic<bool> come = false;
  run_c_world(2, [&](tributary_comm* comm) {
    tributary_comm* part = nullptr;
    ASSERT_EQ(tributary_comm_split(comm, 0, 0, &part), TRIBUTARY_SUCCESS);
    const CComm owner(part);
    std::int32_t one = 1;
    std::int32_t other = 10;
    if (tributary_comm_rank(comm) == 1) {
      ASSERT_EQ(sum_up(part, other), TRIBUTARY_SUCCESS);
      come.wait(false);
      ASSERT_EQ(sum_up(comm, one), TRIBUTARY_SUCCESS);
      return;
    }
    std::array<tributary_request*, 3> requests{post_sum(comm, one), nullptr, post_sum(part, other)};
    std::size_t index = 99;
    ASSERT_EQ(tributary_wait_any(requests.data(), requests.size(), &index), TRIBUTARY_SUCCESS);
    EXPECT_EQ(index, 2u);
    EXPECT_EQ(other, 20);
    EXPECT_EQ(requests[2], nullptr);
    EXPECT_EQ(tributary_wait_any_for(requests.data(), requests.size(), &index, 1'000'000),
              TRIBUTARY_IN_PROGRESS);
    EXPECT_EQ(index, requests.size());
    EXPECT_NE(requests[0], nullptr);
    come = true;
    come.notify_all();
    ASSERT_EQ(tributary_wait_any(requests.data(), requests.size(), &index), TRIBUTARY_SUCCESS);
    EXPECT_EQ(index, 0u);
    EXPECT_EQ(one, 2);
    EXPECT_EQ(tributary_wait_any(requests.data(), requests.size(), &index), TRIBUTARY_SUCCESS);
    EXPECT_EQ(index, requests.size()) << "there is none any more";
  });
}

TEST(CWaitAny, EndsWhatIsGivenUpBeforeItsTurn) {
  run_c_world(1, [](tributary_comm* comm) {
    std::array<tributary_request*, 2> requests{};
    ASSERT_EQ(tributary_group_begin(comm), TRIBUTARY_SUCCESS);
    for (auto& request : requests) {
      ASSERT_EQ(tributary_ibarrier(comm, &request), TRIBUTARY_SUCCESS);
    }
    ASSERT_EQ(tributary_request_deadline(requests[1], soon_ns), TRIBUTARY_SUCCESS);
    std::size_t index = 99;
    EXPECT_EQ(tributary_wait_any(requests.data(), requests.size(), &index), TRIBUTARY_TIMEOUT);
    EXPECT_EQ(index, 1u);
    ASSERT_EQ(tributary_group_end(comm), TRIBUTARY_SUCCESS);
    EXPECT_EQ(tributary_wait(&requests[0]), TRIBUTARY_SUCCESS);
  });
}

TEST(CWaitAny, HasItsRules) {
  std::size_t index = 99;
  EXPECT_EQ(tributary_wait_any(nullptr, 0, &index), TRIBUTARY_SUCCESS);
  EXPECT_EQ(index, 0u);
  EXPECT_EQ(tributary_wait_any(nullptr, 1, &index), TRIBUTARY_INVALID_ARGUMENT);
  EXPECT_EQ(tributary_wait_any(nullptr, 0, nullptr), TRIBUTARY_INVALID_ARGUMENT);
}

// The arguments of a completion's call.
struct Heard {
  std::atomic<int> times = 0;
  tributary_result result = TRIBUTARY_IN_PROGRESS;
  std::string reason;
  std::thread::id by;

  static void take(void* context, tributary_result result) {
    auto& heard = *static_cast<Heard*>(context);
    heard.result = result;
    heard.reason = tributary_last_error();
    heard.by = std::this_thread::get_id();
    ++heard.times;
    heard.times.notify_all();
  }
};

TEST(CCompletions, AreToldOnceByTheLibrarysThread) {
  std::latch posted(2);
  run_c_world(2, [&](tributary_comm* comm) {
    std::int32_t value = 1;
    Heard heard;
    Heard instead;
    if (tributary_comm_rank(comm) == 1) {
      posted.arrive_and_wait();
    }
    auto* request = post_sum(comm, value);
    if (tributary_comm_rank(comm) == 0) {
      ASSERT_EQ(tributary_request_on_completion(request, Heard::take, &instead), TRIBUTARY_SUCCESS);
      ASSERT_EQ(tributary_request_on_completion(request, Heard::take, &heard), TRIBUTARY_SUCCESS);
      posted.arrive_and_wait();
      tributary_request_free(&request);  // it is told all the same
      heard.times.wait(0);
      EXPECT_EQ(heard.result, TRIBUTARY_SUCCESS);
      EXPECT_EQ(value, 2);
      EXPECT_NE(heard.by, std::this_thread::get_id());
      EXPECT_EQ(instead.times, 0);
    } else {
      ASSERT_EQ(tributary_wait(&request), TRIBUTARY_SUCCESS);
    }
    EXPECT_EQ(tributary_barrier(comm), TRIBUTARY_SUCCESS);
    EXPECT_LE(heard.times, 1);
  });
}

TEST(CCompletions, ComeAtOnceWhereItIsOver) {
  run_c_world(1, [](tributary_comm* comm) {
    tributary_request* request = nullptr;
    ASSERT_EQ(tributary_ibarrier(comm, &request), TRIBUTARY_SUCCESS);
    ASSERT_EQ(tributary_barrier(comm), TRIBUTARY_SUCCESS) << "behind it";
    Heard heard;
    ASSERT_EQ(tributary_request_on_completion(request, Heard::take, &heard), TRIBUTARY_SUCCESS);
    EXPECT_EQ(heard.times, 1);
    EXPECT_EQ(heard.by, std::this_thread::get_id());
    EXPECT_EQ(tributary_wait(&request), TRIBUTARY_SUCCESS);
  });
  EXPECT_EQ(tributary_request_on_completion(nullptr, Heard::take, nullptr),
            TRIBUTARY_INVALID_ARGUMENT);
}

TEST(CCompletions, SayWhyItFailed) {
  run_c_world(1, [](tributary_comm* comm) {
    Heard heard;
    tributary_request* request = nullptr;
    ASSERT_EQ(tributary_group_begin(comm), TRIBUTARY_SUCCESS);
    ASSERT_EQ(tributary_ibarrier(comm, &request), TRIBUTARY_SUCCESS);
    ASSERT_EQ(tributary_request_on_completion(request, Heard::take, &heard), TRIBUTARY_SUCCESS);
    ASSERT_EQ(tributary_request_deadline(request, 0), TRIBUTARY_SUCCESS);
    EXPECT_EQ(tributary_test(&request), TRIBUTARY_TIMEOUT);
    EXPECT_EQ(heard.result, TRIBUTARY_TIMEOUT);
    EXPECT_NE(heard.reason.find("before its turn"), std::string::npos) << heard.reason;
    ASSERT_EQ(tributary_group_end(comm), TRIBUTARY_SUCCESS);
    EXPECT_EQ(tributary_barrier(comm), TRIBUTARY_SUCCESS);
    EXPECT_EQ(heard.times, 1);
  });
}

// A chain of collectives, each of which posts the next.
struct Chain {
  tributary_comm* comm;
  std::int32_t value = 1;
  std::atomic<int> left = 5;

  static void next(void* context, tributary_result result) {
    auto& chain = *static_cast<Chain*>(context);
    ASSERT_EQ(result, TRIBUTARY_SUCCESS) << tributary_last_error();
    if (--chain.left > 0) {
      chain.post();
    }
    chain.left.notify_all();
  }
  void post() {
    auto* request = post_sum(comm, value);
    ASSERT_EQ(tributary_request_on_completion(request, next, this), TRIBUTARY_SUCCESS);
    tributary_request_free(&request);
  }
};

TEST(CCompletions, MayPost) {
  run_c_world(2, [](tributary_comm* comm) {
    Chain chain{.comm = comm};
    chain.post();
    for (int left = chain.left; left > 0; left = chain.left) {
      chain.left.wait(left);
    }
    EXPECT_EQ(chain.value, 32);
    EXPECT_EQ(tributary_barrier(comm), TRIBUTARY_SUCCESS);
  });
}

}  // namespace
}  // namespace tributary::host::test
