// SPDX-License-Identifier: BSD-3-Clause
// Tests exchanges whose sums are of sketches. They use real sockets between addresses of the
// loopback interface.
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

#include "exchanges.h"
#include "protocols/canary/host/blocks.h"

namespace tributary::host::test {
namespace {

GradientExchangeOptions sketched(Synchrony synchrony, SketchOptions sketch = {}) {
  auto options = options_of(synchrony);
  sketch.rounding = Rounding::nearest;
  options.sketch = sketch;
  return options;
}

// In a layer whose greatest element is 100, a small one is less than half a unit.
std::vector<float> small_beside_great(float small) {
  std::vector<float> gradient(layers[0], small);
  gradient.back() = 100;
  return gradient;
}

// Offers this gradient of the first layer, and that of the second.
void iterate_with(GradientExchange& exchange, const std::vector<float>& first, float second = 0) {
  const auto entered = exchange.enter();
  ASSERT_TRUE(entered) << entered.error().message;
  ASSERT_TRUE(exchange.offer(1, std::vector<float>(layers[1], second)));
  ASSERT_TRUE(exchange.offer(0, first));
  const auto finished = exchange.finish();
  ASSERT_TRUE(finished) << finished.error().message;
}

TEST(SketchedExchange, WhatIsRoundedOffGoesWithTheNextGradient) {
  for (const auto synchrony : {Synchrony::bsp, Synchrony::asp}) {
    run_exchanges(2, sketched(synchrony), [](GradientExchange& exchange, Replica& own) {
      for (int i = 0; i < 40; ++i) {
        iterate_with(exchange, small_beside_great(0.1F));
      }
      ASSERT_TRUE(exchange.close());
      constexpr double unit = 101.0 / 63;  // half of which each rank may keep back
      EXPECT_NEAR(own.parameters[0], 40 * 2 * 0.1, unit);
      EXPECT_EQ(exchange.statistics()["layers_contributed"], 80u);
      EXPECT_GT(exchange.communicator().statistics()["sketch_bytes"], 0u);
    });
  }
}

TEST(SketchedExchange, WithoutFeedbackItIsLost) {
  run_exchanges(2, sketched(Synchrony::bsp, {.feedback = false}),
                [](GradientExchange& exchange, Replica& own) {
                  for (int i = 0; i < 20; ++i) {
                    iterate_with(exchange, small_beside_great(0.1F));
                  }
                  ASSERT_TRUE(exchange.close());
                  EXPECT_EQ(own.parameters[0], 0);
                });
}

TEST(SketchedExchange, OfOneRankIsExact) {
  run_exchanges(1, sketched(Synchrony::ssp), [](GradientExchange& exchange, Replica& own) {
    iterate_with(exchange, small_beside_great(0.1F), 3);
    ASSERT_TRUE(exchange.close());
    EXPECT_EQ(own.parameters, (std::vector<float>{0.1F, 3}));
  });
}

// Rank 1 keeps 0.7 back. Sums without rank 1 must not have it.
TEST(SketchedExchange, SumsHaveNothingOfWhoIsNotInThem) {
  const auto port = next_ports();
  std::atomic<bool> kept = false;  // rank 0 has a sum with rank 1
  std::atomic<int> finished = 0;
  std::atomic<int> without = 0;
  run_ranks(2, [&, port](std::uint32_t rank) {
    auto setup = options_on_loopback(rank, 2, port);
    setup.algorithm = "canary";
    auto communicator = Communicator::create(setup);
    ASSERT_TRUE(communicator) << communicator.error().message;
    std::vector<float> parameters(1, 0.0F);
    auto exchange = GradientExchange::create(
        std::move(*communicator), layers, parameters,
        [&](const LayerSum& sum) {
          if (sum.layer == 0 && sum.contributors.has(1)) {
            kept = kept || rank == 0;
          } else if (sum.layer == 0) {
            without += kept ? 1 : 0;
            EXPECT_EQ(sum.values.front(), 0.0F);
          }
          parameters[0] += sum.layer == 0 ? sum.values.front() : 0.0F;
        },
        sketched(Synchrony::asp));
    ASSERT_TRUE(exchange) << exchange.error().message;
    if (rank == 0) {
      for (int i = 0; i < 10'000 && !kept; ++i) {
        iterate_with(*exchange, std::vector<float>(layers[0], 0));
      }
      for (; finished < 10; ++finished) {
        iterate_with(*exchange, std::vector<float>(layers[0], 0));
      }
    } else {
      iterate_with(*exchange, small_beside_great(0.7F));
      for (int i = 0; i < 10'000 && finished < 10; ++i) {
        std::this_thread::sleep_for(1ms);
      }
      iterate_with(*exchange, small_beside_great(0.7F));
    }
    ASSERT_TRUE(exchange->close());
    EXPECT_NEAR(parameters[0], 1.6, 0.1) << "that is one unit, which 0.7 and 0.7 are nearest to";
  });
  EXPECT_GT(without, 5);
}

// In the chunk of a greater layer 0.1 would be less than half a unit, and nobody's number by it.
TEST(SketchedExchange, NoLayerShowsInAnother) {
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  for (const float other : {1000.0F, nan}) {
    run_exchanges(2, sketched(Synchrony::bsp), [other](GradientExchange& exchange, Replica& own) {
      iterate_with(exchange, std::vector<float>(layers[0], 0.1F), other);
      ASSERT_TRUE(exchange.close());
      EXPECT_NEAR(own.parameters[0], 0.2, 0.01);
      EXPECT_EQ(std::isnan(own.parameters[1]), std::isnan(other));
      const auto statistics = exchange.communicator().statistics();
      EXPECT_EQ(statistics["sketch_bytes"], layers[0] + layers[1] + 2 * (2 + 4)) << "nothing else";
    });
  }
}

TEST(SketchedExchange, EachLayerHasQuantilesOfItsOwn) {
  const SketchOptions quantiles{.kind = SketchKind::quantiles, .bits = 2};
  run_exchanges(2, sketched(Synchrony::bsp, quantiles),
                [](GradientExchange& exchange, Replica& own) {
                  for (int i = 0; i < 3; ++i) {
                    iterate_with(exchange, std::vector<float>(layers[0], 0.25F), 1000);
                  }
                  ASSERT_TRUE(exchange.close());
                  EXPECT_EQ(own.parameters, (std::vector<float>{1.5F, 6000}));
                });
}

// Each rank gets the sketches of all eight: twice the bytes of floats, which there is just room
// for.
TEST(SketchedExchange, LayersOfWhichThereIsNoRoomForAllSketchesAreRefused) {
  const auto port = next_ports();
  run_ranks(8, [port](std::uint32_t rank) {
    auto setup = options_on_loopback(rank, 8, port);
    setup.algorithm = "canary";
    auto communicator = Communicator::create(setup);
    ASSERT_TRUE(communicator) << communicator.error().message;
    const auto bytes = std::size_t{Blocks::count_max} * communicator->payload_bytes_max();
    GradientExchangeOptions options;
    options.sketch = SketchOptions{.kind = SketchKind::quantiles};
    const auto exchange = GradientExchange::create(
        std::move(*communicator), {bytes * 3 / 16}, {}, [](const LayerSum&) {}, options);
    ASSERT_FALSE(exchange);
    EXPECT_EQ(exchange.error().code, Error::Code::invalid_argument);
    EXPECT_NE(exchange.error().message.find("split"), std::string::npos)
        << exchange.error().message;
  });
}

TEST(SketchedExchange, BitsThatThereAreNotAreRefusedOnAllRanks) {
  for (const unsigned bits : {0u, 3u}) {
    const auto port = next_ports();
    run_ranks(2, [port, bits](std::uint32_t rank) {
      auto communicator = Communicator::create(options_on_loopback(rank, 2, port));
      ASSERT_TRUE(communicator) << communicator.error().message;
      GradientExchangeOptions options;
      if (rank == 0) {  // whose options count
        options.sketch = SketchOptions{.bits = bits};
      }
      const auto exchange = GradientExchange::create(
          std::move(*communicator), layers, {}, [](const LayerSum&) {}, options);
      ASSERT_FALSE(exchange);
      EXPECT_EQ(exchange.error().code, Error::Code::invalid_argument);
      EXPECT_NE(exchange.error().message.find(std::to_string(bits) + " bits"), std::string::npos)
          << exchange.error().message;
    });
  }
}

}  // namespace
}  // namespace tributary::host::test
