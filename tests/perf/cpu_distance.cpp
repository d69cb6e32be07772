// SPDX-License-Identifier: BSD-3-Clause
// How far two CPUs are from each other: nanoseconds that a cache line takes there and back.
// `cpu_distance CPU CPU`. Virtual CPUs move, and what they share moves with them: from one cache to
// another it takes a multiple of what it takes within one.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <pthread.h>
#include <sched.h>
#include <thread>

namespace {

constexpr int round_trips = 20'000;
constexpr int samples = 5;

bool pin(int cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(static_cast<unsigned>(cpu), &cpus);
  return ::pthread_setaffinity_np(::pthread_self(), sizeof cpus, &cpus) == 0;
}

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
double nanoseconds_per_round_trip(int other_cpu, bool& pinned) {
  alignas(64) std::atomic<int> ball = -1;
  std::jthread other([&] {
    pinned = pin(other_cpu);
    ball.store(0, std::memory_order_release);
    answer(ball);
  });
  wait_for(ball, 0);
  const auto start = std::chrono::steady_clock::now();
  for (int turn = 0; turn < round_trips; ++turn) {
    ball.store(2 * turn + 1, std::memory_order_release);
    wait_for(ball, 2 * turn + 2);
  }
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  return took.count() / round_trips;
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
  if (argc != 3 || !parse(argv[1], one) || !parse(argv[2], other) || one == other) {
    std::fputs("usage: cpu_distance CPU CPU: the numbers of two different CPUs\n", stderr);
    return 2;
  }
  const bool here = pin(one);
  bool there = false;
  double least = nanoseconds_per_round_trip(other, there);
  for (int sample = 1; sample < samples; ++sample) {
    least = std::min(least, nanoseconds_per_round_trip(other, there));
  }
  if (!here || !there) {
    std::fputs("cpu_distance: this process may not run on both CPUs\n", stderr);
    return 1;
  }
  std::printf("%.1f\n", least);
  return 0;
}
