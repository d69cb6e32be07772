// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "exchanges.h"

// These tests use real sockets between addresses of the loopback interface.
namespace tributary::host::test {
namespace {

// By itself, rank 0 would offer both layers together: it has them at the same time.
TEST(Exchange, BspRanksFormTheSameColayers) {
  const std::vector<std::size_t> large = {300'000, 300'000};
  const auto port = next_ports();
  std::vector<std::uint64_t> colayers(2);
  run_ranks(2, [&, port](std::uint32_t rank) {
    auto communicator = Communicator::create(options_on_loopback(rank, 2, port));
    ASSERT_TRUE(communicator) << communicator.error().message;
    auto options = options_of(Synchrony::bsp);
    options.regroup = 4;
    auto exchange = GradientExchange::over(
        *communicator, large, {}, [](const LayerSum&) {}, options);
    ASSERT_TRUE(exchange) << exchange.error().message;
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(exchange->enter());
      for (const std::size_t layer : {1u, 0u}) {
        std::this_thread::sleep_for(rank == 0 ? 0ms : 50ms);
        ASSERT_TRUE(exchange->offer(layer, std::vector<float>(large[layer], 1)));
      }
      ASSERT_TRUE(exchange->finish());
    }
    colayers[rank] = exchange->statistics()["colayers"];
    ASSERT_TRUE(exchange->close());
  });
  EXPECT_EQ(colayers, std::vector(2, colayers[0]));
}

TEST(Exchange, FormsNoColayersBeforeASumWasMeasured) {
  auto options = options_of(Synchrony::bsp);
  options.regroup = 1;
  run_exchanges(2, options, [&](GradientExchange& exchange, Replica&) {
    iterate(exchange, 1);
    iterate(exchange, 1);
    EXPECT_EQ(exchange.statistics()["colayers"], layers.size()) << "in the second iteration";
    ASSERT_TRUE(exchange.close());
  });
}

// The fast rank enters several iterations, and has colayers formed, while the slow one is in one.
TEST(Exchange, ASlowRankFormsColayersThoughItNeverComesToTheIterationsOfOthers) {
  auto options = options_of(Synchrony::asp);
  options.regroup = 2;
  std::atomic<int> by_the_fast = 0;
  std::atomic<bool> over = false;
  run_exchanges(2, options, [&](GradientExchange& exchange, Replica&) {
    if (exchange.communicator().rank() == 0) {
      for (; !over; ++by_the_fast) {
        iterate(exchange, 1);
      }
    } else {
      auto colayers = layers.size();
      for (int i = 0; i < 50 && colayers > 1; ++i) {
        EXPECT_TRUE(exchange.enter());
        for (const int until = by_the_fast + 4; by_the_fast < until;) {
          std::this_thread::sleep_for(1ms);
        }
        offer_all(exchange, 1);
        EXPECT_TRUE(exchange.finish());
        colayers = exchange.statistics()["colayers"];
      }
      EXPECT_EQ(colayers, 1u) << "both of its layers come at once";
      over = true;
    }
    ASSERT_TRUE(exchange.close());
  });
}

}  // namespace
}  // namespace tributary::host::test
