// SPDX-License-Identifier: BSD-3-Clause
#include "host/parallel/machine_collectives.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <latch>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "../c/world.h"
#include "../values.h"
#include "host/parallel/slabs.h"

// Through the interface for C, whose ranks meet by an allgather. Each machine is an address of the
// loopback interface: ranks that were given the same one share a machine.
namespace tributary::host::test {
namespace {

using wire::ElementType;
using wire::Operator;

// The machine of each rank.
using Placement = std::vector<int>;

// The lines that ranks were told.
struct ToldLines {
  std::mutex mutex;
  std::vector<std::string> lines;

  static void add(void* context, const char* line) {
    auto& self = *static_cast<ToldLines*>(context);
    const std::lock_guard lock(self.mutex);
    self.lines.emplace_back(line);
  }
};

using ChangeOptions = std::function<void(std::uint32_t, tributary_options*)>;
using RankBody = std::function<void(std::uint32_t, tributary_comm*)>;

COptions sharing_options(int machine, ToldLines& notices) {
  auto options = c_options(static_cast<std::uint32_t>(machine));
  EXPECT_EQ(tributary_options_share_machine(options.get()), TRIBUTARY_SUCCESS);
  tributary_options_on_notice(options.get(), ToldLines::add, &notices);
  return options;
}

// Returns what ranks are told. A rank that gets no communicator has null instead.
std::vector<std::string> run_machines(const Placement& layout, const RankBody& body,
                                      const ChangeOptions& change = {}) {
  const auto ranks = static_cast<std::uint32_t>(layout.size());
  Gatherers meeting(ranks);
  ToldLines notices;
  run_ranks(ranks, [&](std::uint32_t rank) {
    Gatherers::Seat seat{&meeting, rank};
    const auto options = sharing_options(layout[rank], notices);
    if (change) {
      change(rank, options.get());
    }
    tributary_comm* comm = nullptr;
    (void)tributary_comm_create_with(&comm, options.get(), rank, ranks, Gatherers::allgather,
                                     &seat);
    const CComm owner(comm);
    body(rank, comm);
  });
  return notices.lines;
}

class Machines : public testing::TestWithParam<Placement> {
 protected:
  static std::uint32_t world() { return static_cast<std::uint32_t>(GetParam().size()); }
  static void run(const RankBody& body) {
    run_machines(GetParam(), [&](std::uint32_t rank, tributary_comm* comm) {
      ASSERT_NE(comm, nullptr) << tributary_last_error();
      EXPECT_EQ(tributary_comm_rank(comm), rank);
      EXPECT_EQ(tributary_comm_size(comm), world());
      body(rank, comm);
    });
  }
};
INSTANTIATE_TEST_SUITE_P(Placements, Machines,
                         testing::Values(Placement{0, 0, 0}, Placement{0, 0, 1, 1},
                                         Placement{0, 1, 1, 2, 2, 2}, Placement{1, 0, 1, 0, 2}));

tributary_type c_type(ElementType type) {
  return static_cast<tributary_type>(type);
}
tributary_operator c_operator(Operator op) {
  return static_cast<tributary_operator>(op);
}

TEST_P(Machines, ReduceEveryTypeExactly) {
  run([](std::uint32_t rank, tributary_comm* comm) {
    for (const auto& [type, op] : {std::pair{ElementType::f32, Operator::sum},
                                   {ElementType::bf16, Operator::sum},
                                   {ElementType::i8, Operator::bit_xor},
                                   {ElementType::i64, Operator::prod},
                                   {ElementType::f64, Operator::min},
                                   {ElementType::i32, Operator::logical_and},
                                   {ElementType::f64_i32, Operator::maxloc}}) {
      // Lengths are smaller than the number of ranks of a machine, odd, and longer than the shared
      // memory holds.
      const std::size_t longest = type == ElementType::i64 ? 600001 : 10007;
      for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{5}, longest}) {
        auto in = input(rank, count, type, op);
        Elements out(in.size());
        ASSERT_EQ(
            tributary_allreduce(comm, in.data(), out.data(), count, c_type(type), c_operator(op)),
            TRIBUTARY_SUCCESS)
            << tributary_last_error();
        ASSERT_EQ(wrong_elements(out, world(), count, type, op), 0u) << count;
        ASSERT_EQ(
            tributary_allreduce(comm, in.data(), in.data(), count, c_type(type), c_operator(op)),
            TRIBUTARY_SUCCESS);
        ASSERT_EQ(wrong_elements(in, world(), count, type, op), 0u) << count << " in place";
      }
    }
  });
}

TEST_P(Machines, ReduceToEachRankAndBroadcastFromIt) {
  run([](std::uint32_t rank, tributary_comm* comm) {
    constexpr std::size_t count = 5001;
    const auto in = input(rank, count, ElementType::i32, Operator::sum);
    for (std::uint32_t root = 0; root < world(); ++root) {
      Elements out(in.size(), std::byte{0x55});
      const auto before = out;
      ASSERT_EQ(tributary_reduce(comm, in.data(), rank == root ? out.data() : nullptr, count,
                                 TRIBUTARY_I32, TRIBUTARY_SUM, root),
                TRIBUTARY_SUCCESS)
          << tributary_last_error();
      ASSERT_EQ(
          tributary_reduce(comm, in.data(), out.data(), count, TRIBUTARY_I32, TRIBUTARY_SUM, root),
          TRIBUTARY_SUCCESS);
      if (rank == root) {
        ASSERT_EQ(wrong_elements(out, world(), count, ElementType::i32, Operator::sum), 0u);
      } else {
        ASSERT_EQ(out, before) << "is the root's alone";
      }
      ASSERT_EQ(tributary_broadcast(comm, out.data(), count, TRIBUTARY_I32, root),
                TRIBUTARY_SUCCESS);
      ASSERT_EQ(wrong_elements(out, world(), count, ElementType::i32, Operator::sum), 0u) << root;
    }
  });
}

TEST_P(Machines, GatherAndScatterAndWait) {
  run([](std::uint32_t rank, tributary_comm* comm) {
    std::vector<std::int32_t> all(world());
    const auto mine = static_cast<std::int32_t>(rank * rank);
    ASSERT_EQ(tributary_allgather(comm, &mine, all.data(), 1, TRIBUTARY_I32), TRIBUTARY_SUCCESS);
    for (std::uint32_t other = 0; other < world(); ++other) {
      ASSERT_EQ(all[other], static_cast<std::int32_t>(other * other));
    }
    std::int32_t part = 0;
    ASSERT_EQ(tributary_reduce_scatter(comm, all.data(), &part, 1, TRIBUTARY_I32, TRIBUTARY_SUM),
              TRIBUTARY_SUCCESS);
    EXPECT_EQ(part, static_cast<std::int32_t>(world() * rank * rank));
    EXPECT_EQ(tributary_barrier(comm), TRIBUTARY_SUCCESS);
  });
}

TEST_P(Machines, HaveSeveralInFlight) {
  run([](std::uint32_t rank, tributary_comm* comm) {
    constexpr std::size_t count = 3000;
    std::array<std::vector<std::int64_t>, 5> vectors;
    std::array<tributary_request*, 5> requests{};
    for (std::size_t i = 0; i < vectors.size(); ++i) {
      vectors[i].assign(count, static_cast<std::int64_t>(rank + i));
      ASSERT_EQ(tributary_iallreduce(comm, vectors[i].data(), vectors[i].data(), count,
                                     TRIBUTARY_I64, TRIBUTARY_MAX, &requests[i]),
                TRIBUTARY_SUCCESS);
    }
    for (std::size_t i = vectors.size(); i-- > 0;) {
      ASSERT_EQ(tributary_wait(&requests[i]), TRIBUTARY_SUCCESS) << tributary_last_error();
      const auto most = static_cast<std::int64_t>(world() - 1 + i);
      EXPECT_EQ(vectors[i], std::vector<std::int64_t>(count, most));
    }
  });
}

TEST_P(Machines, PartsShareThemToo) {
  run([](std::uint32_t rank, tributary_comm* comm) {
    tributary_comm* part = nullptr;
    ASSERT_EQ(tributary_comm_split(comm, rank == 0 ? -1 : 1, -std::int64_t{rank}, &part),
              TRIBUTARY_SUCCESS)
        << tributary_last_error();
    const CComm owner(part);
    if (rank == 0) {
      return;
    }
    std::int32_t value = static_cast<std::int32_t>(rank);
    ASSERT_EQ(tributary_allreduce(part, &value, &value, 1, TRIBUTARY_I32, TRIBUTARY_SUM),
              TRIBUTARY_SUCCESS)
        << tributary_last_error();
    EXPECT_EQ(value, static_cast<std::int32_t>(world() * (world() - 1) / 2));
  });
}

// All have the same bits, as each rank has its own rounding and all of them the sum.
TEST_P(Machines, AddSketches) {
  std::mutex mutex;
  std::vector<std::vector<float>> sums;
  run([&](std::uint32_t rank, tributary_comm* comm) {
    constexpr std::size_t count = 1000;
    std::vector<float> vector(count);
    for (std::size_t i = 0; i < count; ++i) {
      vector[i] = static_cast<float>(i % 17) + static_cast<float>(rank);
    }
    tributary_sketch_options options = TRIBUTARY_SKETCH_DEFAULTS;
    options.bits = 16;
    options.rounding = TRIBUTARY_ROUND_NEAREST;
    tributary_sketch* sketch = nullptr;
    ASSERT_EQ(tributary_sketch_create(&sketch, count, &options), TRIBUTARY_SUCCESS);
    EXPECT_EQ(tributary_sketched_allreduce(comm, vector.data(), vector.data(), count, sketch),
              TRIBUTARY_SUCCESS)
        << tributary_last_error();
    tributary_sketch_destroy(sketch);
    const auto ranks = static_cast<float>(world());
    EXPECT_NEAR(vector[5], 5 * ranks + ranks * (ranks - 1) / 2, 0.1);
    const std::lock_guard lock(mutex);
    sums.push_back(vector);
  });
  ASSERT_EQ(sums.size(), world());
  for (const auto& sum : sums) {
    EXPECT_EQ(sum, sums.front());
  }
}

bool has_line(const std::vector<std::string>& lines, const std::string& text) {
  return std::ranges::any_of(
      lines, [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

const RankBody meets = [](std::uint32_t, tributary_comm* comm) {
  ASSERT_NE(comm, nullptr) << tributary_last_error();
  EXPECT_EQ(tributary_barrier(comm), TRIBUTARY_SUCCESS) << tributary_last_error();
};

TEST(MachineCollectives, OneRankOfEachMachineIsOnTheNetwork) {
  const auto lines = run_machines({0, 0, 1, 1}, meets);
  EXPECT_TRUE(has_line(lines, ", 2 ranks: ring")) << lines.size();
  EXPECT_TRUE(has_line(lines, "[4 ranks on 2 machines]"));
  EXPECT_TRUE(has_line(run_machines({0, 0, 0}, meets), "3 ranks on one machine"));
}

TEST(MachineCollectives, AreNotThereUnlessAllWantThem) {
  // Sums must be the same wherever ranks are.
  const auto lines = run_machines({0, 0, 1}, meets, [](std::uint32_t, auto* options) {
    tributary_options_set(options, "TRIBUTARY_REPRODUCIBLE", "1");
  });
  EXPECT_TRUE(has_line(lines, ", 3 ranks: ring"));
  EXPECT_FALSE(has_line(lines, "machines]"));
  // A rank does not share unless it was asked to.
  Gatherers meeting(2);
  ToldLines notices;
  run_ranks(2, [&](std::uint32_t rank) {
    Gatherers::Seat seat{&meeting, rank};
    auto options = rank == 0 ? sharing_options(0, notices) : c_options(0);
    tributary_comm* comm = nullptr;
    ASSERT_EQ(
        tributary_comm_create_with(&comm, options.get(), rank, 2, Gatherers::allgather, &seat),
        TRIBUTARY_SUCCESS)
        << tributary_last_error();
    const CComm owner(comm);
    meets(rank, comm);
  });
  EXPECT_TRUE(has_line(notices.lines, ", 2 ranks: ring"));
}

TEST(MachineCollectives, ARankThatIsNotReadyIsToldToAll) {
  run_machines(
      {0, 0, 1, 1},
      [](std::uint32_t, tributary_comm* comm) {
        EXPECT_EQ(comm, nullptr);
        EXPECT_NE(std::string(tributary_last_error()).find("/nowhere/timeline"), std::string::npos)
            << tributary_last_error();
      },
      [](std::uint32_t rank, auto* options) {
        if (rank == 3) {
          tributary_options_set(options, "TRIBUTARY_TIMELINE", "/nowhere/timeline");
        }
      });
}

TEST(MachineCollectives, ARankThatRefusesACallHasThoseBesideItFail) {
  run_machines({0, 0, 0}, [](std::uint32_t rank, tributary_comm* comm) {
    std::vector<float> vector(8);
    auto* const data = rank == 1 ? nullptr : vector.data();
    const auto done =
        tributary_allreduce(comm, data, data, vector.size(), TRIBUTARY_F32, TRIBUTARY_SUM);
    EXPECT_EQ(done, rank == 1 ? TRIBUTARY_INVALID_ARGUMENT : TRIBUTARY_MISMATCH);
    if (rank != 1) {
      EXPECT_NE(std::string(tributary_last_error()).find("rank 1, of this machine"),
                std::string::npos)
          << tributary_last_error();
    }
    meets(rank, comm);
  });
}

void barrier(std::uint32_t, tributary_comm* comm) {
  ASSERT_NE(comm, nullptr) << tributary_last_error();
  EXPECT_EQ(tributary_barrier(comm), TRIBUTARY_SUCCESS) << tributary_last_error();
}

// What is said at the end of ranks that do this.
std::vector<std::string> said_in_the_end(const Placement& layout, const RankBody& body = barrier) {
  return run_machines(layout, body, [](std::uint32_t, tributary_options* options) {
    tributary_options_set(options, "TRIBUTARY_REPORT", "on");
    tributary_options_set(options, "TRIBUTARY_LOG", "info");
  });
}

std::ptrdiff_t count_with(const std::vector<std::string>& lines, const std::string& text) {
  return std::ranges::count_if(
      lines, [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

TEST(MachineCollectives, TheReportNamesWhoCameLast) {
  for (const auto& layout : {Placement{0, 0, 1, 1}, Placement{0, 0, 0}}) {
    EXPECT_EQ(count_with(said_in_the_end(layout), " came last: rank "), 1);
  }
}

TEST(MachineCollectives, OnOneMachineTheEndSaysThatMemoryCarriedAll) {
  const auto lines = said_in_the_end({0, 0, 0});
  EXPECT_EQ(count_with(lines, ": 1 collective in the memory of the machine"), 3);
  EXPECT_EQ(count_with(lines, "rank 2 of 3: ended after "), 1);
}

TEST(MachineCollectives, TheEndCountsCallsAndNotTheirPieces) {
  const auto lines = said_in_the_end({0, 0, 1, 1}, [](std::uint32_t rank, tributary_comm* comm) {
    ASSERT_NE(comm, nullptr) << tributary_last_error();
    std::vector<float> vector(3 * slab_bytes / sizeof(float), static_cast<float>(rank));
    EXPECT_EQ(tributary_allreduce(comm, vector.data(), vector.data(), vector.size(), TRIBUTARY_F32,
                                  TRIBUTARY_SUM),
              TRIBUTARY_SUCCESS)
        << tributary_last_error();
  });
  // The report's own sum of times is not counted either.
  EXPECT_EQ(count_with(lines, ": 1 collective by the ring of the hosts"), 2);
}

const ChangeOptions with_a_long_limit = [](std::uint32_t, tributary_options* options) {
  tributary_options_set(options, "TRIBUTARY_DEADLINE", "300s");
};

// No rank waits for the time limit, which is longer than that of the test.
TEST(MachineCollectives, ARankThatHasGoneIsNoticedAtOnce) {
  run_machines(
      {0, 0, 0},
      [](std::uint32_t rank, tributary_comm* comm) {
        if (rank == 1) {
          return;
        }
        EXPECT_EQ(tributary_barrier(comm), TRIBUTARY_NETWORK);
        EXPECT_NE(std::string(tributary_last_error()).find("rank 1, of this machine"),
                  std::string::npos)
            << tributary_last_error();
        EXPECT_EQ(tributary_barrier(comm), TRIBUTARY_NETWORK) << "and nothing comes after it";
      },
      with_a_long_limit);
}

// The other machine is patient with ranks that are late, but not with one that is gone, though the
// rank beside that one goes on.
TEST(MachineCollectives, ARankThatHasGoneIsNotTakenForLateByOtherMachines) {
  std::latch failed(3);
  run_machines(
      {0, 0, 1, 1},
      [&](std::uint32_t rank, tributary_comm* comm) {
        if (rank != 1) {
          EXPECT_NE(tributary_barrier(comm), TRIBUTARY_SUCCESS);
          failed.arrive_and_wait();
        }
      },
      [](std::uint32_t rank, tributary_options* options) {
        with_a_long_limit(rank, options);
        tributary_options_set(options, "TRIBUTARY_STALL_TIMEOUT", "2s");
        tributary_options_set(options, "TRIBUTARY_LATE_TIMEOUT", "300s");
      });
}

TEST(MachineCollectives, AnAbortEndsWhatOthersOfTheMachineWaitFor) {
  run_machines(
      {0, 0, 0},
      [](std::uint32_t rank, tributary_comm* comm) {
        if (rank == 2) {
          tributary_comm_abort(comm);
        }
        const auto done = tributary_barrier(comm);
        EXPECT_EQ(done, rank == 2 ? TRIBUTARY_ABORTED : TRIBUTARY_NETWORK);
      },
      with_a_long_limit);
}

// The first rank of a machine gives up waiting for another machine; the other ranks of the machine
// have no limit.
TEST(MachineCollectives, WhatFailsBetweenTheMachinesFailsOnAllOfThem) {
  constexpr std::uint64_t limit_ns = 3'000'000'000;
  std::latch failed(2);
  run_machines(
      {0, 0, 1},
      [&](std::uint32_t rank, tributary_comm* comm) {
        if (rank == 2) {
          return failed.wait();
        }
        std::int32_t value = 1;
        tributary_request* request = nullptr;
        EXPECT_EQ(
            tributary_iallreduce(comm, &value, &value, 1, TRIBUTARY_I32, TRIBUTARY_SUM, &request),
            TRIBUTARY_SUCCESS);
        EXPECT_EQ(tributary_request_deadline(request, limit_ns), TRIBUTARY_SUCCESS);
        EXPECT_EQ(tributary_wait(&request), TRIBUTARY_TIMEOUT);
        const std::string why = tributary_last_error();
        EXPECT_NE(why.find("rank 0 stands for ranks 0, 1, rank 1 stands for rank 2"),
                  std::string::npos)
            << why;
        failed.count_down();
      },
      with_a_long_limit);
}

TEST(MachineCollectives, HandlersAreRefused) {
  ASSERT_EQ(tributary_handler_load(61, "acc = acc + in;", TRIBUTARY_I32), TRIBUTARY_SUCCESS)
      << tributary_last_error();
  run_machines({0, 0, 1}, [](std::uint32_t rank, tributary_comm* comm) {
    std::int32_t value = 1;
    const auto op = static_cast<tributary_operator>(TRIBUTARY_HANDLER + 61);
    EXPECT_EQ(tributary_allreduce(comm, &value, &value, 1, TRIBUTARY_I32, op),
              TRIBUTARY_INVALID_ARGUMENT);
    meets(rank, comm);
  });
}

TEST(MachineCollectives, NeedAnAllgatherToMeetBy) {
  const auto options = c_options(0);
  EXPECT_EQ(tributary_options_share_machine(nullptr), TRIBUTARY_INVALID_ARGUMENT);
  tributary_options_share_machine(options.get());
  for (const auto& [name, value] : {std::pair{"RANK", "0"},
                                    {"WORLD_SIZE", "1"},
                                    {"MASTER_ADDR", "127.0.0.1"},
                                    {"MASTER_PORT", "29500"}}) {
    tributary_options_set(options.get(), name, value);
  }
  tributary_comm* comm = nullptr;
  EXPECT_EQ(tributary_comm_create(&comm, options.get()), TRIBUTARY_INVALID_ARGUMENT);
  EXPECT_NE(std::string(tributary_last_error()).find("allgather"), std::string::npos);
}

}  // namespace
}  // namespace tributary::host::test
