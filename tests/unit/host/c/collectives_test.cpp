// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/c/tributary.h"
#include "world.h"

namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t world = 3;
constexpr std::int32_t of_all = 6;  // 1 + 2 + 3

std::int32_t own(const tributary_comm* comm) {
  return static_cast<std::int32_t>(tributary_comm_rank(comm)) + 1;
}

TEST(CCollectives, AnAllreduceIsTheSumOnAllRanks) {
  run_c_world(world, [](tributary_comm* comm) {
    const std::vector<std::int32_t> in(5000, own(comm));
    std::vector<std::int32_t> out(in.size());
    ASSERT_EQ(
        tributary_allreduce(comm, in.data(), out.data(), in.size(), TRIBUTARY_I32, TRIBUTARY_SUM),
        TRIBUTARY_SUCCESS)
        << tributary_last_error();
    EXPECT_EQ(out, std::vector<std::int32_t>(in.size(), of_all));
    EXPECT_STREQ(tributary_comm_algorithm(comm), "ring");
    EXPECT_EQ(tributary_comm_size(comm), world);
  });
}

TEST(CCollectives, AReductionIsTheRootsAlone) {
  run_c_world(world, [](tributary_comm* comm) {
    std::vector<std::int32_t> values(100, own(comm));
    const bool is_root = tributary_comm_rank(comm) == 2;
    auto* const out = is_root ? values.data() : nullptr;
    ASSERT_EQ(
        tributary_reduce(comm, values.data(), out, values.size(), TRIBUTARY_I32, TRIBUTARY_SUM, 2),
        TRIBUTARY_SUCCESS)
        << tributary_last_error();
    EXPECT_EQ(values.back(), is_root ? of_all : own(comm));
    ASSERT_EQ(tributary_broadcast(comm, values.data(), values.size(), TRIBUTARY_I32, 2),
              TRIBUTARY_SUCCESS);
    EXPECT_EQ(values.front(), of_all);
    EXPECT_EQ(tributary_barrier(comm), TRIBUTARY_SUCCESS);
  });
}

TEST(CCollectives, AnAllgatherHasEachRanksPartAtItsPlace) {
  run_c_world(world, [](tributary_comm* comm) {
    // The buffer has an odd size and is full of other values.
    const std::vector<std::int8_t> in(7, static_cast<std::int8_t>(own(comm)));
    std::vector<std::int8_t> out(7 * world, -1);
    ASSERT_EQ(tributary_allgather(comm, in.data(), out.data(), in.size(), TRIBUTARY_I8),
              TRIBUTARY_SUCCESS)
        << tributary_last_error();
    for (std::size_t i = 0; i < out.size(); ++i) {
      ASSERT_EQ(out[i], static_cast<std::int8_t>(i / 7 + 1));
    }
    std::vector<double> places(world, -0.0);
    places[tributary_comm_rank(comm)] = std::numeric_limits<double>::quiet_NaN();
    ASSERT_EQ(tributary_allgather(comm, &places[tributary_comm_rank(comm)], places.data(), 1,
                                  TRIBUTARY_F64),
              TRIBUTARY_SUCCESS);
    EXPECT_TRUE(std::ranges::all_of(places, [](double value) { return value != value; }));
  });
}

TEST(CCollectives, AReduceScatterGivesEachRankItsPart) {
  run_c_world(world, [](tributary_comm* comm) {
    std::vector<std::int64_t> in(4 * world);
    std::iota(in.begin(), in.end(), 0);
    std::vector<std::int64_t> out(4);
    ASSERT_EQ(
        tributary_reduce_scatter(comm, in.data(), out.data(), 4, TRIBUTARY_I64, TRIBUTARY_SUM),
        TRIBUTARY_SUCCESS)
        << tributary_last_error();
    for (std::size_t i = 0; i < out.size(); ++i) {
      EXPECT_EQ(out[i], static_cast<std::int64_t>(world * (tributary_comm_rank(comm) * 4 + i)));
    }
    ASSERT_EQ(tributary_reduce_scatter(comm, in.data(), in.data(), 4, TRIBUTARY_I64, TRIBUTARY_SUM),
              TRIBUTARY_SUCCESS);
    EXPECT_TRUE(std::equal(out.begin(), out.end(), in.begin()));
  });
}

TEST(CCollectives, ManyAreInFlightWhileTheCallerComputes) {
  run_c_world(world, [](tributary_comm* comm) {
    constexpr std::size_t many = 100;
    std::vector<std::vector<float>> vectors(many, std::vector<float>(1000, 1));
    std::vector<tributary_request*> requests(many);
    for (std::size_t i = 0; i < many; ++i) {
      auto& vector = vectors[i];
      ASSERT_EQ(tributary_iallreduce(comm, vector.data(), vector.data(), vector.size(),
                                     TRIBUTARY_F32, TRIBUTARY_SUM, &requests[i]),
                TRIBUTARY_SUCCESS);
    }
    // A blocking call comes after the posted ones.
    float last = 1;
    ASSERT_EQ(tributary_allreduce(comm, &last, &last, 1, TRIBUTARY_F32, TRIBUTARY_SUM),
              TRIBUTARY_SUCCESS);
    for (std::size_t i = 0; i < many; ++i) {
      ASSERT_EQ(tributary_wait(&requests[i]), TRIBUTARY_SUCCESS);
      ASSERT_EQ(requests[i], nullptr);
      ASSERT_EQ(vectors[i], std::vector<float>(1000, world));
    }
  });
}

TEST(CCollectives, EveryCollectiveCanBePosted) {
  run_c_world(world, [](tributary_comm* comm) {
    const auto rank = tributary_comm_rank(comm);
    std::int32_t sum = own(comm);
    std::int32_t told = rank == 1 ? 17 : 0;
    std::vector<std::int32_t> gathered(world);
    std::vector<std::int32_t> parts(world, own(comm));
    std::int32_t part = 0;
    std::vector<tributary_request*> requests(5);
    EXPECT_EQ(tributary_ireduce(comm, &sum, &sum, 1, TRIBUTARY_I32, TRIBUTARY_SUM, 0, &requests[0]),
              TRIBUTARY_SUCCESS);
    EXPECT_EQ(tributary_ibroadcast(comm, &told, 1, TRIBUTARY_I32, 1, &requests[1]),
              TRIBUTARY_SUCCESS);
    const auto mine = own(comm);
    EXPECT_EQ(tributary_iallgather(comm, &mine, gathered.data(), 1, TRIBUTARY_I32, &requests[2]),
              TRIBUTARY_SUCCESS);
    EXPECT_EQ(tributary_ireduce_scatter(comm, parts.data(), &part, 1, TRIBUTARY_I32, TRIBUTARY_SUM,
                                        &requests[3]),
              TRIBUTARY_SUCCESS);
    EXPECT_EQ(tributary_ibarrier(comm, &requests[4]), TRIBUTARY_SUCCESS);
    for (auto& request : requests) {
      ASSERT_EQ(tributary_wait_for(&request, std::numeric_limits<std::uint64_t>::max()),
                TRIBUTARY_SUCCESS)
          << tributary_last_error();
    }
    EXPECT_EQ(sum, rank == 0 ? of_all : mine);
    EXPECT_EQ(told, 17);
    EXPECT_EQ(gathered, (std::vector<std::int32_t>{1, 2, 3}));
    EXPECT_EQ(part, of_all);
  });
}

TEST(CCollectives, ARequestCanBeLookedAt) {
  std::atomic<bool> come = false;
  run_c_world(2, [&](tributary_comm* comm) {
    std::int32_t value = 1;
    tributary_request* request = nullptr;
    if (tributary_comm_rank(comm) == 1) {
      while (!come) {
        std::this_thread::sleep_for(1ms);
      }
    }
    ASSERT_EQ(tributary_iallreduce(comm, &value, &value, 1, TRIBUTARY_I32, TRIBUTARY_SUM, &request),
              TRIBUTARY_SUCCESS);
    if (tributary_comm_rank(comm) == 0) {
      EXPECT_EQ(tributary_test(&request), TRIBUTARY_IN_PROGRESS);
      EXPECT_EQ(tributary_wait_for(&request, 1'000'000), TRIBUTARY_IN_PROGRESS);
      EXPECT_NE(request, nullptr);
      come = true;
    }
    EXPECT_EQ(tributary_wait(&request), TRIBUTARY_SUCCESS);
    EXPECT_EQ(value, 2);
    EXPECT_EQ(tributary_test(&request), TRIBUTARY_SUCCESS) << "there is none any more";
  });
}

TEST(CCollectives, AGroupTravelsAsOne) {
  run_c_world(world, [](tributary_comm* comm) {
    std::vector<float> floats(40);
    std::iota(floats.begin(), floats.end(), 0.0f);
    std::vector<std::int32_t> parts(world, own(comm));
    std::vector<tributary_request*> requests(41);
    ASSERT_EQ(tributary_group_begin(comm), TRIBUTARY_SUCCESS);
    for (std::size_t i = 0; i < 40; ++i) {
      ASSERT_EQ(tributary_iallreduce(comm, &floats[i], &floats[i], 1, TRIBUTARY_F32, TRIBUTARY_SUM,
                                     &requests[i]),
                TRIBUTARY_SUCCESS);
    }
    ASSERT_EQ(tributary_ireduce_scatter(comm, parts.data(), parts.data(), 1, TRIBUTARY_I32,
                                        TRIBUTARY_SUM, &requests[40]),
              TRIBUTARY_SUCCESS);
    ASSERT_EQ(tributary_group_end(comm), TRIBUTARY_SUCCESS);
    for (auto& request : requests) {
      ASSERT_EQ(tributary_wait(&request), TRIBUTARY_SUCCESS) << tributary_last_error();
    }
    for (std::size_t i = 0; i < 40; ++i) {
      EXPECT_EQ(floats[i], static_cast<float>(world * i));
    }
    EXPECT_EQ(parts[0], of_all);
    std::uint64_t fused = 0;
    ASSERT_EQ(tributary_comm_statistic(comm, "collectives_fused", &fused), TRIBUTARY_SUCCESS);
    EXPECT_EQ(fused, 40u);
    std::uint64_t calls = 0;
    ASSERT_EQ(tributary_comm_statistic(comm, "collectives_by_ring", &calls), TRIBUTARY_SUCCESS);
    EXPECT_EQ(calls, 2u);
    EXPECT_EQ(tributary_comm_statistic(comm, "plan", &calls), TRIBUTARY_INVALID_ARGUMENT);
  });
}

TEST(CCollectives, AGroupHasItsRules) {
  run_c_world(2, [](tributary_comm* comm) {
    EXPECT_EQ(tributary_group_end(comm), TRIBUTARY_INVALID_ARGUMENT);
    ASSERT_EQ(tributary_group_begin(comm), TRIBUTARY_SUCCESS);
    EXPECT_EQ(tributary_group_begin(comm), TRIBUTARY_INVALID_ARGUMENT);
    EXPECT_EQ(tributary_barrier(comm), TRIBUTARY_INVALID_ARGUMENT);
    EXPECT_NE(std::string(tributary_last_error()).find("end the group"), std::string::npos);
    EXPECT_EQ(tributary_group_end(comm), TRIBUTARY_SUCCESS);
    EXPECT_EQ(tributary_barrier(comm), TRIBUTARY_SUCCESS);
  });
}

TEST(CCollectives, AGroupThatDoesNotEndEndsWithItsCommunicator) {
  run_c_world(2, [](tributary_comm* comm) {
    tributary_request* request = nullptr;
    tributary_comm* part = nullptr;
    ASSERT_EQ(tributary_comm_split(comm, 0, 0, &part), TRIBUTARY_SUCCESS);
    ASSERT_EQ(tributary_group_begin(part), TRIBUTARY_SUCCESS);
    ASSERT_EQ(tributary_ibarrier(part, &request), TRIBUTARY_SUCCESS);
    tributary_comm_destroy(part);
    EXPECT_EQ(tributary_wait(&request), TRIBUTARY_ABORTED);
  });
}

TEST(CCollectives, WhatOneRankRefusesIsNoLaterOne) {
  run_c_world(2, [](tributary_comm* comm) {
    float value = 1;
    const auto op = tributary_comm_rank(comm) == 0 ? TRIBUTARY_BIT_AND : TRIBUTARY_SUM;
    EXPECT_NE(tributary_allreduce(comm, &value, &value, 1, TRIBUTARY_F32, op), TRIBUTARY_SUCCESS);
    EXPECT_NE(tributary_barrier(comm), TRIBUTARY_SUCCESS) << "over the ring that is all";
  });
}

// Nothing knows how long elements of such a type are.
TEST(CCollectives, ACallOfNoTypeIsNoLaterOneEither) {
  run_c_world(2, [](tributary_comm* comm) {
    float value = 1;
    if (tributary_comm_rank(comm) == 1) {
      for (const auto& [type, op] : {std::pair{18, int{TRIBUTARY_SUM}}, {0, 300}}) {
        EXPECT_EQ(tributary_allreduce(comm, &value, &value, 1, static_cast<tributary_type>(type),
                                      static_cast<tributary_operator>(op)),
                  TRIBUTARY_INVALID_ARGUMENT);
      }
    }
    EXPECT_NE(tributary_allreduce(comm, &value, &value, 1, TRIBUTARY_F32, TRIBUTARY_SUM),
              TRIBUTARY_SUCCESS);
  });
}

TEST(CCollectives, APostedCallOfNoTypeEndsWithTheError) {
  run_c_world(2, [](tributary_comm* comm) {
    const auto none = static_cast<tributary_type>(18);
    float value = 1;
    std::array<float, 2> all{};
    std::array<tributary_request*, 5> posted{};
    EXPECT_EQ(tributary_iallreduce(comm, &value, &value, 1, none, TRIBUTARY_SUM, &posted[0]),
              TRIBUTARY_SUCCESS);
    EXPECT_EQ(tributary_ireduce(comm, &value, &value, 1, none, TRIBUTARY_SUM, 0, &posted[1]),
              TRIBUTARY_SUCCESS);
    EXPECT_EQ(tributary_ibroadcast(comm, &value, 1, none, 0, &posted[2]), TRIBUTARY_SUCCESS);
    EXPECT_EQ(tributary_iallgather(comm, &value, all.data(), 1, none, &posted[3]),
              TRIBUTARY_SUCCESS);
    EXPECT_EQ(
        tributary_ireduce_scatter(comm, all.data(), &value, 1, none, TRIBUTARY_SUM, &posted[4]),
        TRIBUTARY_SUCCESS);
    for (auto& request : posted) {
      EXPECT_EQ(tributary_wait(&request), TRIBUTARY_INVALID_ARGUMENT);
      EXPECT_STREQ(tributary_last_error(), "there is no element type 18");
    }
    EXPECT_EQ(tributary_barrier(comm), TRIBUTARY_SUCCESS) << "all ranks counted them";
  });
}

TEST(CCollectives, SeveralThreadsShareOne) {
  run_c_world(2, [](tributary_comm* comm) {
    // All calls are alike, so that their order does not matter.
    run_ranks(4, [comm](std::uint32_t) {
      for (int i = 0; i < 20; ++i) {
        std::int32_t value = 1;
        ASSERT_EQ(tributary_allreduce(comm, &value, &value, 1, TRIBUTARY_I32, TRIBUTARY_SUM),
                  TRIBUTARY_SUCCESS);
        ASSERT_EQ(value, 2);
      }
    });
  });
}

TEST(CCollectives, WhatMakesNoSenseIsRefused) {
  run_c_world(2, [](tributary_comm* comm) {
    float value = 1;
    const auto refused = [&](void* buffer, int type, int op) {
      return tributary_allreduce(comm, buffer, buffer, 1, static_cast<tributary_type>(type),
                                 static_cast<tributary_operator>(op));
    };
    EXPECT_EQ(refused(&value, TRIBUTARY_F32, TRIBUTARY_BIT_AND), TRIBUTARY_INVALID_ARGUMENT);
    EXPECT_EQ(refused(&value, 18, TRIBUTARY_SUM), TRIBUTARY_INVALID_ARGUMENT);
    EXPECT_EQ(refused(&value, 31, TRIBUTARY_SUM), TRIBUTARY_INVALID_ARGUMENT);
    EXPECT_EQ(refused(&value, TRIBUTARY_F32, 20), TRIBUTARY_INVALID_ARGUMENT);
    EXPECT_EQ(refused(nullptr, TRIBUTARY_F32, TRIBUTARY_SUM), TRIBUTARY_INVALID_ARGUMENT);
    EXPECT_STREQ(tributary_last_error(), "null buffer");
    EXPECT_EQ(tributary_broadcast(comm, &value, 1, TRIBUTARY_F32, 2), TRIBUTARY_INVALID_ARGUMENT);
    EXPECT_EQ(tributary_allgather(comm, &value, &value, std::numeric_limits<std::size_t>::max(),
                                  TRIBUTARY_F32),
              TRIBUTARY_INVALID_ARGUMENT);
    EXPECT_EQ(tributary_allreduce(comm, nullptr, nullptr, 0, TRIBUTARY_F32, TRIBUTARY_SUM),
              TRIBUTARY_SUCCESS)
        << "an empty vector";
    // A call that is refused on all ranks leaves them in step.
    EXPECT_EQ(tributary_allreduce(comm, &value, &value, 1, TRIBUTARY_F32, TRIBUTARY_SUM),
              TRIBUTARY_SUCCESS);
    EXPECT_EQ(value, 2);
  });
  EXPECT_EQ(tributary_barrier(nullptr), TRIBUTARY_INVALID_ARGUMENT);
}

TEST(CCollectives, AnAbortEndsWhatIsOutstanding) {
  run_c_world(2, [](tributary_comm* comm) {
    std::int32_t value = 1;
    if (tributary_comm_rank(comm) == 1) {
      // The neighbour in the ring notices the end of the other rank, without a deadline.
      EXPECT_NE(tributary_allreduce(comm, &value, &value, 1, TRIBUTARY_I32, TRIBUTARY_SUM),
                TRIBUTARY_SUCCESS);
      return;
    }
    std::vector<tributary_request*> requests(3);
    tributary_comm_abort(comm);
    for (auto& request : requests) {
      ASSERT_EQ(tributary_ibarrier(comm, &request), TRIBUTARY_SUCCESS);
    }
    for (auto& request : requests) {
      EXPECT_EQ(tributary_wait(&request), TRIBUTARY_ABORTED);
    }
    EXPECT_STREQ(tributary_result_name(TRIBUTARY_ABORTED), "TRIBUTARY_ABORTED");
  });
}

TEST(CCollectives, AnAbortEndsWhatIsWaitedFor) {
  std::atomic<bool> over = false;
  run_c_world(2, [&](tributary_comm* comm) {
    if (tributary_comm_rank(comm) == 1) {
      over.wait(false);  // is there, but not in it
      return;
    }
    std::jthread other([comm] {
      std::this_thread::sleep_for(50ms);
      tributary_comm_abort(comm);
    });
    std::int32_t value = 1;
    EXPECT_EQ(tributary_allreduce(comm, &value, &value, 1, TRIBUTARY_I32, TRIBUTARY_SUM),
              TRIBUTARY_ABORTED);
    over = true;
    over.notify_all();
  });
}

TEST(CCollectives, AForkedProcessHasNone) {
  run_c_world(1, [](tributary_comm* comm) {
    const auto child = ::fork();
    if (child == 0) {
      const auto result = tributary_barrier(comm);
      tributary_comm_destroy(comm);
      ::_exit(result == TRIBUTARY_INVALID_ARGUMENT ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(tributary_barrier(comm), TRIBUTARY_SUCCESS);
  });
}

}  // namespace
}  // namespace tributary::host::test
