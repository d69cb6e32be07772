// SPDX-License-Identifier: BSD-3-Clause
// What others leave of the CPUs at this moment: `cpu_state CPU [CPU]`. Virtual CPUs move. What
// shares a core with one of them takes a third of what it can do in a cycle, for seconds; and from
// one cache to another, a cache line takes a multiple of what it takes within one.
#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <pthread.h>
#include <sched.h>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int samples = 5;

double nanoseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

bool pin(int cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(static_cast<unsigned>(cpu), &cpus);
  return ::pthread_setaffinity_np(::pthread_self(), sizeof cpus, &cpus) == 0;
}

// Sums that do not wait for each other, so that the units that add are what limits. The compiler is
// not to see that nobody wants them.
template <std::size_t... Of>
void add_once(std::array<unsigned long, sizeof...(Of)>& sums, std::index_sequence<Of...>) {
  ((sums[Of] += 1, [](unsigned long& sum) { asm volatile("" : "+r"(sum)); }(sums[Of])), ...);
}

double additions_per_nanosecond() {
  constexpr std::size_t width = 6;
  constexpr int rounds = 1'000'000;
  std::array<unsigned long, width> sums{};
  const auto start = Clock::now();
  for (int round = 0; round < rounds; ++round) {
    add_once(sums, std::make_index_sequence<width>());
  }
  return width * rounds / nanoseconds_since(start);
}

constexpr int round_trips = 20'000;

void wait_for(const std::atomic<int>& ball, int turn) {
  while (ball.load(std::memory_order_acquire) != turn) {
  }
}

void answer(std::atomic<int>& ball) {
  for (int turn = 0; turn < round_trips; ++turn) {
    wait_for(ball, 2 * turn + 1);
    ball.store(2 * turn + 2, std::memory_order_release);
  }
}

// The other thread runs already when the clock is read.
double nanoseconds_per_round_trip(int other_cpu) {
  alignas(64) std::atomic<int> ball = -1;
  std::jthread other([&] {
    pin(other_cpu);
    ball.store(0, std::memory_order_release);
    answer(ball);
  });
  wait_for(ball, 0);
  const auto start = Clock::now();
  for (int turn = 0; turn < round_trips; ++turn) {
    ball.store(2 * turn + 1, std::memory_order_release);
    wait_for(ball, 2 * turn + 2);
  }
  return nanoseconds_since(start) / round_trips;
}

// The least of what was added is what counts: a neighbour who comes and goes has been there.
bool report_additions(int cpu) {
  if (!pin(cpu)) {
    std::fprintf(stderr, "cpu_state: this process may not run on CPU %d\n", cpu);
    return false;
  }
  double least = additions_per_nanosecond();
  for (int sample = 1; sample < samples; ++sample) {
    least = std::min(least, additions_per_nanosecond());
  }
  std::printf("additions_per_ns %.2f\n", least);
  return true;
}

// From the CPU that this thread is pinned to.
void report_distance(int to) {
  double least = nanoseconds_per_round_trip(to);
  for (int sample = 1; sample < samples; ++sample) {
    least = std::min(least, nanoseconds_per_round_trip(to));
  }
  std::printf("round_trip_ns %.1f\n", least);
}

bool parse(const char* text, int& cpu) {
  const char* end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, cpu);
  return error == std::errc{} && rest == end && cpu >= 0 && cpu < CPU_SETSIZE;
}

}  // namespace

int main(int argc, char** argv) {
  int one = 0;
  int other = 0;
  const bool understood =
      (argc == 2 && parse(argv[1], one)) ||
      (argc == 3 && parse(argv[1], one) && parse(argv[2], other) && one != other);
  if (!understood) {
    std::fputs("usage: cpu_state CPU [CPU]: the numbers of one CPU, or of two different ones\n",
               stderr);
    return 2;
  }
  if (!report_additions(one)) {
    return 1;
  }
  if (argc == 3) {
    if (!report_additions(other)) {
      return 1;
    }
    report_distance(one);
  }
  return 0;
}
