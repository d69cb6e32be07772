// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "../ports.h"
#include "host/c/tributary.h"
#include "host/rendezvous/bootstrap.h"
#include "world.h"

namespace tributary::host::test {
namespace {

// Expects this result and message on each rank at the rendezvous; `change` changes a rank's
// options.
void expect_refused(std::uint32_t ranks, tributary_result result, const std::string& reason,
                    const std::function<void(std::uint32_t, tributary_options*)>& change) {
  Gatherers meeting(ranks);
  run_ranks(ranks, [&](std::uint32_t rank) {
    Gatherers::Seat seat{&meeting, rank};
    const auto options = c_options(rank);
    change(rank, options.get());
    tributary_comm* comm = nullptr;
    const auto got =
        tributary_comm_create_with(&comm, options.get(), rank, ranks, Gatherers::allgather, &seat);
    EXPECT_TRUE(got == result || got == TRIBUTARY_INVALID_ARGUMENT) << tributary_result_name(got);
    EXPECT_EQ(comm, nullptr);
    EXPECT_NE(std::string(tributary_last_error()).find(reason), std::string::npos)
        << tributary_last_error();
  });
}

TEST(CCommunicators, OneRanksBadOptionIsToldToAll) {
  expect_refused(3, TRIBUTARY_RENDEZVOUS, "TRIBUTARY_MTU=many",
                 [](std::uint32_t rank, tributary_options* options) {
                   if (rank == 1) {
                     tributary_options_set(options, "TRIBUTARY_MTU", "many");
                   }
                 });
}

// What a rank cannot write it knows before it meets the others, who would wait for it.
TEST(CCommunicators, OneRanksMissingFolderIsToldToAll) {
  expect_refused(3, TRIBUTARY_RENDEZVOUS, "timeline",
                 [](std::uint32_t rank, tributary_options* options) {
                   tributary_options_set(options, "TRIBUTARY_DEADLINE", "300s");
                   if (rank == 1) {
                     tributary_options_set(options, "TRIBUTARY_TIMELINE", "/nonexistent/timeline");
                   }
                 });
}

TEST(CCommunicators, AVariableThatThereIsNotIsNamed) {
  expect_refused(2, TRIBUTARY_RENDEZVOUS, "TRIBUTARY_ALGORITM",
                 [](std::uint32_t rank, tributary_options* options) {
                   if (rank == 1) {
                     tributary_options_set(options, "TRIBUTARY_ALGORITM", "ring");
                   }
                 });
}

// Trees are set up for one job, so the ranks of a part cannot have them as well.
TEST(CCommunicators, OptionsOfAPartLeaveOutWhatIsSetUpForTheJob) {
  Gatherers meeting(2);
  run_ranks(2, [&](std::uint32_t rank) {
    Gatherers::Seat seat{&meeting, rank};
    const auto options = c_options(rank);
    tributary_options_set(options.get(), "TRIBUTARY_TREES", "239.192.0.1");
    tributary_options_set(options.get(), "TRIBUTARY_JOB", "77");
    ASSERT_EQ(tributary_options_for_part(options.get()), TRIBUTARY_SUCCESS);
    tributary_comm* comm = nullptr;
    ASSERT_EQ(
        tributary_comm_create_with(&comm, options.get(), rank, 2, Gatherers::allgather, &seat),
        TRIBUTARY_SUCCESS)
        << tributary_last_error();
    const CComm owner(comm);
    EXPECT_EQ(tributary_barrier(comm), TRIBUTARY_SUCCESS);
  });
  EXPECT_EQ(tributary_options_for_part(nullptr), TRIBUTARY_INVALID_ARGUMENT);
}

// The user who names an algorithm wants no other.
TEST(CCommunicators, PartsOfANamedAlgorithmDoNotMeasure) {
  const auto part_of = [](const std::string& algorithm) {
    CommunicatorOptions options;
    options.algorithm = algorithm;
    options.set("tune_time", "1s").set("trees", "239.192.0.1");
    return options_of_part(options);
  };
  const auto of_panama = part_of("panama");
  EXPECT_EQ(of_panama.algorithm, "auto");
  EXPECT_EQ(of_panama.parameters, (Parameters{{"tune", "off"}, {"tune_time", "1s"}}));
  for (const auto* algorithm : {"auto", "canary", "ring"}) {
    const auto part = part_of(algorithm);
    EXPECT_EQ(part.algorithm, algorithm);
    EXPECT_EQ(part.parameters, (Parameters{{"tune_time", "1s"}}));
  }
}

TEST(CCommunicators, RanksThatDifferAreTold) {
  expect_refused(
      2, TRIBUTARY_RENDEZVOUS, "rank 1", [](std::uint32_t rank, tributary_options* options) {
        tributary_options_set(options, "TRIBUTARY_ALGORITHM", rank == 0 ? "ring" : "canary");
      });
}

TEST(CCommunicators, AnInterfaceThatIsNotThereIsNamed) {
  expect_refused(2, TRIBUTARY_RENDEZVOUS, "eth77",
                 [](std::uint32_t rank, tributary_options* options) {
                   if (rank == 1) {
                     tributary_options_set(options, "TRIBUTARY_LOCAL_ADDRESS", nullptr);
                     tributary_options_set(options, "TRIBUTARY_INTERFACE", "eth77");
                   }
                 });
}

TEST(CCommunicators, AnAllgatherThatFailsIsAnError) {
  tributary_comm* comm = nullptr;
  const auto fails = [](void*, const void*, void*, std::size_t) { return 1; };
  EXPECT_EQ(tributary_comm_create_with(&comm, nullptr, 0, 2, fails, nullptr), TRIBUTARY_RENDEZVOUS);
  const auto works = [](void*, const void* in, void* out, std::size_t bytes) {
    std::memcpy(out, in, bytes);
    std::memcpy(static_cast<char*>(out) + bytes, in, bytes);
    return 0;
  };
  EXPECT_EQ(tributary_comm_create_with(&comm, nullptr, 2, 2, works, nullptr),
            TRIBUTARY_INVALID_ARGUMENT);
  EXPECT_EQ(tributary_comm_create_with(&comm, nullptr, 0, 0, works, nullptr),
            TRIBUTARY_INVALID_ARGUMENT);
  EXPECT_EQ(tributary_comm_create_with(&comm, nullptr, 0, 2, nullptr, nullptr),
            TRIBUTARY_INVALID_ARGUMENT);
}

TEST(CCommunicators, ARankOfAnotherVersionIsTold) {
  const auto other_version = [](void*, const void* in, void* out, std::size_t bytes) {
    std::memcpy(out, in, bytes);
    std::memset(static_cast<char*>(out) + bytes, 7, bytes);
    return 0;
  };
  tributary_comm* comm = nullptr;
  EXPECT_EQ(tributary_comm_create_with(&comm, c_options(0).get(), 0, 2, other_version, nullptr),
            TRIBUTARY_RENDEZVOUS);
  EXPECT_NE(std::string(tributary_last_error()).find("rank 1 has another version"),
            std::string::npos);
}

TEST(CCommunicators, TheEnvironmentsRanksMeet) {
  const auto port = std::to_string(next_ports());
  run_ranks(2, [&](std::uint32_t rank) {
    const auto options = c_options(rank);
    tributary_options_set(options.get(), "RANK", std::to_string(rank).c_str());
    tributary_options_set(options.get(), "WORLD_SIZE", "2");
    tributary_options_set(options.get(), "MASTER_ADDR", "127.0.0.1");
    tributary_options_set(options.get(), "MASTER_PORT", port.c_str());
    tributary_comm* comm = nullptr;
    ASSERT_EQ(tributary_comm_create(&comm, options.get()), TRIBUTARY_SUCCESS)
        << tributary_last_error();
    const CComm owner(comm);
    EXPECT_EQ(tributary_barrier(comm), TRIBUTARY_SUCCESS);
  });
}

TEST(CCommunicators, ASplitHasItsOwnRanks) {
  run_c_world(5, [](tributary_comm* comm) {
    const auto rank = tributary_comm_rank(comm);
    tributary_comm* part = nullptr;
    // Rank 4 has no part; the others come by parity, backwards.
    const std::int64_t color = rank == 4 ? -1 : static_cast<std::int64_t>(rank % 2);
    ASSERT_EQ(tributary_comm_split(comm, color, -std::int64_t{rank}, &part), TRIBUTARY_SUCCESS)
        << tributary_last_error();
    const CComm owner(part);
    if (rank == 4) {
      EXPECT_EQ(part, nullptr);
      return;
    }
    EXPECT_EQ(tributary_comm_size(part), 2u);
    EXPECT_EQ(tributary_comm_rank(part), rank < 2 ? 1u : 0u);
    std::int32_t value = static_cast<std::int32_t>(rank);
    ASSERT_EQ(tributary_allreduce(part, &value, &value, 1, TRIBUTARY_I32, TRIBUTARY_SUM),
              TRIBUTARY_SUCCESS)
        << tributary_last_error();
    EXPECT_EQ(value, rank % 2 == 0 ? 2 : 4);
  });
}

TEST(CCommunicators, AVersionAndNamesAreThere) {
  EXPECT_EQ(tributary_version(), TRIBUTARY_MAJOR * 1000 + TRIBUTARY_MINOR);
  EXPECT_STREQ(tributary_result_name(TRIBUTARY_SUCCESS), "TRIBUTARY_SUCCESS");
  EXPECT_STREQ(tributary_result_name(static_cast<tributary_result>(15)),
               "no result of libtributary");
  EXPECT_EQ(tributary_type_size(TRIBUTARY_F64_I32), 16u);
  EXPECT_EQ(tributary_type_size(static_cast<tributary_type>(31)), 0u);
  EXPECT_EQ(tributary_has_operator(TRIBUTARY_F32, TRIBUTARY_SUM), 1);
  EXPECT_EQ(tributary_has_operator(TRIBUTARY_F32, TRIBUTARY_BIT_OR), 0);
}

}  // namespace
}  // namespace tributary::host::test
