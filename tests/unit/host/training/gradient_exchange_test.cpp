// SPDX-License-Identifier: BSD-3-Clause
#include "host/training/gradient_exchange.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "exchanges.h"

// These tests use real sockets between addresses of the loopback interface.
namespace tributary::host::test {
namespace {

class Exchanges : public testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Ranks, Exchanges, testing::Values(1, 2, 4));

TEST_P(Exchanges, BspSumsHaveEverybody) {
  const auto ranks = GetParam();
  run_exchanges(ranks, options_of(Synchrony::bsp), [&](GradientExchange& exchange, Replica& own) {
    const auto rank = exchange.communicator().rank();
    for (int i = 0; i < 5; ++i) {
      EXPECT_TRUE(iterate(exchange, static_cast<float>(rank + 1)));
    }
    ASSERT_TRUE(exchange.close());
    EXPECT_EQ(own.contributors, std::vector<std::uint32_t>(10, ranks));
    EXPECT_EQ(own.parameters[0], static_cast<float>(5 * ranks * (ranks + 1) / 2));
    EXPECT_EQ(own.parameters[1], own.parameters[0]);
    EXPECT_EQ(exchange.statistics()["layers_contributed"], 10u);
    EXPECT_EQ(exchange.gei().latest(), 4u);
  });
}

TEST_P(Exchanges, SspAndAspLoseNothing) {
  for (const auto synchrony : {Synchrony::ssp, Synchrony::asp}) {
    const auto ranks = GetParam();
    run_exchanges(ranks, options_of(synchrony, 1), [&](GradientExchange& exchange, Replica& own) {
      const auto rank = exchange.communicator().rank();
      for (std::uint32_t i = 0; i < 8; ++i) {
        std::this_thread::sleep_for(1ms * rank * (i % 3));
        EXPECT_TRUE(iterate(exchange, static_cast<float>(rank + 1)));
      }
      ASSERT_TRUE(exchange.close());
      EXPECT_EQ(own.parameters[0], static_cast<float>(8 * ranks * (ranks + 1) / 2));
      EXPECT_EQ(exchange.statistics()["layers_contributed"], 16u);
    });
  }
}

TEST_P(Exchanges, SumsAreTheSameWhateverColayersRanksForm) {
  const auto ranks = GetParam();
  auto options = options_of(Synchrony::bsp);
  options.regroup = 2;
  run_exchanges(ranks, options, [&](GradientExchange& exchange, Replica& own) {
    for (int i = 0; i < 12; ++i) {
      ASSERT_TRUE(exchange.enter());
      for (const std::size_t layer : {1u, 0u}) {
        std::this_thread::sleep_for(exchange.communicator().rank() == 0 ? 0ms : 2ms);
        ASSERT_TRUE(exchange.offer(layer, std::vector<float>(layers[layer], 1)));
      }
      EXPECT_TRUE(exchange.finish());
    }
    ASSERT_TRUE(exchange.close());
    EXPECT_EQ(own.parameters[0], static_cast<float>(12 * ranks));
    EXPECT_EQ(own.parameters[1], own.parameters[0]);
  });
}

// The fast rank stops where it has to wait for the slow one, which has not begun.
TEST(Exchange, SspWaitsForWhoIsTooFarBehind) {
  std::atomic<int> finished = 0;
  run_exchanges(2, options_of(Synchrony::ssp, 2), [&](GradientExchange& exchange, Replica&) {
    if (exchange.communicator().rank() == 0) {
      for (int i = 0; i < 4; ++i) {
        iterate(exchange, 1);
        ++finished;
      }
    } else {
      while (finished < 3) {
        std::this_thread::sleep_for(1ms);
      }
      std::this_thread::sleep_for(100ms);
      EXPECT_EQ(finished, 3);
      iterate(exchange, 1);
    }
    ASSERT_TRUE(exchange.close());
  });
}

TEST(Exchange, AStaleGradientIsDroppedAndParametersArePulled) {
  std::atomic<bool> behind = false;
  run_exchanges(2, options_of(Synchrony::ssp, 1, Stale::drop),
                [&](GradientExchange& exchange, Replica& own) {
                  if (exchange.communicator().rank() == 0) {
                    for (int i = 0; i < 5; ++i) {
                      iterate(exchange, 1);
                    }
                    behind = true;
                  } else {
                    ASSERT_TRUE(exchange.enter());
                    while (!behind) {
                      std::this_thread::sleep_for(1ms);
                    }
                    offer_all(exchange, 1000);
                    const auto counted = exchange.finish();
                    ASSERT_TRUE(counted);
                    EXPECT_FALSE(*counted);
                    const auto entered = exchange.enter();
                    ASSERT_TRUE(entered);
                    EXPECT_EQ(*entered, 4u);  // where the fastest was
                    EXPECT_EQ(own.parameters[0], 5);
                    EXPECT_EQ(exchange.statistics()["pulls"], 1u);
                    EXPECT_EQ(exchange.statistics()["iterations_dropped"], 1u);
                  }
                  ASSERT_TRUE(exchange.close());
                  EXPECT_EQ(own.parameters[0], 5);
                });
}

TEST(Exchange, WhoIsWaitedForIsNamed) {
  std::mutex mutex;
  std::vector<std::string> lines;
  auto options = options_of(Synchrony::bsp);
  options.stall_warning = 50ms;
  run_exchanges(
      2, options,
      [](GradientExchange& exchange, Replica&) {
        if (exchange.communicator().rank() == 1) {
          std::this_thread::sleep_for(300ms);
        }
        iterate(exchange, 1);
        ASSERT_TRUE(exchange.close());
      },
      [&](CommunicatorOptions& setup) {
        setup.on_notice = [&](const std::string& line) {
          const std::lock_guard lock(mutex);
          lines.push_back(line);
        };
      });
  const auto names = [](const std::string& line) {
    return line.find("rank 0 has waited in finish() for 0.") != std::string::npos &&
           line.find(": for rank 1") != std::string::npos;
  };
  EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), names));
}

TEST(Exchange, MayBeOverACommunicatorThatStaysTheCallers) {
  const auto port = next_ports();
  run_ranks(2, [port](std::uint32_t rank) {
    auto communicator = Communicator::create(options_on_loopback(rank, 2, port));
    ASSERT_TRUE(communicator) << communicator.error().message;
    Replica own;
    for (float value = 1; value < 3; ++value) {
      auto exchange = GradientExchange::over(*communicator, layers, {},
                                             [&](const LayerSum& sum) { own.apply(sum); });
      ASSERT_TRUE(exchange) << exchange.error().message;
      EXPECT_TRUE(iterate(*exchange, value));
      ASSERT_TRUE(exchange->close());
      ASSERT_TRUE(communicator->barrier());
    }
    EXPECT_EQ(own.parameters, std::vector<float>(2, 6));
  });
}

// An interpreter that was interrupted does this.
TEST(Exchange, IsGivenUpByWhoIsAskedWhileItWaits) {
  std::atomic<bool> given_up = false;
  auto options = options_of(Synchrony::bsp);
  options.on_wait = [] { return false; };
  run_exchanges(2, options, [&](GradientExchange& exchange, Replica&) {
    if (exchange.communicator().rank() == 0) {
      ASSERT_TRUE(exchange.enter());
      offer_all(exchange, 1);
      const auto finished = exchange.finish();
      ASSERT_FALSE(finished);
      EXPECT_EQ(finished.error().code, Error::Code::aborted) << finished.error().message;
      given_up = true;
    } else {
      for (int i = 0; i < 10'000 && !given_up; ++i) {
        std::this_thread::sleep_for(1ms);
      }
      EXPECT_FALSE(exchange.close());
    }
  });
}

// These times exceed any point in time; users set them who want no warnings.
TEST(Exchange, TheLongestTimesAreForEver) {
  std::atomic<int> warnings = 0;
  auto options = options_of(Synchrony::bsp);
  options.stall_warning = std::chrono::nanoseconds::max();
  run_exchanges(
      2, options,
      [](GradientExchange& exchange, Replica&) {
        if (exchange.communicator().rank() == 1) {
          std::this_thread::sleep_for(100ms);
        }
        iterate(exchange, 1);
        ASSERT_TRUE(exchange.close());
      },
      [&](CommunicatorOptions& setup) {
        setup.on_notice = [&](const std::string& line) {
          warnings += line.find("has waited") != std::string::npos ? 1 : 0;
        };
      });
  EXPECT_EQ(warnings, 0);
}

// Its destructor closes it, and so applies sums; it must neither throw nor wait.
TEST(Exchange, EndsWhereSumsCannotBeApplied) {
  run_ranks(1, [](std::uint32_t) {
    auto communicator = Communicator::create(options_on_loopback(0, 1, next_ports()));
    ASSERT_TRUE(communicator) << communicator.error().message;
    auto exchange = GradientExchange::create(
        std::move(*communicator), layers, {},
        [](const LayerSum&) { throw std::runtime_error("no memory"); }, options_of(Synchrony::bsp));
    ASSERT_TRUE(exchange) << exchange.error().message;
    iterate(*exchange, 1);
  });
}

// A replica that lacks a sum is no longer that of the others.
TEST(Exchange, ASumThatCouldNotBeAppliedIsTheLast) {
  const auto port = next_ports();
  run_ranks(2, [port](std::uint32_t rank) {
    auto setup = options_on_loopback(rank, 2, port);
    setup.algorithm = "canary";
    auto communicator = Communicator::create(setup);
    ASSERT_TRUE(communicator) << communicator.error().message;
    int applied = 0;
    auto exchange = GradientExchange::create(
        std::move(*communicator), layers, {},
        [&](const LayerSum&) {
          ++applied;
          if (rank == 0) {
            throw std::runtime_error("no memory");
          }
        },
        options_of(Synchrony::bsp));
    ASSERT_TRUE(exchange) << exchange.error().message;
    ASSERT_TRUE(exchange->enter());
    offer_all(*exchange, 1);
    const auto finished = exchange->finish();
    if (rank == 0) {
      ASSERT_TRUE(finished) << finished.error().message;
      EXPECT_THROW((void)exchange->enter(), std::runtime_error);
      const auto entered = exchange->enter();
      ASSERT_FALSE(entered);
      EXPECT_EQ(entered.error().code, Error::Code::aborted);
    }
    EXPECT_FALSE(exchange->close());
    EXPECT_TRUE(rank != 0 || applied == 1) << applied;
  });
}

TEST(Exchange, ReproducibleSumsDoNotDependOnWhatIsReadyTogether) {
  const auto body = [](GradientExchange& exchange, Replica& own) {
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(exchange.enter());
      ASSERT_TRUE(exchange.offer(1, std::vector<float>(layers[1], 0.25F)));
      ASSERT_TRUE(exchange.offer(0, std::vector<float>(layers[0], 0x1p60F)));
      ASSERT_TRUE(exchange.finish());
    }
    ASSERT_TRUE(exchange.close());
    EXPECT_EQ(own.parameters[1], 10.0F) << "beside 2^60 in its chunk it would count for nothing";
  };
  run_exchanges(2, options_of(Synchrony::bsp), body,
                [](CommunicatorOptions& setup) { setup.reproducible = true; });
}

TEST(Exchange, CallsInAnotherOrderAreRefused) {
  run_exchanges(1, options_of(Synchrony::bsp), [](GradientExchange& exchange, Replica&) {
    const std::vector<float> gradient(layers[1]);
    EXPECT_FALSE(exchange.finish());
    EXPECT_FALSE(exchange.offer(1, gradient));
    ASSERT_TRUE(exchange.enter());
    EXPECT_FALSE(exchange.enter());
    EXPECT_FALSE(exchange.finish());
    EXPECT_FALSE(exchange.offer(0, gradient));
    EXPECT_FALSE(exchange.offer(2, gradient));
    EXPECT_FALSE(exchange.offer(std::numeric_limits<std::size_t>::max(), gradient));
    EXPECT_TRUE(exchange.offer(1, gradient));
    EXPECT_FALSE(exchange.offer(1, gradient));
    ASSERT_TRUE(exchange.close());
    EXPECT_FALSE(exchange.enter());
  });
}

TEST(Exchange, RanksWithOtherLayersAreNamed) {
  const auto port = next_ports();
  run_ranks(3, [port](std::uint32_t rank) {
    auto communicator = Communicator::create(options_on_loopback(rank, 3, port));
    ASSERT_TRUE(communicator) << communicator.error().message;
    const auto exchange = GradientExchange::create(std::move(*communicator), {rank == 2 ? 4u : 5u},
                                                   {}, [](const LayerSum&) {});
    ASSERT_FALSE(exchange);
    EXPECT_EQ(exchange.error().code, Error::Code::mismatch);
    EXPECT_NE(exchange.error().message.find("rank 2"), std::string::npos);
  });
}

TEST(Exchange, LayersThatNoCollectiveHasRoomForAreRefused) {
  const auto port = next_ports();
  run_ranks(2, [port](std::uint32_t rank) {
    auto setup = options_on_loopback(rank, 2, port);
    setup.algorithm = "canary";
    auto communicator = Communicator::create(setup);
    ASSERT_TRUE(communicator) << communicator.error().message;
    const auto exchange = GradientExchange::create(
        std::move(*communicator), {5, std::size_t{1} << 50}, {}, [](const LayerSum&) {});
    ASSERT_FALSE(exchange);
    EXPECT_EQ(exchange.error().code, Error::Code::invalid_argument);
    EXPECT_NE(exchange.error().message.find("split"), std::string::npos)
        << exchange.error().message;
  });
}

TEST(Exchange, ThatHasEndedSaysWhyWhateverIsCalled) {
  run_exchanges(1, options_of(Synchrony::bsp), [](GradientExchange& exchange, Replica&) {
    ASSERT_TRUE(exchange.enter());
    exchange.communicator().abort();
    auto finished = exchange.finish();
    for (int i = 0; i < 500 && finished.error().code != Error::Code::aborted; ++i) {
      std::this_thread::sleep_for(10ms);
      finished = exchange.finish();
    }
    EXPECT_EQ(finished.error().code, Error::Code::aborted) << finished.error().message;
    const auto entered = exchange.enter();
    ASSERT_FALSE(entered);
    EXPECT_EQ(entered.error().code, Error::Code::aborted) << entered.error().message;
  });
}

// A rank that ends silently ends the exchange for all.
TEST(Exchange, FailsWhereARankIsGone) {
  run_exchanges(
      2, options_of(Synchrony::asp),
      [](GradientExchange& exchange, Replica&) {
        if (exchange.communicator().rank() == 1) {
          exchange.communicator().abort();
        }
        bool failed = false;
        for (int i = 0; i < 10'000 && !failed; ++i) {
          failed = !exchange.enter() || !exchange.offer(0, std::vector<float>(layers[0])) ||
                   !exchange.offer(1, std::vector<float>(layers[1])) || !exchange.finish();
        }
        EXPECT_TRUE(failed);
        EXPECT_FALSE(exchange.close());
      },
      [](CommunicatorOptions& setup) { setup.deadline = 2s; });
}

}  // namespace
}  // namespace tributary::host::test
