// SPDX-License-Identifier: BSD-3-Clause
#include "host/queue/collective_queue.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <latch>
#include <mutex>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "unit/host/loopback.h"
#include "unit/host/ports.h"

// These tests use real sockets between addresses of the loopback interface.
namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;

using Change = std::function<void(CommunicatorOptions&)>;

// Runs `body` as every rank, each in a thread with its own queue.
void run_queues(std::uint32_t ranks, const std::function<void(CollectiveQueue&)>& body,
                const Change& change = {}, const CollectiveQueueOptions& queue_options = {}) {
  const auto port = next_ports();
  run_ranks(ranks, [=, &body, &change](std::uint32_t rank) {
    auto options = options_on_loopback(rank, ranks, port);
    options.algorithm = "canary";  // the loopback has no switch that aggregates
    if (change) {
      change(options);
    }
    auto communicator = Communicator::create(options);
    ASSERT_TRUE(communicator) << communicator.error().message;
    auto queue = CollectiveQueue::create(std::move(*communicator), queue_options);
    ASSERT_TRUE(queue) << queue.error().message;
    body(*queue);
  });
}

// The elements of tensor `index` in a round, as a rank has them: small whole numbers.
std::vector<float> tensor(std::uint32_t rank, std::size_t index, std::size_t round) {
  return std::vector<float>(1 + 37 * index, static_cast<float>((rank + 1) * (index + 1) + round));
}

// Returns the sum over all ranks.
float sum_of(std::uint32_t ranks, std::size_t index, std::size_t round) {
  return static_cast<float>(ranks * (ranks + 1) / 2 * (index + 1) + ranks * round);
}

void expect_sums_of_shuffled_tensors(CollectiveQueue& queue) {
  constexpr std::size_t tensors = 20;
  const auto rank = queue.communicator().rank();
  const auto ranks = queue.communicator().world_size();
  std::mt19937 random(rank);
  std::vector<std::size_t> order(tensors);
  for (std::size_t index = 0; index < tensors; ++index) {
    order[index] = index;
  }
  for (std::size_t round = 0; round < 3; ++round) {
    std::vector<std::vector<float>> values(tensors);
    std::shuffle(order.begin(), order.end(), random);
    for (const auto index : order) {
      values[index] = tensor(rank, index, round);
      queue.allreduce("tensor " + std::to_string(index), std::span(values[index]));
    }
    const auto flushed = queue.flush();
    ASSERT_TRUE(flushed) << flushed.error().message;
    for (std::size_t index = 0; index < tensors; ++index) {
      const auto wanted = sum_of(ranks, index, round);
      EXPECT_TRUE(std::all_of(values[index].begin(), values[index].end(),
                              [&](float value) { return value == wanted; }));
    }
  }
}

class Queues : public testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Ranks, Queues, testing::Values(1, 2, 4));

TEST_P(Queues, SumWhatRanksPostInOrdersOfTheirOwn) {
  run_queues(GetParam(), [](CollectiveQueue& queue) {
    expect_sums_of_shuffled_tensors(queue);
    EXPECT_EQ(queue.statistics()["collectives"], 60u);
    EXPECT_TRUE(queue.close());
  });
}

TEST(CollectiveQueue, RunsOverTheRingAsWell) {
  run_queues(3, expect_sums_of_shuffled_tensors,
             [](CommunicatorOptions& options) { options.algorithm = "ring"; });
}

TEST(CollectiveQueue, FusesSmallAllreducesUnlessToldNotTo) {
  for (const std::size_t fusion_bytes : {std::size_t{1} << 20, std::size_t{0}}) {
    CollectiveQueueOptions options;
    options.fusion_bytes = fusion_bytes;
    run_queues(
        2,
        [=](CollectiveQueue& queue) {
          expect_sums_of_shuffled_tensors(queue);
          EXPECT_EQ(queue.statistics()["collectives_fused"] != 0, fusion_bytes != 0);
        },
        {}, options);
  }
}

TEST(CollectiveQueue, HasTheOtherCollectives) {
  run_queues(3, [](CollectiveQueue& queue) {
    const auto rank = queue.communicator().rank();
    const std::vector<float> ones(100, 1);
    std::vector<float> sum(100);
    std::vector<std::int32_t> sent(50, rank == 2 ? 7 : 0);
    std::vector<CollectiveQueue::Outcome> outcomes(3);
    for (std::uint32_t i = 0; i < 3; ++i) {
      switch ((i + rank) % 3) {
        case 0:
          outcomes[i] = queue.reduce("sum", std::span(ones), std::span(sum), 1);
          break;
        case 1:
          outcomes[i] = queue.broadcast("sent", std::span(sent), 2);
          break;
        default:
          outcomes[i] = queue.barrier("barrier");
      }
    }
    for (auto& outcome : outcomes) {
      const auto done = outcome.get();
      EXPECT_TRUE(done) << done.error().message;
    }
    EXPECT_EQ(sum.front(), rank == 1 ? 3.0f : 0.0f);
    EXPECT_EQ(sent.back(), 7);
  });
}

TEST(CollectiveQueue, TakesPostingsOfSeveralThreads) {
  run_queues(2, [](CollectiveQueue& queue) {
    std::vector<std::jthread> threads;
    for (int number = 0; number < 4; ++number) {
      threads.emplace_back([&queue, number] {
        for (int i = 0; i < 10; ++i) {
          std::vector<float> values(10, 1);
          const auto name = std::to_string(number) + "/" + std::to_string(i);
          EXPECT_TRUE(queue.allreduce(name, std::span(values)).get());
          EXPECT_EQ(values.front(), 2.0f);
        }
      });
    }
  });
}

TEST(CollectiveQueue, OtherCountsFailOnAllRanksAndTheQueueGoesOn) {
  run_queues(3, [](CollectiveQueue& queue) {
    const auto rank = queue.communicator().rank();
    std::vector<float> values(rank == 1 ? 10 : 20);
    const auto done = queue.allreduce("x", std::span(values)).get();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Error::Code::mismatch);
    EXPECT_NE(done.error().message.find("'x'"), std::string::npos);
    EXPECT_FALSE(queue.flush());
    EXPECT_TRUE(queue.flush());
    values.resize(20);
    EXPECT_TRUE(queue.allreduce("x", std::span(values)).get());
    EXPECT_TRUE(queue.close());
  });
}

TEST(CollectiveQueue, WhatARankDoesNotPostIsNamedAndGivenUp) {
  std::mutex mutex;
  std::vector<std::string> notices;
  std::latch failures(2);
  CollectiveQueueOptions options;
  options.stall_warning = 100ms;
  run_queues(
      3,
      [&](CollectiveQueue& queue) {
        std::vector<float> values(10);
        if (queue.communicator().rank() == 2) {
          failures.wait();
        } else {
          const auto done = queue.allreduce("x", std::span(values)).get();
          failures.count_down();
          ASSERT_FALSE(done);
          EXPECT_EQ(done.error().code, Error::Code::timeout);
          EXPECT_NE(done.error().message.find("was not posted by rank 2"), std::string::npos)
              << done.error().message;
        }
        EXPECT_TRUE(queue.allreduce("y", std::span(values)).get());
      },
      [&](CommunicatorOptions& changed) {
        changed.deadline = 3s;
        changed.on_notice = [&](const std::string& line) {
          const std::lock_guard lock(mutex);
          notices.push_back(line);
        };
      },
      options);
  // On a busy machine one of the others may be late as well, and is named beside it.
  EXPECT_GE(std::count_if(notices.begin(), notices.end(),
                          [](const std::string& line) {
                            return line.starts_with("'x' (allreduce of 10 f32, sum) has waited") &&
                                   line.ends_with(" 2");
                          }),
            3);
}

TEST(CollectiveQueue, WhatACloserLacksFailsAtOnce) {
  run_queues(2, [](CollectiveQueue& queue) {
    if (queue.communicator().rank() == 0) {
      std::vector<float> values(10);
      const auto done = queue.allreduce("x", std::span(values)).get();
      ASSERT_FALSE(done);
      EXPECT_NE(done.error().message.find("rank 1 closed the queue"), std::string::npos);
    }
    EXPECT_TRUE(queue.close());
    EXPECT_EQ(queue.barrier("late").get().error().code, Error::Code::invalid_argument);
    EXPECT_TRUE(queue.communicator().barrier());
  });
}

TEST(CollectiveQueue, RefusesWhatCannotBe) {
  auto communicator = Communicator::create({});
  ASSERT_TRUE(communicator);
  CollectiveQueueOptions options;
  options.fusion_bytes = CollectiveQueueOptions::fusion_bytes_max + 1;
  EXPECT_FALSE(CollectiveQueue::create(std::move(*communicator), options));
  auto another = Communicator::create({});
  ASSERT_TRUE(another);
  auto queue = CollectiveQueue::create(std::move(*another));
  ASSERT_TRUE(queue);
  EXPECT_EQ(queue->allreduce("x", nullptr, nullptr, 4, wire::ElementType::f32, wire::Operator::sum)
                .get()
                .error()
                .message,
            "null buffer");
  EXPECT_EQ(queue->barrier("").get().error().code, Error::Code::invalid_argument);
  EXPECT_FALSE(queue->flush());
}

// A rank that ends silently ends the queues of the others, which all give the reason.
TEST(CollectiveQueue, EndsWhereACommunicatorFails) {
  const auto port = next_ports();
  run_ranks(3, [=](std::uint32_t rank) {
    auto options = options_on_loopback(rank, 3, port);
    options.algorithm = "ring";
    auto communicator = Communicator::create(options);
    ASSERT_TRUE(communicator) << communicator.error().message;
    if (rank == 2) {
      // This rank takes part in the others' start, and ends.
      std::vector<std::int8_t> terms(24);
      EXPECT_TRUE(communicator->broadcast(std::span(terms), 0));
      return;
    }
    auto queue = CollectiveQueue::create(std::move(*communicator));
    ASSERT_TRUE(queue) << queue.error().message;
    std::vector<float> values(10);
    const auto done = queue->allreduce("x", std::span(values)).get();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message.find("the queue has ended, make a new communicator: "), 0u)
        << done.error().message;
    EXPECT_FALSE(queue->allreduce("y", std::span(values)).get());
    EXPECT_FALSE(queue->flush());
    EXPECT_FALSE(queue->close());
  });
}

}  // namespace
}  // namespace tributary::host::test
