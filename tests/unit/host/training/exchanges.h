// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/training/gradient_exchange.h"
#include "unit/host/loopback.h"
#include "unit/host/ports.h"

namespace tributary::host::test {

using namespace std::chrono_literals;

inline const std::vector<std::size_t> layers = {500, 3};

// A replica that adds up the sums that it gets, and records the masks.
struct Replica {
  std::vector<float> parameters = std::vector<float>(2, 0.0F);
  std::vector<std::uint32_t> contributors;  // of each sum

  void apply(const LayerSum& sum) {
    parameters[sum.layer] += sum.values.front();
    contributors.push_back(sum.contributors.count());
  }
};

using Body = std::function<void(GradientExchange&, Replica&)>;
using Change = std::function<void(CommunicatorOptions&)>;

// Runs `body` as every rank, each in a thread with its own exchange.
inline void run_exchanges(std::uint32_t ranks, const GradientExchangeOptions& options,
                          const Body& body, const Change& change = {}) {
  const auto port = next_ports();
  run_ranks(ranks, [&, port](std::uint32_t rank) {
    auto setup = options_on_loopback(rank, ranks, port);
    setup.algorithm = "canary";  // the loopback has no switch that aggregates
    if (change) {
      change(setup);
    }
    auto communicator = Communicator::create(setup);
    ASSERT_TRUE(communicator) << communicator.error().message;
    Replica replica;
    auto exchange = GradientExchange::create(
        std::move(*communicator), layers, replica.parameters,
        [&](const LayerSum& sum) { replica.apply(sum); }, options);
    ASSERT_TRUE(exchange) << exchange.error().message;
    body(*exchange, replica);
  });
}

inline GradientExchangeOptions options_of(Synchrony synchrony, std::uint32_t staleness = 0,
                                          Stale stale = Stale::wait) {
  GradientExchangeOptions options;
  options.synchrony = synchrony;
  options.staleness = staleness;
  options.stale = stale;
  options.pause = 500us;
  return options;
}

inline void offer_all(GradientExchange& exchange, float value) {
  for (const std::size_t layer : {1u, 0u}) {
    const auto offered = exchange.offer(layer, std::vector<float>(layers[layer], value));
    ASSERT_TRUE(offered) << offered.error().message;
  }
}

inline bool iterate(GradientExchange& exchange, float value) {
  const auto entered = exchange.enter();
  EXPECT_TRUE(entered) << entered.error().message;
  offer_all(exchange, value);
  const auto finished = exchange.finish();
  EXPECT_TRUE(finished) << finished.error().message;
  return finished && *finished;
}

}  // namespace tributary::host::test
