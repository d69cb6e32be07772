// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/c/tributary.h"
#include "host/membership/keeper.h"
#include "world.h"

namespace tributary::host::test {
namespace {

using testing::HasSubstr;

class ElasticWorldsOfC : public testing::Test {
 protected:
  ~ElasticWorldsOfC() override { stops_ = true; }

  CComm create(std::uint32_t process, const std::string& membership, std::uint32_t world_size) {
    const auto options = c_options(process);
    const auto set = [&](const char* name, const std::string& value) {
      tributary_options_set(options.get(), name, value.c_str());
    };
    set("MASTER_ADDR", "127.0.0.1");
    set("MASTER_PORT", std::to_string(keeper_.place().port));
    set("TRIBUTARY_MEMBERSHIP", membership);
    if (membership == "elastic") {
      set("RANK", std::to_string(process));
      set("WORLD_SIZE", std::to_string(world_size));
    }
    tributary_comm* comm = nullptr;
    EXPECT_EQ(tributary_comm_create(&comm, options.get()), TRIBUTARY_SUCCESS)
        << tributary_last_error();
    return CComm(comm);
  }
  static void expect_sum(tributary_comm* comm, std::uint32_t ranks) {
    ASSERT_EQ(tributary_comm_size(comm), ranks);
    const auto mine = static_cast<std::int32_t>(tributary_comm_rank(comm) + 1);
    std::vector<std::int32_t> values(1000, mine);
    ASSERT_EQ(tributary_allreduce(comm, values.data(), values.data(), values.size(), TRIBUTARY_I32,
                                  TRIBUTARY_SUM),
              TRIBUTARY_SUCCESS)
        << tributary_last_error();
    EXPECT_EQ(values,
              std::vector<std::int32_t>(1000, static_cast<std::int32_t>(ranks * (ranks + 1) / 2)));
  }

  std::atomic<bool> stops_ = false;
  Keeper keeper_ = *Keeper::at({wire::Ipv4Address(127, 0, 0, 1), 0}, "", [](const auto&) {});
  std::jthread serving_{[this] { keeper_.serve([this] { return stops_.load(); }); }};
};

TEST_F(ElasticWorldsOfC, RegroupWithANewcomer) {
  run_ranks(3, [&](std::uint32_t process) {
    auto comm = create(process, process < 2 ? "elastic" : "join", 2);
    if (process < 2) {
      expect_sum(comm.get(), 2);
      tributary_request* late = nullptr;
      tributary_comm* next = nullptr;
      ASSERT_EQ(tributary_comm_regroup(comm.get(), 3, &next), TRIBUTARY_SUCCESS)
          << tributary_last_error();
      EXPECT_EQ(tributary_ibarrier(comm.get(), &late), TRIBUTARY_SUCCESS);
      EXPECT_EQ(tributary_wait(&late), TRIBUTARY_MEMBERSHIP_ENDED);
      EXPECT_THAT(tributary_last_error(), HasSubstr("membership 1 has ended"));
      EXPECT_STREQ(tributary_result_name(TRIBUTARY_MEMBERSHIP_ENDED), "TRIBUTARY_MEMBERSHIP_ENDED");
      tributary_membership old{};
      EXPECT_EQ(tributary_comm_membership(comm.get(), &old), TRIBUTARY_SUCCESS);
      EXPECT_EQ(old.epoch, 1u);
      EXPECT_NE(old.ended, 0);
      comm.reset(next);
    }
    expect_sum(comm.get(), 3);
    tributary_membership membership{};
    EXPECT_EQ(tributary_comm_membership(comm.get(), &membership), TRIBUTARY_SUCCESS);
    EXPECT_EQ(membership.epoch, 2u);
    EXPECT_EQ(membership.newcomers, 1u);
    EXPECT_EQ(membership.ended, 0);
    // A part of it stays as it is.
    tributary_comm* part = nullptr;
    ASSERT_EQ(tributary_comm_split(comm.get(), 0, 0, &part), TRIBUTARY_SUCCESS)
        << tributary_last_error();
    const CComm owner(part);
    expect_sum(part, 3);
    EXPECT_EQ(tributary_comm_membership(part, &membership), TRIBUTARY_SUCCESS);
    EXPECT_EQ(membership.epoch, 0u);
    tributary_comm* none = nullptr;
    EXPECT_EQ(tributary_comm_regroup(part, 0, &none), TRIBUTARY_INVALID_ARGUMENT);
    EXPECT_EQ(none, nullptr);
  });
}

// The end of a member must not be the reason.
TEST_F(ElasticWorldsOfC, EndRequestsThatAreLateAtOnce) {
  constexpr int requests = 20;
  const auto comm = create(0, "elastic", 1);
  std::vector<tributary_request*> late(requests);
  ASSERT_EQ(tributary_group_begin(comm.get()), TRIBUTARY_SUCCESS);
  for (auto& request : late) {
    ASSERT_EQ(tributary_ibarrier(comm.get(), &request), TRIBUTARY_SUCCESS);
    ASSERT_EQ(tributary_request_deadline(request, 0), TRIBUTARY_SUCCESS);
  }
  const auto began = std::chrono::steady_clock::now();
  ASSERT_EQ(tributary_group_end(comm.get()), TRIBUTARY_SUCCESS);
  for (auto& request : late) {
    EXPECT_EQ(tributary_wait(&request), TRIBUTARY_TIMEOUT) << tributary_last_error();
  }
  expect_sum(comm.get(), 1);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(3));
}

TEST_F(ElasticWorldsOfC, RefuseWhatIsNotThere) {
  tributary_comm* next = nullptr;
  EXPECT_EQ(tributary_comm_regroup(nullptr, 0, &next), TRIBUTARY_INVALID_ARGUMENT);
  EXPECT_EQ(tributary_comm_regroup(nullptr, 0, nullptr), TRIBUTARY_INVALID_ARGUMENT);
  EXPECT_EQ(tributary_comm_membership(nullptr, nullptr), TRIBUTARY_INVALID_ARGUMENT);
  const auto options = c_options(0);
  tributary_options_set(options.get(), "TRIBUTARY_MEMBERSHIP", "elastic");
  Gatherers meeting(1);
  Gatherers::Seat seat{&meeting, 0};
  EXPECT_EQ(tributary_comm_create_with(&next, options.get(), 0, 1, Gatherers::allgather, &seat),
            TRIBUTARY_INVALID_ARGUMENT);
  EXPECT_THAT(tributary_last_error(), HasSubstr("TRIBUTARY_MEMBERSHIP"));
}

}  // namespace
}  // namespace tributary::host::test
