// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/c/tributary.h"
#include "world.h"

namespace tributary::host::test {
namespace {

using testing::HasSubstr;

constexpr std::size_t exchanged_layers[] = {500, 3};

struct DestroyExchange {
  void operator()(tributary_gradient_exchange* exchange) const {
    tributary_gradient_exchange_destroy(exchange);
  }
};
using CExchange = std::unique_ptr<tributary_gradient_exchange, DestroyExchange>;

// A replica that adds up the sums that it gets, and records whose gradients were in them.
struct CReplica {
  std::vector<float> parameters = std::vector<float>(2, 0.0F);
  std::vector<std::uint64_t> contributors;
  std::uint64_t latest = 0;  // iteration
  int outcome = 0;           // of applying
  std::atomic<int> waits = 0;
  bool gives_up = false;  // when it waits

  static int apply(void* context, const tributary_layer_sum* sum) {
    auto& own = *static_cast<CReplica*>(context);
    EXPECT_EQ(sum->count, exchanged_layers[sum->layer]);
    EXPECT_EQ(sum->contributor_count, std::popcount(sum->contributors[0]));
    own.parameters[sum->layer] += sum->values[sum->count - 1];
    own.latest = std::max(own.latest, sum->iteration);
    own.contributors.push_back(sum->contributors[0]);
    return own.outcome;
  }
  static int on_wait(void* context) {
    auto& own = *static_cast<CReplica*>(context);
    ++own.waits;
    return own.gives_up ? 1 : 0;
  }
};

tributary_gradient_exchange_options c_exchange_options(int synchrony) {
  tributary_gradient_exchange_options options = TRIBUTARY_GRADIENT_EXCHANGE_DEFAULTS;
  options.synchrony = synchrony;
  options.staleness = 1;
  options.pause_nanoseconds = 500'000;
  return options;
}

CExchange c_exchange(tributary_comm* comm, CReplica& replica,
                     const tributary_gradient_exchange_options& options) {
  tributary_gradient_exchange* exchange = nullptr;
  EXPECT_EQ(tributary_gradient_exchange_create(&exchange, comm, exchanged_layers,
                                               std::size(exchanged_layers),
                                               replica.parameters.data(), replica.parameters.size(),
                                               CReplica::apply, &replica, &options),
            TRIBUTARY_SUCCESS)
      << tributary_last_error();
  return CExchange(exchange);
}

void c_offer_all(const CExchange& exchange, float value) {
  for (const std::size_t layer : {1u, 0u}) {
    const std::vector<float> gradient(exchanged_layers[layer], value);
    ASSERT_EQ(
        tributary_gradient_exchange_offer(exchange.get(), layer, gradient.data(), gradient.size()),
        TRIBUTARY_SUCCESS)
        << tributary_last_error();
  }
}

// Does one iteration, and returns its result.
tributary_result c_iterate(const CExchange& exchange, float value) {
  const auto entered = tributary_gradient_exchange_enter(exchange.get(), nullptr);
  if (entered != TRIBUTARY_SUCCESS) {
    return entered;
  }
  c_offer_all(exchange, value);
  int counted = 0;
  const auto finished = tributary_gradient_exchange_finish(exchange.get(), &counted);
  EXPECT_EQ(counted, finished == TRIBUTARY_SUCCESS ? 1 : 0);
  return finished;
}

std::uint64_t c_exchange_figure(const CExchange& exchange, const char* name) {
  std::uint64_t value = 0;
  EXPECT_EQ(tributary_gradient_exchange_statistic(exchange.get(), name, &value), TRIBUTARY_SUCCESS)
      << tributary_last_error();
  return value;
}

void c_barrier(tributary_comm* comm) {
  ASSERT_EQ(tributary_barrier(comm), TRIBUTARY_SUCCESS) << tributary_last_error();
}

class CExchanges : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ways, CExchanges, testing::Values(TRIBUTARY_BSP, TRIBUTARY_SSP));

TEST_P(CExchanges, SumsHaveWhoIsSaidToBeInThem) {
  run_c_world(3, [](tributary_comm* comm) {
    const auto rank = tributary_comm_rank(comm);
    CReplica own;
    const auto exchange = c_exchange(comm, own, c_exchange_options(GetParam()));
    for (int i = 0; i < 5; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(rank * 2));
      ASSERT_EQ(c_iterate(exchange, static_cast<float>(1u << rank)), TRIBUTARY_SUCCESS)
          << tributary_last_error();
    }
    ASSERT_EQ(tributary_gradient_exchange_close(exchange.get()), TRIBUTARY_SUCCESS)
        << tributary_last_error();
    EXPECT_EQ(own.parameters, std::vector<float>(2, 5 * 7));
    float sum_of_masks = 0;
    for (const auto mask : own.contributors) {
      sum_of_masks += static_cast<float>(mask);  // gradients are powers of two, as masks are
    }
    EXPECT_EQ(sum_of_masks, 2 * 5 * 7);
    if (GetParam() == TRIBUTARY_BSP) {
      EXPECT_EQ(own.contributors, std::vector<std::uint64_t>(10, 7));
    }
    EXPECT_EQ(own.latest, 4u);
    EXPECT_EQ(c_exchange_figure(exchange, "layers_contributed"), 10u);
    c_barrier(comm);  // it is the caller's again
  });
}

TEST(CExchange, SumsSketches) {
  run_c_world(2, [](tributary_comm* comm) {
    CReplica own;
    auto* made = reinterpret_cast<tributary_gradient_exchange*>(&own);
    const auto create = [&](const tributary_sketch_options* sketch) {
      return tributary_gradient_exchange_create_sketched(&made, comm, exchanged_layers, 2, nullptr,
                                                         0, CReplica::apply, &own, nullptr, sketch);
    };
    tributary_sketch_options sketch = TRIBUTARY_SKETCH_DEFAULTS;
    sketch.kind = 7;
    EXPECT_EQ(create(&sketch), TRIBUTARY_INVALID_ARGUMENT);
    EXPECT_THAT(tributary_last_error(), HasSubstr("no kind of sketches 7"));
    EXPECT_EQ(made, nullptr);
    ASSERT_EQ(create(nullptr), TRIBUTARY_SUCCESS) << tributary_last_error();
    const CExchange exchange(made);
    for (int i = 0; i < 5; ++i) {
      ASSERT_EQ(c_iterate(exchange, 1), TRIBUTARY_SUCCESS) << tributary_last_error();
    }
    ASSERT_EQ(tributary_gradient_exchange_close(exchange.get()), TRIBUTARY_SUCCESS);
    EXPECT_NEAR(own.parameters[0], 10, 0.1) << "where all are alike, a grid has each of them";
    std::uint64_t bytes = 0;
    ASSERT_EQ(tributary_comm_statistic(comm, "sketch_bytes", &bytes), TRIBUTARY_SUCCESS);
    EXPECT_GE(bytes, 5 * (500u + 3u));
    EXPECT_LT(bytes, 5 * 4 * 500u) << "that is what floats would be";
  });
}

TEST(CExchange, IsThereForRanksThatShareAMachine) {
  const auto share = [](tributary_options* options) {
    tributary_options_set(options, "TRIBUTARY_LOCAL_ADDRESS", "127.0.0.1");
    tributary_options_share_machine(options);
  };
  const auto body = [](tributary_comm* comm) {
    CReplica own;
    const auto exchange = c_exchange(comm, own, c_exchange_options(TRIBUTARY_SSP));
    for (int i = 0; i < 5; ++i) {
      ASSERT_EQ(c_iterate(exchange, 1), TRIBUTARY_SUCCESS) << tributary_last_error();
    }
    ASSERT_EQ(tributary_gradient_exchange_close(exchange.get()), TRIBUTARY_SUCCESS)
        << tributary_last_error();
    EXPECT_EQ(own.parameters, std::vector<float>(2, 5 * 3));
    c_barrier(comm);
  };
  run_c_world(3, body, share);
}

TEST(CExchange, TellsTheLatestRowsOfItsMatrix) {
  run_c_world(2, [](tributary_comm* comm) {
    CReplica own;
    const auto exchange = c_exchange(comm, own, c_exchange_options(TRIBUTARY_BSP));
    for (int i = 0; i < 5; ++i) {
      ASSERT_EQ(c_iterate(exchange, 1), TRIBUTARY_SUCCESS) << tributary_last_error();
    }
    ASSERT_EQ(tributary_gradient_exchange_close(exchange.get()), TRIBUTARY_SUCCESS);
    const auto rows_of = [&](std::size_t room) {
      std::uint64_t first = 0;
      std::vector<std::uint64_t> ranks(room * 2 * TRIBUTARY_RANK_WORDS(2));
      auto rows = room;
      EXPECT_EQ(tributary_gradient_exchange_gei(exchange.get(), &first, ranks.data(), &rows),
                TRIBUTARY_SUCCESS);
      ranks.resize(rows * 2);
      EXPECT_EQ(ranks, std::vector<std::uint64_t>(rows * 2, 3));
      return std::pair(first, rows);
    };
    EXPECT_EQ(rows_of(256), std::pair(std::uint64_t{0}, std::size_t{5}));
    EXPECT_EQ(rows_of(2), std::pair(std::uint64_t{3}, std::size_t{2}));
  });
}

TEST(CExchange, HasTheCommunicatorForItself) {
  run_c_world(2, [](tributary_comm* comm) {
    CReplica own;
    auto exchange = c_exchange(comm, own, c_exchange_options(TRIBUTARY_BSP));
    EXPECT_EQ(tributary_barrier(comm), TRIBUTARY_INVALID_ARGUMENT);
    EXPECT_THAT(tributary_last_error(), HasSubstr("belongs to an exchange"));
    tributary_request* request = nullptr;
    ASSERT_EQ(tributary_ibarrier(comm, &request), TRIBUTARY_SUCCESS);
    EXPECT_EQ(tributary_wait(&request), TRIBUTARY_INVALID_ARGUMENT);
    std::uint64_t value = 0;
    EXPECT_EQ(tributary_comm_statistic(comm, "collectives_by_ring", &value),
              TRIBUTARY_INVALID_ARGUMENT);
    tributary_gradient_exchange* second = nullptr;
    EXPECT_EQ(tributary_gradient_exchange_create(&second, comm, exchanged_layers, 2, nullptr, 0,
                                                 CReplica::apply, &own, nullptr),
              TRIBUTARY_INVALID_ARGUMENT);
    EXPECT_EQ(second, nullptr);
    EXPECT_EQ(c_iterate(exchange, 1), TRIBUTARY_SUCCESS) << tributary_last_error();
    exchange.reset();  // closes it
    EXPECT_EQ(own.parameters, std::vector<float>(2, 2));
    c_barrier(comm);
    EXPECT_EQ(tributary_comm_statistic(comm, "collectives_by_ring", &value), TRIBUTARY_SUCCESS);
  });
}

// Calls body(comm) on two ranks, which destroys the communicator itself.
template <typename Body>
void run_with_handles(Body body) {
  Gatherers meeting(2);
  run_ranks(2, [&](std::uint32_t rank) {
    Gatherers::Seat seat{&meeting, rank};
    tributary_comm* comm = nullptr;
    ASSERT_EQ(tributary_comm_create_with(&comm, c_options(rank).get(), rank, 2,
                                         Gatherers::allgather, &seat),
              TRIBUTARY_SUCCESS)
        << tributary_last_error();
    body(comm);
  });
}

TEST(CExchange, OutlivesTheHandleOfItsCommunicator) {
  run_with_handles([](tributary_comm* comm) {
    CReplica own;
    const auto exchange = c_exchange(comm, own, c_exchange_options(TRIBUTARY_BSP));
    tributary_comm_destroy(comm);
    EXPECT_EQ(c_iterate(exchange, 1), TRIBUTARY_SUCCESS) << tributary_last_error();
    ASSERT_EQ(tributary_gradient_exchange_close(exchange.get()), TRIBUTARY_SUCCESS);
    EXPECT_EQ(own.parameters, std::vector<float>(2, 2));
  });
}

TEST(CExchange, LeavesTheEndOfTheCommunicatorToItsHandle) {
  run_with_handles([](tributary_comm* comm) {
    CReplica own;
    const auto exchange = c_exchange(comm, own, c_exchange_options(TRIBUTARY_BSP));
    ASSERT_EQ(tributary_gradient_exchange_close(exchange.get()), TRIBUTARY_SUCCESS);
    if (tributary_comm_rank(comm) == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
    std::vector<float> values(1000, 1);
    tributary_request* request = nullptr;
    ASSERT_EQ(tributary_iallreduce(comm, values.data(), values.data(), values.size(), TRIBUTARY_F32,
                                   TRIBUTARY_SUM, &request),
              TRIBUTARY_SUCCESS);
    tributary_request_free(&request);
    tributary_comm_destroy(comm);
    EXPECT_EQ(values, std::vector<float>(1000, 2));
    std::uint64_t iterations = 1;
    EXPECT_EQ(tributary_gradient_exchange_statistic(exchange.get(), "iterations", &iterations),
              TRIBUTARY_SUCCESS);
    EXPECT_EQ(iterations, 0u);
  });
}

TEST(CExchange, EndsWhereASumCannotBeApplied) {
  run_c_world(2, [](tributary_comm* comm) {
    CReplica own;
    own.outcome = tributary_comm_rank(comm) == 1 ? 1 : 0;
    const auto exchange = c_exchange(comm, own, c_exchange_options(TRIBUTARY_BSP));
    const auto finished = c_iterate(exchange, 1);  // of rank 0 perhaps when rank 1 has given up
    const auto closed = tributary_gradient_exchange_close(exchange.get());
    if (own.outcome == 1) {
      EXPECT_EQ(finished, TRIBUTARY_SUCCESS);
      EXPECT_EQ(closed, TRIBUTARY_ABORTED);
      EXPECT_THAT(tributary_last_error(), HasSubstr("could not be applied"));
      EXPECT_EQ(own.contributors.size(), 1u);
    } else {
      EXPECT_NE(closed, TRIBUTARY_SUCCESS);
    }
  });
}

// An interpreter gives up in this way when it was interrupted.
TEST(CExchange, IsGivenUpByWhoIsAskedWhileItWaits) {
  std::atomic<bool> given_up = false;
  run_c_world(2, [&](tributary_comm* comm) {
    CReplica own;
    own.gives_up = tributary_comm_rank(comm) == 0;
    auto options = c_exchange_options(TRIBUTARY_BSP);
    options.on_wait = CReplica::on_wait;
    const auto exchange = c_exchange(comm, own, options);
    if (own.gives_up) {
      EXPECT_EQ(c_iterate(exchange, 1), TRIBUTARY_ABORTED);
      EXPECT_GE(own.waits, 1);
      given_up = true;
    } else {
      for (int i = 0; i < 10'000 && !given_up; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      EXPECT_NE(tributary_gradient_exchange_close(exchange.get()), TRIBUTARY_SUCCESS);
    }
  });
}

TEST(CExchange, WhatMakesNoSenseIsRefused) {
  CReplica own;
  tributary_gradient_exchange* exchange = nullptr;
  const auto create = [&](tributary_comm* comm, const tributary_gradient_exchange_options& options,
                          std::size_t layers = 2) {
    return tributary_gradient_exchange_create(&exchange, comm, exchanged_layers, layers, nullptr, 0,
                                              CReplica::apply, &own, &options);
  };
  EXPECT_EQ(create(nullptr, TRIBUTARY_GRADIENT_EXCHANGE_DEFAULTS), TRIBUTARY_INVALID_ARGUMENT);
  EXPECT_EQ(tributary_gradient_exchange_enter(nullptr, nullptr), TRIBUTARY_INVALID_ARGUMENT);
  tributary_gradient_exchange_destroy(nullptr);
  run_c_world(1, [&](tributary_comm* comm) {
    auto options = c_exchange_options(3);
    EXPECT_EQ(create(comm, options), TRIBUTARY_INVALID_ARGUMENT);
    EXPECT_THAT(tributary_last_error(), HasSubstr("no synchrony 3"));
    options = c_exchange_options(TRIBUTARY_ASP);
    EXPECT_EQ(create(comm, options), TRIBUTARY_INVALID_ARGUMENT);
    EXPECT_THAT(tributary_last_error(), HasSubstr("parameters of others"));
    EXPECT_EQ(create(comm, c_exchange_options(TRIBUTARY_BSP), 0), TRIBUTARY_INVALID_ARGUMENT);
    options = c_exchange_options(TRIBUTARY_SSP);
    options.stale = 2;
    EXPECT_EQ(create(comm, options), TRIBUTARY_INVALID_ARGUMENT);
    EXPECT_EQ(exchange, nullptr);
    c_barrier(comm);  // which it has kept
    const auto made = c_exchange(comm, own, c_exchange_options(TRIBUTARY_SSP));
    EXPECT_EQ(tributary_gradient_exchange_finish(made.get(), nullptr), TRIBUTARY_INVALID_ARGUMENT);
    EXPECT_EQ(tributary_gradient_exchange_offer(made.get(), 0, nullptr, 500),
              TRIBUTARY_INVALID_ARGUMENT);
    std::uint64_t value = 0;
    EXPECT_EQ(tributary_gradient_exchange_statistic(made.get(), "sheep", &value),
              TRIBUTARY_INVALID_ARGUMENT);
    EXPECT_THAT(tributary_last_error(), HasSubstr("sheep"));
  });
}

}  // namespace
}  // namespace tributary::host::test
