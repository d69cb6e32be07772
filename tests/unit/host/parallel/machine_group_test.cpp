// SPDX-License-Identifier: BSD-3-Clause
#include "host/parallel/machine_group.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t slab = 4096;

std::string next_name() {
  static std::atomic<int> number{0};
  return "tributary test " + std::to_string(::getpid()) + " " + std::to_string(number++);
}

// Runs `body` with what join() returns to each of the places.
void run(const std::vector<MachineGroup::Place>& places, Clock::duration patience,
         const std::function<void(const MachineGroup::Place&, Result<MachineGroup>)>& body) {
  std::vector<std::jthread> threads;
  for (const auto& place : places) {
    threads.emplace_back(
        [&, place] { body(place, MachineGroup::join(place, slab, Clock::now() + patience)); });
  }
}

std::vector<MachineGroup::Place> places_of(std::uint32_t size) {
  std::vector<MachineGroup::Place> places;
  const auto name = next_name();
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    places.push_back({name, rank, size});
  }
  return places;
}

TEST(MachineGroup, SeesWhatOthersWroteBeforeTheBarrier) {
  run(places_of(4), 10s, [](const auto& place, Result<MachineGroup> group) {
    ASSERT_TRUE(group) << group.error().message;
    for (int round = 0; round < 100; ++round) {
      *group->slab(place.rank) = static_cast<std::byte>(round + static_cast<int>(place.rank));
      ASSERT_TRUE(group->barrier({}, Clock::now() + 10s));
      for (std::uint32_t rank = 0; rank < group->size(); ++rank) {
        ASSERT_EQ(*group->slab(rank), static_cast<std::byte>(round + static_cast<int>(rank)));
      }
      ASSERT_TRUE(group->barrier({}, Clock::now() + 10s));
    }
  });
}

TEST(MachineGroup, OfOneNeedsNobody) {
  run(places_of(1), 10s, [](const auto&, Result<MachineGroup> group) {
    ASSERT_TRUE(group);
    EXPECT_TRUE(group->barrier({}, Clock::now()));
  });
}

TEST(MachineGroup, FailsForAllWhenOneFailed) {
  run(places_of(3), 10s, [](const auto& place, Result<MachineGroup> group) {
    ASSERT_TRUE(group);
    const Error why{Error::Code::timeout, "nobody came"};
    const bool is_mine = place.rank == 1;
    const auto barrier = group->barrier({0, is_mine ? &why : nullptr}, Clock::now() + 10s);
    EXPECT_EQ(barrier.has_value(), is_mine);  // who has it already
    if (!is_mine) {
      EXPECT_EQ(barrier.error().code, Error::Code::timeout);
      EXPECT_EQ(barrier.error().message, "local rank 1: nobody came");
    }
    EXPECT_TRUE(group->barrier({}, Clock::now() + 10s)) << "and goes on";
  });
}

// Rank 0 is busy for longer than the others would wait for an idle one.
TEST(MachineGroup, WaitsForWhoShowsProgress) {
  run(places_of(3), 10s, [](const auto& place, Result<MachineGroup> group) {
    ASSERT_TRUE(group);
    for (int step = 0; place.rank == 0 && step < 60; ++step) {
      std::this_thread::sleep_for(50ms);
      ++std::atomic_ref(*group->pulse());
    }
    const auto barrier = group->barrier({}, {never, 2s});
    EXPECT_TRUE(barrier) << barrier.error().message;
  });
}

TEST(MachineGroup, DoesNotWaitForWhoShowsNone) {
  std::latch given_up(1);
  run(places_of(2), 10s, [&](const auto& place, Result<MachineGroup> group) {
    ASSERT_TRUE(group);
    if (place.rank == 1) {
      return given_up.wait();
    }
    const auto barrier = group->barrier({}, {never, 100ms});
    given_up.count_down();
    ASSERT_FALSE(barrier);
    EXPECT_EQ(barrier.error().code, Error::Code::timeout);
    EXPECT_NE(barrier.error().message.find("made no progress for 0.1 s: local rank 1"),
              std::string::npos)
        << barrier.error().message;
  });
}

TEST(MachineGroup, SaysWhoHasGone) {
  run(places_of(2), 10s, [](const auto& place, Result<MachineGroup> group) {
    ASSERT_TRUE(group);
    if (place.rank == 0) {
      const auto barrier = group->barrier({}, Clock::now() + 10s);
      ASSERT_FALSE(barrier);
      EXPECT_NE(barrier.error().message.find("local rank 1"), std::string::npos);
    }
  });
}

// Rank 1 ends; rank 2 hears it from rank 0, and long before its own time is up.
TEST(MachineGroup, EndsForAllAtOnce) {
  auto places = places_of(3);
  for (auto& place : places) {
    place.known_as = {4, 5, 9};
  }
  run(places, 10s, [](const auto& place, Result<MachineGroup> group) {
    ASSERT_TRUE(group);
    if (place.rank == 1) {
      return;
    }
    const auto barrier = group->barrier({}, Clock::now() + 300s);
    ASSERT_FALSE(barrier);
    EXPECT_EQ(barrier.error().code, Error::Code::network);
    EXPECT_NE(barrier.error().message.find("rank 5, of this machine"), std::string::npos)
        << barrier.error().message;
    EXPECT_FALSE(group->barrier({}, Clock::now() + 300s));
  });
}

// This also holds for a rank that comes when the group has ended.
TEST(MachineGroup, TellsWhoComesLaterWhyItHasEnded) {
  std::latch over(1);
  run(places_of(2), 10s, [&](const auto& place, Result<MachineGroup> group) {
    ASSERT_TRUE(group);
    if (place.rank == 1) {
      over.wait();
    }
    const auto barrier = group->barrier({}, {never, place.rank == 0 ? 100ms : 300s});
    ASSERT_FALSE(barrier);
    EXPECT_NE(barrier.error().message.find("made no progress for 0.1 s: local rank 1"),
              std::string::npos)
        << barrier.error().message;
    if (place.rank == 0) {
      over.count_down();
      return;
    }
    EXPECT_EQ(barrier.error().code, Error::Code::timeout);
  });
}

TEST(MachineGroup, EndsWhenOneShutsItDown) {
  run(places_of(3), 10s, [](const auto& place, Result<MachineGroup> group) {
    ASSERT_TRUE(group);
    if (place.rank == 2) {
      group->shut_down();
    }
    EXPECT_FALSE(group->barrier({}, Clock::now() + 300s));
  });
}

TEST(MachineGroup, FailsForAllWhenTheyDoDifferentThings) {
  run(places_of(3), 10s, [](const auto& place, Result<MachineGroup> group) {
    ASSERT_TRUE(group);
    const auto barrier = group->barrier({place.rank == 2 ? 7u : 6u}, Clock::now() + 10s);
    ASSERT_FALSE(barrier);
    EXPECT_EQ(barrier.error().code, Error::Code::mismatch);
    EXPECT_TRUE(group->barrier({}, Clock::now() + 10s)) << "and goes on";
  });
}

// A late call would be taken for the next one.
TEST(MachineGroup, EndsWithABarrierThatSomebodyMissed) {
  run(places_of(2), 10s, [](const auto& place, Result<MachineGroup> group) {
    ASSERT_TRUE(group);
    if (place.rank == 1) {
      std::this_thread::sleep_for(200ms);
    }
    const auto first = group->barrier({}, Clock::now() + (place.rank == 0 ? 50ms : 1s));
    EXPECT_FALSE(first);
    const auto second = group->barrier({}, Clock::now() + 1s);
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().message.find("make a new communicator"), std::string::npos);
  });
}

TEST(MachineGroup, SaysHowManyAreMissing) {
  auto places = places_of(3);
  places.pop_back();
  run(places, 100ms, [](const auto& place, Result<MachineGroup> group) {
    ASSERT_FALSE(group);
    if (place.rank == 0) {
      EXPECT_NE(group.error().message.find("2 of 3 ranks of this machine came"), std::string::npos)
          << group.error().message;
    }
  });
}

TEST(MachineGroup, RefusesRanksThatCountDifferently) {
  auto places = places_of(2);
  places[1].size = 3;
  run(places, 2s, [](const auto& place, Result<MachineGroup> group) {
    ASSERT_FALSE(group);
    EXPECT_NE(group.error().message.find(place.rank == 0 ? "LOCAL_WORLD_SIZE" : "local rank 0"),
              std::string::npos)
        << group.error().message;
  });
}

}  // namespace
}  // namespace tributary::host::test
