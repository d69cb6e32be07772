// SPDX-License-Identifier: BSD-3-Clause
// Tests what becomes of ranks of which one can start no thread. They are threads of this process,
// and meet on real sockets of the loopback interface.
#include "host/thread.h"

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <dlfcn.h>
#include <pthread.h>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/clock.h"
#include "host/communicator.h"
#include "host/parallel/parallel_communicator.h"
#include "unit/host/c/world.h"
#include "unit/host/loopback.h"
#include "unit/host/ports.h"

namespace {

thread_local bool has_no_threads_left = false;

}  // namespace

// Stands before the C library's, also for the library of C++.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*body)(void*), void* argument) noexcept {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
  return has_no_threads_left ? EAGAIN : create(thread, attributes, body, argument);
}

namespace tributary::host::test {
namespace {

using testing::Each;
using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr auto cause = "no thread can be started (Resource temporarily unavailable)";

// Returns what each rank gets to hear, once all have failed soon: rank 1 has no threads.
template <typename Create>
std::vector<std::string> errors_of(std::uint32_t ranks, Create create) {
  std::vector<std::string> errors(ranks);
  const auto began = Clock::now();
  run_ranks(ranks, [&](std::uint32_t rank) {
    has_no_threads_left = rank == 1;
    errors[rank] = create(rank);
  });
  EXPECT_LT(Clock::now() - began, 5s);
  return errors;
}

template <typename Made>
std::string error_of(const Made& made) {
  return made ? "" : made.error().message;
}

std::string end(tributary_comm* comm, tributary_result result) {
  const std::string error = result == TRIBUTARY_SUCCESS ? "" : tributary_last_error();
  tributary_comm_destroy(comm);
  return error;
}

TEST(Thread, IsMissedWithTheCauseAndWhatToDo) {
  has_no_threads_left = true;
  const auto started = start_thread([] {});
  has_no_threads_left = false;
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().message,
            std::string(cause) +
                ": allow this user, or the container, more processes (ulimit -u, "
                "pids.max)");
}

TEST(ARankWithoutThreads, IsNamedByAllRanks) {
  const auto port = next_ports();
  for (const auto late : {false, true}) {
    const auto errors = errors_of(3, [&](std::uint32_t rank) {
      auto options = options_on_loopback(rank, 3, port);
      if (late) {
        options.algorithm = "ring";  // its only thread watches over the ranks
        options.late_timeout = 10min;
      }
      return error_of(Communicator::create(options));
    });
    EXPECT_THAT(errors, Each(HasSubstr(cause)));
    EXPECT_THAT(errors[0], HasSubstr("rank 1"));
    EXPECT_THAT(errors[2], HasSubstr("rank 1"));
  }
}

TEST(ARankWithoutThreads, IsNamedByAllRanksOfC) {
  const auto port = std::to_string(next_ports());
  const auto errors = errors_of(3, [&](std::uint32_t rank) {
    const auto options = c_options(rank);
    tributary_options_set(options.get(), "RANK", std::to_string(rank).c_str());
    tributary_options_set(options.get(), "WORLD_SIZE", "3");
    tributary_options_set(options.get(), "MASTER_ADDR", "127.0.0.1");
    tributary_options_set(options.get(), "MASTER_PORT", port.c_str());
    tributary_comm* comm = nullptr;
    const auto made = tributary_comm_create(&comm, options.get());
    return end(comm, made);
  });
  EXPECT_THAT(errors, Each(HasSubstr(cause)));
  EXPECT_THAT(errors[0], HasSubstr("rank 1"));
}

TEST(ARankWithoutThreads, IsNamedByAllThatMeetByAnAllgather) {
  Gatherers meeting(3);
  const auto errors = errors_of(3, [&](std::uint32_t rank) {
    Gatherers::Seat seat{&meeting, rank};
    const auto options = c_options(rank);
    tributary_comm* comm = nullptr;
    const auto made =
        tributary_comm_create_with(&comm, options.get(), rank, 3, Gatherers::allgather, &seat);
    return end(comm, made);
  });
  EXPECT_THAT(errors, Each(HasSubstr(cause)));
  EXPECT_THAT(errors[2], HasSubstr("rank 1"));
}

// Rank 1 meets another group than ranks 0 and 2.
TEST(ARankWithoutThreads, IsNamedByAllThatShareMachines) {
  const auto port = next_ports(3);
  const auto errors = errors_of(4, [&](std::uint32_t rank) {
    ParallelOptions options;
    options.communicator = options_on_loopback(rank, 4, port);
    options.local_rank = rank % 2;
    options.local_world_size = 2;
    options.hierarchy = Hierarchy::parallel;
    return error_of(ParallelCommunicator::create(options));
  });
  EXPECT_THAT(errors, Each(HasSubstr(cause)));
}

}  // namespace
}  // namespace tributary::host::test
