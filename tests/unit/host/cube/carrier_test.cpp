// SPDX-License-Identifier: BSD-3-Clause
// Tests ranks with several interfaces, on real sockets between addresses of the loopback interface.
#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/clock.h"
#include "host/communicator.h"
#include "unit/host/loopback.h"
#include "unit/host/ports.h"
#include "unit/host/values.h"

namespace tributary::host::test {
namespace {

using testing::HasSubstr;
using wire::ElementType;
using wire::Operator;
using namespace std::chrono_literals;

struct World {
  std::string algorithm;
  std::uint32_t ranks;
  std::uint32_t interfaces;
  std::string pieces = "1";
};

CommunicatorOptions options_of(const World& world, std::uint32_t rank, std::uint16_t port) {
  auto options = options_on_loopback(rank, world.ranks, port);
  options.algorithm = world.algorithm;
  std::string interfaces;
  for (std::uint32_t i = 0; i < world.interfaces; ++i) {
    interfaces +=
        (i == 0 ? "127." : ",127.") + std::to_string(i + 1) + ".0." + std::to_string(rank + 1);
  }
  return options.set("interfaces", interfaces).set("cube_pieces", world.pieces);
}

void run(const World& world, const std::function<void(Communicator&)>& body) {
  const auto port = next_ports();
  run_ranks(world.ranks, [&](std::uint32_t rank) {
    auto communicator = Communicator::create(options_of(world, rank, port));
    ASSERT_TRUE(communicator) << communicator.error().message;
    body(*communicator);
  });
}

void expect_sums(Communicator& communicator, std::size_t count, ElementType type, Operator op) {
  const auto in = input(communicator.rank(), count, type, op);
  Elements out(in.size());
  const auto done = communicator.allreduce(in.data(), out.data(), count, type, op);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(wrong_elements(out, communicator.world_size(), count, type, op), 0u) << count;
}

// Beyond so many bytes four ranks scatter and gather what may go in eight pieces.
constexpr std::size_t scattered_bytes = 655360;

class CubeWorlds : public testing::TestWithParam<World> {};
INSTANTIATE_TEST_SUITE_P(Worlds, CubeWorlds,
                         testing::Values(World{"bcube", 4, 2}, World{"bcube", 9, 2},
                                         World{"bcube", 8, 3}, World{"mesh", 3, 2},
                                         World{"bcube-switches", 4, 2},
                                         World{"bcube-switches", 4, 2, "8"},
                                         World{"mesh-switches", 3, 2}),
                         [](const auto& one) {
                           auto name = one.param.algorithm + std::to_string(one.index);
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(CubeWorlds, ReduceOverSockets) {
  const auto algorithm = GetParam().algorithm;
  run(GetParam(), [&](Communicator& communicator) {
    EXPECT_EQ(communicator.algorithm(), algorithm);
    for (const std::size_t count : {1, 8192, 8193, 100003, 300000}) {
      expect_sums(communicator, count, ElementType::f32, Operator::sum);
    }
    expect_sums(communicator, scattered_bytes / 2 + 1, ElementType::f16, Operator::max);
    std::string name = "collectives_by_" + algorithm;
    std::ranges::replace(name, '-', '_');
    EXPECT_EQ(communicator.statistics()[name], 4u);
    EXPECT_EQ(communicator.statistics()["collectives_by_ring"], 2u);
    EXPECT_TRUE(communicator.barrier());
  });
}

TEST_P(CubeWorlds, ReduceReproducibly) {
  const auto port = next_ports();
  const auto& world = GetParam();
  run_ranks(world.ranks, [&](std::uint32_t rank) {
    auto options = options_of(world, rank, port);
    options.reproducible = true;
    auto communicator = Communicator::create(options);
    ASSERT_TRUE(communicator) << communicator.error().message;
    constexpr std::size_t count = scattered_bytes / sizeof(std::int64_t) + 1;  // of integers
    const auto in = input(rank, count, ElementType::f32, Operator::sum);
    Elements out(in.size());
    Elements by_ring(in.size());
    ASSERT_TRUE(
        communicator->allreduce(in.data(), out.data(), count, ElementType::f32, Operator::sum));
    ASSERT_TRUE(communicator->ring_allreduce(in.data(), by_ring.data(), count, ElementType::f32,
                                             Operator::sum));
    EXPECT_EQ(out, by_ring);
  });
}

TEST_P(CubeWorlds, SketchesGoOverAllInterfaces) {
  run(GetParam(), [&](Communicator& communicator) {
    std::vector<float> values(scattered_bytes + 1, 1.0f);  // each goes as a byte
    GradientSketch sketch(values.size());
    ASSERT_TRUE(communicator.sketched_allreduce(values, sketch));
    EXPECT_NEAR(values[1], static_cast<float>(communicator.world_size()), 0.1f);
    EXPECT_NEAR(values.back(), static_cast<float>(communicator.world_size()), 0.1f);
    std::string name = "collectives_by_" + GetParam().algorithm;
    std::ranges::replace(name, '-', '_');
    EXPECT_EQ(communicator.statistics()[name], 1u);
    EXPECT_EQ(communicator.statistics()["collectives_by_ring"], 0u);
  });
}

TEST(Cube, ARankThatRefusedACallIsNotTakenForPartOfTheNext) {
  run({"bcube", 4, 2}, [](Communicator& communicator) {
    std::vector<float> values(20000, 1.0f);
    auto* const in = communicator.rank() == 2 ? nullptr : values.data();
    EXPECT_FALSE(
        communicator.allreduce(in, in, values.size(), ElementType::f32, Operator::logical_and));
    expect_sums(communicator, 20000, ElementType::f32, Operator::sum);
  });
}

// One rank refuses a call that the others begin, and wait for. They go on together.
void expect_to_go_on_after_a_refusal(const World& world, ElementType refused) {
  constexpr std::size_t count = 300000;
  const auto port = next_ports();
  std::barrier together(world.ranks);
  run_ranks(world.ranks, [&](std::uint32_t rank) {
    auto options = options_of(world, rank, port);
    options.deadline.reset();
    options.stall_timeout = 4s;
    auto communicator = Communicator::create(options);
    EXPECT_TRUE(communicator) << communicator.error().message;
    together.arrive_and_wait();
    if (communicator) {
      const bool refuses = rank == 2;
      std::vector<float> values(count, 1.0f);
      auto* const in = refuses && refused == ElementType::f32 ? nullptr : values.data();
      const auto type = refuses ? refused : ElementType::f32;
      EXPECT_FALSE(communicator->allreduce(in, in, count, type, Operator::sum));
    }
    together.arrive_and_wait();
    if (communicator) {
      expect_sums(*communicator, count, ElementType::f32, Operator::sum);
    }
    together.arrive_and_wait();
  });
}

TEST(Cube, RanksGoOnBehindACallThatOneRefusedInPieces) {
  expect_to_go_on_after_a_refusal({"bcube-switches", 4, 2, "8"}, ElementType::f32);
}

TEST(Cube, RanksGoOnBehindACallOfATypeThatOneDoesNotKnow) {
  for (const auto* const pieces : {"1", "8"}) {
    expect_to_go_on_after_a_refusal({"bcube-switches", 4, 2, pieces}, ElementType(99));
  }
}

TEST(Cube, ARankThatRefusedAGatherIsNotTakenForPartOfTheNext) {
  constexpr std::size_t count = 4000;
  run({"mesh", 4, 2}, [](Communicator& communicator) {
    for (int round = 0; round < 2; ++round) {
      const bool refuses = round == 0 && communicator.rank() == 3;
      const std::vector<float> in(count, static_cast<float>(10 * round + 1));
      std::vector<float> out(4 * count);
      const auto done = communicator.allgather(in.data(), out.data(), count,
                                               refuses ? ElementType(99) : ElementType::f32);
      EXPECT_FALSE(refuses && done);
      if (done) {
        EXPECT_EQ(out, std::vector<float>(4 * count, in[0])) << "round " << round;
      }
    }
  });
}

// One rank has gone: all others name it, though half of them are no neighbours of it.
TEST(Cube, ARankThatEndsIsNamedByAll) {
  std::mutex mutex;
  std::vector<std::string> said;
  run({"bcube", 9, 2}, [&](Communicator& communicator) {
    expect_sums(communicator, 20000, ElementType::f32, Operator::sum);
    if (communicator.rank() == 4) {
      return;
    }
    std::vector<float> values(100000, 1.0f);
    const auto done = communicator.allreduce(std::span(values));
    ASSERT_FALSE(done);
    const std::lock_guard lock(mutex);
    said.push_back(done.error().message);
  });
  ASSERT_EQ(said.size(), 8u);
  for (const auto& text : said) {
    EXPECT_THAT(text, HasSubstr("the connection with rank 4 (127."));
  }
}

// It does not ask its neighbours why the ring broke, who have nothing to say.
TEST(Cube, AnAbortEndsACallOfTheRingAtOnce) {
  std::atomic<bool> over = false;
  run({"bcube", 4, 2}, [&](Communicator& communicator) {
    if (communicator.rank() != 0) {
      over.wait(false);
      return;
    }
    Time aborted{};
    std::jthread other([&] {
      std::this_thread::sleep_for(50ms);
      aborted = Clock::now();
      communicator.abort();
    });
    const auto done = communicator.barrier();
    const auto ended = Clock::now();
    other.join();
    over = true;
    over.notify_all();
    EXPECT_LT(ended - aborted, 3s) << "for which it would ask";
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Error::Code::aborted) << done.error().message;
  });
}

TEST(Cube, ARankThatIsLateIsWaitedFor) {
  run({"mesh", 3, 2}, [](Communicator& communicator) {
    if (communicator.rank() == 1) {
      std::this_thread::sleep_for(700ms);
    }
    expect_sums(communicator, 500000, ElementType::f32, Operator::sum);
  });
}

TEST(Cube, ARankThatDoesNotComeIsNamedByTheDeadline) {
  const auto port = next_ports();
  run_ranks(4, [&](std::uint32_t rank) {
    auto options = options_of({"bcube", 4, 2}, rank, port);
    options.deadline.reset();
    options.stall_timeout = 1s;
    auto communicator = Communicator::create(options);
    ASSERT_TRUE(communicator) << communicator.error().message;
    if (rank == 3) {
      std::this_thread::sleep_for(3s);
      return;
    }
    std::vector<float> values(100000, 1.0f);
    const auto done = communicator->allreduce(std::span(values));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Error::Code::timeout);
    EXPECT_THAT(done.error().message, HasSubstr("rank 3"));
  });
}

// Returns the message of `create` about impossible options.
std::string refusal(const World& world, const std::string& interfaces = "") {
  auto options = options_of(world, 0, next_ports());
  if (!interfaces.empty()) {
    options.set("interfaces", interfaces);
  }
  options.stall_timeout = 300ms;
  const auto made = Communicator::create(options);
  return made ? "" : made.error().message;
}

TEST(Cube, OptionsThatCannotBeAreRefused) {
  EXPECT_THAT(refusal({"bcube", 6, 2}), HasSubstr("a BCube has 4, 9, 16, ... ranks, not 6"));
  EXPECT_THAT(refusal({"mesh", 6, 2}, "127.1.0.1,127.1.0.1"), HasSubstr("is given twice"));
  EXPECT_THAT(refusal({"mesh", 6, 2}, "eth77"),
              HasSubstr("has an IPv4 address (TRIBUTARY_INTERFACES)"));
  EXPECT_THAT(refusal({"mesh", 6, 2}, "198.51.100.1"), HasSubstr("TRIBUTARY_INTERFACES"));
}

// The others do not wait for it until they give up.
TEST(Cube, ARankThatCannotOpenItsInterfacesSaysSo) {
  const auto port = next_ports();
  run_ranks(8, [&](std::uint32_t rank) {
    auto options = options_of({"mesh", 8, 2}, rank, port);
    options.stall_timeout = 100s;
    if (rank == 7) {
      options.set("interfaces", "no-such");
    }
    const auto made = Communicator::create(options);
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().message, HasSubstr("no-such"));
  });
}

TEST(Cube, AllRanksHaveAsManyInterfaces) {
  const auto port = next_ports();
  run_ranks(2, [&](std::uint32_t rank) {
    const auto made = Communicator::create(options_of({"mesh", 2, rank + 1}, rank, port));
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().message, HasSubstr("rank 1 has 2 interfaces, rank 0 has 1"));
  });
}

TEST(Cube, AllRanksWantAsManyPieces) {
  const auto port = next_ports();
  run_ranks(2, [&](std::uint32_t rank) {
    const World world{"mesh-switches", 2, 1, rank == 0 ? "1" : "8"};
    const auto made = Communicator::create(options_of(world, rank, port));
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().message, HasSubstr("TRIBUTARY_CUBE_PIECES"));
  });
}

}  // namespace
}  // namespace tributary::host::test
