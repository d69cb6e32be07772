// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/mpi/team.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/host/c/world.h"
#include "unit/host/loopback.h"

namespace tributary::bindings {
namespace {

using host::test::Gatherers;
using host::test::run_ranks;

constexpr int ranks = 2;
constexpr std::size_t threshold = 1024;

// The ranks are threads of one process, which has one environment.
class MpiTeam : public ::testing::Test {
 protected:
  MpiTeam() {
    ::setenv("TRIBUTARY_LOCAL_ADDRESS", "127.0.0.1", 1);
    ::setenv("TRIBUTARY_ALGORITHM", "ring", 1);
    ::setenv("TRIBUTARY_DEADLINE", "10s", 1);
  }
  ~MpiTeam() override {
    for (const auto* name :
         {"TRIBUTARY_LOCAL_ADDRESS", "TRIBUTARY_ALGORITHM", "TRIBUTARY_DEADLINE"}) {
      ::unsetenv(name);
    }
  }

  static void run(const std::function<void(tributary_mpi_team&)>& body) {
    Gatherers meeting(ranks);
    run_ranks(ranks, [&](std::uint32_t rank) {
      Gatherers::Seat seat{&meeting, rank};
      tributary_mpi_team team{};
      tributary_mpi_team_begin(&team);
      std::string("a team").copy(team.name, sizeof team.name - 1);
      team.rank = static_cast<int>(rank);
      team.size = ranks;
      team.threshold = threshold;
      team.beneath = {[] {}, Gatherers::allgather, &seat};
      body(team);
      tributary_mpi_team_end(&team);
    });
  }
};

TEST_F(MpiTeam, CarriesFromTheThresholdOnAndIsCreatedThere) {
  run([](tributary_mpi_team& team) {
    EXPECT_FALSE(tributary_mpi_carries(&team, threshold - 1, true));
    EXPECT_FALSE(tributary_mpi_carries_barrier(&team));
    EXPECT_EQ(team.state, TRIBUTARY_MPI_NOT_ASKED);
    EXPECT_TRUE(tributary_mpi_carries(&team, threshold, true));
    EXPECT_EQ(team.state, TRIBUTARY_MPI_RUNS);
    EXPECT_FALSE(tributary_mpi_carries(&team, threshold - 1, true));
    EXPECT_TRUE(tributary_mpi_carries_barrier(&team));
    EXPECT_TRUE(tributary_mpi_carries(&team, threshold, false));
  });
}

TEST_F(MpiTeam, IsCreatedByTheBlockingCallThatFollowsALargeOneThatMustNotWait) {
  run([](tributary_mpi_team& team) {
    EXPECT_FALSE(tributary_mpi_carries(&team, threshold, false));
    EXPECT_EQ(team.state, TRIBUTARY_MPI_NOT_ASKED);
    EXPECT_FALSE(tributary_mpi_carries(&team, 8, true));  // creates it, and is too small
    EXPECT_EQ(team.state, TRIBUTARY_MPI_RUNS);
    EXPECT_TRUE(tributary_mpi_carries(&team, threshold, false));
  });
}

// A pair of a double and an int has a gap of four bytes behind it.
TEST_F(MpiTeam, PartsOfPairsAreWhereTheyBelong) {
  struct Pair {
    double value;
    int place;
    bool operator==(const Pair&) const = default;
  };
  run([](tributary_mpi_team& team) {
    ASSERT_TRUE(tributary_mpi_carries(&team, threshold, true));
    constexpr int count = 1000;
    std::vector<Pair> in(ranks * count);
    for (int i = 0; i < ranks * count; ++i) {
      in[static_cast<std::size_t>(i)] = {1.0 * i, i};
    }
    std::vector<Pair> out(count);
    const int counts[ranks] = {count, count};
    ASSERT_EQ(tributary_mpi_reduce_scatter(&team, in.data(), out.data(), counts, MPI_DOUBLE_INT,
                                           MPI_MINLOC),
              MPI_SUCCESS);
    EXPECT_TRUE(std::equal(out.begin(), out.end(), in.begin() + team.rank * count));
  });
}

TEST_F(MpiTeam, ARankWithoutAPartNeedsNoPlaceForIt) {
  run([](tributary_mpi_team& team) {
    ASSERT_TRUE(tributary_mpi_carries(&team, threshold, true));
    constexpr int count = 1000;
    std::vector<double> in(count, 1.0);
    std::vector<double> out(count);
    const int counts[ranks] = {count, 0};
    double* const place = team.rank == 0 ? out.data() : nullptr;
    ASSERT_EQ(tributary_mpi_reduce_scatter(&team, in.data(), place, counts, MPI_DOUBLE, MPI_SUM),
              MPI_SUCCESS);
    EXPECT_TRUE(team.rank != 0 || out == std::vector<double>(count, ranks));
  });
}

TEST_F(MpiTeam, NothingIsCarriedWithoutBytesOrOtherRanks) {
  run([](tributary_mpi_team& team) {
    team.threshold = 0;
    EXPECT_FALSE(tributary_mpi_carries(&team, 0, true));
    team.size = 1;
    EXPECT_FALSE(tributary_mpi_carries(&team, threshold, true));
    EXPECT_EQ(team.state, TRIBUTARY_MPI_NOT_ASKED);
  });
}

TEST_F(MpiTeam, WhatCannotBeCreatedIsNotTriedAgain) {
  ::setenv("TRIBUTARY_ALGORITHM", "nonsense", 1);
  run([](tributary_mpi_team& team) {
    EXPECT_FALSE(tributary_mpi_carries(&team, threshold, true));
    EXPECT_EQ(team.state, TRIBUTARY_MPI_REFUSED);
    EXPECT_FALSE(tributary_mpi_carries(&team, threshold, true));
    EXPECT_FALSE(tributary_mpi_carries_barrier(&team));
  });
}

TEST_F(MpiTeam, SaysWhatWasLeftToTheMpiLibraryIfThatIsAskedFor) {
  for (const bool asked : {true, false}) {
    ::setenv("TRIBUTARY_LOG", asked ? "info" : "warn", 1);
    ::testing::internal::CaptureStderr();
    run([](tributary_mpi_team& team) {
      EXPECT_FALSE(tributary_mpi_carries_barrier(&team));
      EXPECT_FALSE(tributary_mpi_carries_reduction(&team, threshold, MPI_UNSIGNED, MPI_MAX, true));
      EXPECT_FALSE(tributary_mpi_carries_bcast(&team, 1, MPI_INT));
      EXPECT_FALSE(tributary_mpi_carries_reduction(&team, 2, MPI_INT, MPI_SUM, true));
      EXPECT_FALSE(tributary_mpi_carries_reduction(&team, threshold, MPI_INT, MPI_SUM, false));
      EXPECT_TRUE(tributary_mpi_carries_reduction(&team, threshold, MPI_INT, MPI_SUM, true));
    });
    const auto said = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(said.find("tributary: a team: 5 calls by the MPI library itself (1: of a type or "
                        "operator that is not carried; 2: of fewer bytes than the threshold, or "
                        "too many; 2: before the communicator was created)\n") != std::string::npos,
              asked)
        << said;
  }
  ::unsetenv("TRIBUTARY_LOG");
}

TEST_F(MpiTeam, OnlyTheWorldIsTheJobThatWasSetUp) {
  ::setenv("TRIBUTARY_JOB", "77", 1);
  for (const bool is_world : {true, false}) {
    ::testing::internal::CaptureStderr();
    run([&](tributary_mpi_team& team) {
      team.is_world = is_world;
      EXPECT_TRUE(tributary_mpi_carries(&team, threshold, true));
    });
    const auto said = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(said.find("tributary: a team: job 77, 2 ranks: ring") != std::string::npos, is_world)
        << said;
  }
  ::unsetenv("TRIBUTARY_JOB");
}

// Both ranks have the address of the environment, so they are on one machine.
TEST_F(MpiTeam, RanksOfAMachineShareItIfTheyWant) {
  for (const bool share : {true, false}) {
    ::testing::internal::CaptureStderr();
    run([&](tributary_mpi_team& team) {
      team.share_machine = share;
      std::vector<int> vector(threshold, 1);
      ASSERT_TRUE(tributary_mpi_carries_reduction(&team, threshold, MPI_INT, MPI_SUM, true));
      EXPECT_EQ(
          tributary_mpi_reduce(&team, MPI_IN_PLACE, vector.data(), threshold, MPI_INT, MPI_SUM, -1),
          MPI_SUCCESS);
      EXPECT_EQ(vector, std::vector<int>(threshold, ranks));
    });
    const auto said = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(said.find("a team: 2 ranks on one machine") != std::string::npos, share) << said;
  }
}

TEST_F(MpiTeam, TypesAndCountsOfABroadcastMayDiffer) {
  run([](tributary_mpi_team& team) {
    MPI_Datatype spread = MPI_DATATYPE_NULL;
    MPI_Type_vector(500, 1, 2, MPI_INT, &spread);
    MPI_Type_commit(&spread);
    std::vector<int> vector(1000, team.rank);
    if (team.rank == 0) {
      ASSERT_TRUE(tributary_mpi_carries_bcast(&team, 1, spread));
      EXPECT_EQ(tributary_mpi_bcast(&team, vector.data(), 1, spread, 1), MPI_SUCCESS);
      EXPECT_EQ(vector[998], 1);
      EXPECT_EQ(vector[999], 0);
    } else {
      ASSERT_TRUE(tributary_mpi_carries_bcast(&team, 500, MPI_INT));
      EXPECT_EQ(tributary_mpi_bcast(&team, vector.data(), 500, MPI_INT, 1), MPI_SUCCESS);
    }
    MPI_Type_free(&spread);
  });
}

TEST_F(MpiTeam, ReducesInPlaceAndFailsWithAClassOfMpi) {
  run([](tributary_mpi_team& team) {
    std::vector<double> vector(threshold, team.rank + 1.0);
    ASSERT_TRUE(tributary_mpi_carries_reduction(&team, threshold, MPI_DOUBLE, MPI_SUM, true));
    EXPECT_EQ(tributary_mpi_reduce(&team, MPI_IN_PLACE, vector.data(), threshold, MPI_DOUBLE,
                                   MPI_SUM, -1),
              MPI_SUCCESS);
    EXPECT_EQ(vector, std::vector<double>(threshold, 3.0));
    tributary_comm_abort(team.comm);
    EXPECT_EQ(tributary_mpi_outcome(&team, "allreduce", TRIBUTARY_TIMEOUT), MPI_ERR_OTHER);
    EXPECT_EQ(tributary_mpi_barrier(&team), MPI_ERR_OTHER);
  });
}

}  // namespace
}  // namespace tributary::bindings
