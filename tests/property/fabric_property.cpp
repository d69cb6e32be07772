// SPDX-License-Identifier: BSD-3-Clause
// Runs random fabrics, one per seed. There must never be a wrong sum or a hang. See
// docs/testing.md.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <malloc.h>
#include <mutex>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <CLI/CLI.hpp>

#include "property/describe.h"
#include "property/shape.h"
#include "property/shrink.h"
#include "property/trial.h"

namespace tributary::test {
namespace {

using Steady = std::chrono::steady_clock;

struct Settings {
  std::uint64_t first = 1;
  std::uint64_t last = 1000;
  unsigned jobs = 1;
  std::string shape;
  std::string corpus;
  bool trace = false;
  bool shrink = false;
  bool print = false;
  std::uint64_t failures_max = 10;
  std::uint64_t replay_every = 64;
};

// A trial that still runs after so many looks counts as hanging. The watcher counts looks and not
// time, because it does not look while the process is stopped or gets no processor.
constexpr auto look_interval = std::chrono::milliseconds(200);
constexpr std::uint64_t stuck_after_looks = 600;

// The seed that a thread runs, for the report when it crashes or hangs.
thread_local std::uint64_t current_seed = 0;

void report_crash(int signal) {
  char text[96];
  const int length = std::snprintf(text, sizeof text, "\nFAILED seed %llu: signal %d\n",
                                   static_cast<unsigned long long>(current_seed), signal);
  if (write(STDERR_FILENO, text, static_cast<std::size_t>(length)) >= 0) {
    std::_Exit(1);
  }
  std::_Exit(2);
}

void print_outcome(const Shape& shape, const Outcome& outcome) {
  std::cout << to_text(shape) << "\n  " << outcome.frames << " frames, " << outcome.succeeded
            << " succeeded, " << outcome.failed << " failed, longest "
            << std::chrono::duration<double, std::milli>(outcome.longest).count() << " ms, "
            << outcome.switch_sums << " switch sums, " << outcome.requests << " requests, "
            << outcome.reissues << " failures sent, " << outcome.direct_blocks << " direct blocks, "
            << outcome.collisions << " collisions, " << outcome.panama_sums << " PANAMA sums, "
            << outcome.panama_repeats << " repeats, " << outcome.panama_replays << " replays, "
            << outcome.panama_partial << " partial, " << outcome.netreduce_sums
            << " NetReduce sums, " << outcome.netreduce_repeats << " packets again, "
            << outcome.netreduce_answered << " answered, " << outcome.flare_sums << " Flare sums, "
            << outcome.flare_repeats << " packets again, " << outcome.flare_replays << " replays, "
            << outcome.flare_inquiries << " inquiries, digest " << std::hex << outcome.digest
            << std::dec << "\n  drops:" << outcome.drops << "\n";
}

class Runner {
 public:
  explicit Runner(const Settings& settings) : settings_(settings) {}

  // Runs one shape and prints its details.
  int replay(const Shape& shape) {
    HeapPacketPool pool(VirtualFabric::pool_packets, VirtualFabric::frame_bytes_max);
    current_seed = shape.seed;
    const auto outcome = run_trial(shape, pool, settings_.trace ? print_hop : nullptr);
    print_outcome(shape, outcome);
    if (!outcome.fault.empty()) {
      fail(shape, outcome, pool);
    }
    return failures_ == 0 ? 0 : 1;
  }

  int run() {
    const auto began = Steady::now();
    run_corpus();
    const auto corpus_seconds = seconds_since(began);
    const auto seeds_began = Steady::now();
    next_ = settings_.first;
    std::vector<std::thread> threads;
    started_.assign(settings_.jobs, {});
    for (unsigned job = 0; job < settings_.jobs; ++job) {
      threads.emplace_back([this, job] { work(job); });
    }
    std::thread guard([this] { watch(); });
    for (auto& thread : threads) {
      thread.join();
    }
    done_ = true;
    guard.join();
    summarise(corpus_seconds, seconds_since(seeds_began));
    return failures_ == 0 ? 0 : 1;
  }

 private:
  static double seconds_since(Steady::time_point began) {
    return std::chrono::duration<double>(Steady::now() - began).count();
  }

  // CPU time of the whole process, which on a busy machine tells more than the elapsed time.
  static double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }

  void run_corpus() {
    if (settings_.corpus.empty()) {
      return;
    }
    HeapPacketPool pool(VirtualFabric::pool_packets, VirtualFabric::frame_bytes_max);
    std::ifstream file(settings_.corpus);
    if (!file) {
      std::cerr << "cannot read " << settings_.corpus << "\n";
      ++failures_;
    }
    std::string line;
    while (std::getline(file, line)) {
      if (line.empty() || line[0] == '#') {
        continue;
      }
      const auto shape = shape_of(line);
      if (!shape) {
        std::cerr << settings_.corpus << ": not a shape: " << line << "\n";
        ++failures_;
        continue;
      }
      current_seed = shape->seed;
      const auto outcome = run_trial(*shape, pool);
      ++corpus_;
      if (!outcome.fault.empty()) {
        fail(*shape, outcome, pool);
      }
    }
  }

  void work(unsigned job) {
    HeapPacketPool pool(VirtualFabric::pool_packets, VirtualFabric::frame_bytes_max);
    while (failures_ < settings_.failures_max) {
      const auto seed = next_++;
      if (seed > settings_.last) {
        break;
      }
      current_seed = seed;
      {
        const std::lock_guard lock(mutex_);
        started_[job] = {seed, looks_};
      }
      examine(seed, pool);
    }
    const std::lock_guard lock(mutex_);
    started_[job] = {};
  }

  void examine(std::uint64_t seed, HeapPacketPool& pool) {
    const auto shape = random_shape(seed);
    auto outcome = run_trial(shape, pool);
    if (outcome.fault.empty() && seed % settings_.replay_every == 0 &&
        run_trial(shape, pool).digest != outcome.digest) {
      outcome.fault = "the same shape ran differently the second time";
    }
    if (!outcome.fault.empty()) {
      return fail(shape, outcome, pool);
    }
    const std::lock_guard lock(mutex_);
    ++passed_;
    frames_ += outcome.frames;
    succeeded_ += outcome.succeeded;
    failed_ += outcome.failed;
    switch_sums_ += outcome.switch_sums;
    requests_ += outcome.requests;
    reissues_ += outcome.reissues;
    direct_blocks_ += outcome.direct_blocks;
    collisions_ += outcome.collisions;
    ipv6_seeds_ += shape.ipv6;
    tagged_seeds_ += shape.tagged;
    trunk_seeds_ += shape.trunks;
    multitude_seeds_ += shape.world >= 900 ? 1 : 0;
    panama_seeds_ += shape.panama != 0 ? 1 : 0;
    panama_sums_ += outcome.panama_sums;
    panama_repeats_ += outcome.panama_repeats;
    panama_replays_ += outcome.panama_replays;
    panama_partial_ += outcome.panama_partial;
    netreduce_seeds_ += shape.netreduce != 0 ? 1 : 0;
    netreduce_sums_ += outcome.netreduce_sums;
    netreduce_repeats_ += outcome.netreduce_repeats;
    netreduce_answered_ += outcome.netreduce_answered;
    flare_seeds_ += shape.flare != 0 ? 1 : 0;
    flare_sums_ += outcome.flare_sums;
    flare_repeats_ += outcome.flare_repeats;
    flare_replays_ += outcome.flare_replays;
    flare_inquiries_ += outcome.flare_inquiries;
    if (must_succeed(shape) && outcome.longest > longest_) {
      longest_ = outcome.longest;
      longest_seed_ = seed;
    }
    if (settings_.print) {
      print_outcome(shape, outcome);
    }
  }

  void fail(Shape shape, const Outcome& outcome, HeapPacketPool& pool) {
    const auto whole = to_text(shape);
    if (settings_.shrink) {
      shape = shrink(shape, pool);
    }
    const std::lock_guard lock(mutex_);
    ++failures_;
    std::cout << "FAILED seed " << shape.seed << ": " << outcome.fault << "\n  --shape '" << whole
              << "'\n";
    if (settings_.shrink) {
      std::cout << "  shrunk: --shape '" << to_text(shape) << "'\n";
    }
    std::cout << outcome.state << std::flush;
  }

  void watch() {
    while (!done_) {
      std::this_thread::sleep_for(look_interval);
      const std::lock_guard lock(mutex_);
      ++looks_;
      for (const auto& [seed, since] : started_) {
        if (seed != 0 && !settings_.shrink && looks_ - since > stuck_after_looks) {
          std::cout << "FAILED seed " << seed << ": does not end\n" << std::flush;
          std::_Exit(1);
        }
      }
    }
  }

  void summarise(double corpus_seconds, double seconds) {
    const auto milliseconds = std::chrono::duration<double, std::milli>(longest_).count();
    if (corpus_ != 0) {
      std::cout << corpus_ << " shapes of the corpus in " << corpus_seconds << " s\n";
    }
    std::cout << passed_ << " seeds passed, " << failures_ << " failed, in " << seconds
              << " s: " << static_cast<double>(passed_) / seconds << " seeds/s with "
              << settings_.jobs << " threads, " << static_cast<double>(passed_) / cpu_seconds()
              << " per CPU second\n"
              << "  " << frames_ << " frames, " << static_cast<double>(frames_) / seconds
              << " frames/s\n"
              << "  " << succeeded_ << " collectives succeeded, " << failed_
              << " failed as they had to; longest success " << milliseconds << " ms (seed "
              << longest_seed_ << ")\n"
              << "  " << switch_sums_ << " sums of switches, " << collisions_ << " collisions, "
              << requests_ << " requests, " << reissues_ << " failures announced, "
              << direct_blocks_ << " blocks reduced by hosts\n"
              << "  " << ipv6_seeds_ << " seeds with IPv6, " << tagged_seeds_
              << " with tags of hosts, " << trunk_seeds_ << " with trunks, " << multitude_seeds_
              << " with 900 ranks or more\n"
              << "  " << panama_seeds_ << " seeds with PANAMA: " << panama_sums_
              << " sums of switches, " << panama_repeats_ << " packets and " << panama_replays_
              << " results sent again, " << panama_partial_ << " partial results\n"
              << "  " << netreduce_seeds_ << " seeds with NetReduce: " << netreduce_sums_
              << " sums of switches, " << netreduce_repeats_ << " packets sent again, "
              << netreduce_answered_ << " of them answered by switches\n"
              << "  " << flare_seeds_ << " seeds with Flare: " << flare_sums_
              << " sums of switches, " << flare_repeats_ << " packets and " << flare_replays_
              << " results sent again, " << flare_inquiries_ << " inquiries\n";
  }

  struct Started {
    std::uint64_t seed = 0;
    std::uint64_t since = 0;  // looks
  };

  const Settings& settings_;
  std::atomic<std::uint64_t> next_{1};
  std::atomic<std::uint64_t> failures_{0};
  std::atomic<bool> done_{false};
  std::mutex mutex_;
  std::vector<Started> started_;
  std::uint64_t looks_ = 0;
  std::uint64_t corpus_ = 0;
  std::uint64_t passed_ = 0;
  std::uint64_t frames_ = 0;
  std::uint64_t succeeded_ = 0;
  std::uint64_t failed_ = 0;
  std::uint64_t switch_sums_ = 0;
  std::uint64_t requests_ = 0;
  std::uint64_t reissues_ = 0;
  std::uint64_t direct_blocks_ = 0;
  std::uint64_t collisions_ = 0;
  std::uint64_t ipv6_seeds_ = 0;
  std::uint64_t tagged_seeds_ = 0;
  std::uint64_t trunk_seeds_ = 0;
  std::uint64_t multitude_seeds_ = 0;
  std::uint64_t panama_seeds_ = 0;
  std::uint64_t panama_sums_ = 0;
  std::uint64_t panama_repeats_ = 0;
  std::uint64_t panama_replays_ = 0;
  std::uint64_t panama_partial_ = 0;
  std::uint64_t netreduce_seeds_ = 0;
  std::uint64_t netreduce_sums_ = 0;
  std::uint64_t netreduce_repeats_ = 0;
  std::uint64_t netreduce_answered_ = 0;
  std::uint64_t flare_seeds_ = 0;
  std::uint64_t flare_sums_ = 0;
  std::uint64_t flare_repeats_ = 0;
  std::uint64_t flare_replays_ = 0;
  std::uint64_t flare_inquiries_ = 0;
  Duration longest_{};
  std::uint64_t longest_seed_ = 0;
};

// "5" or "1..1000".
bool parse_seeds(const std::string& text, Settings& settings) {
  unsigned long long first = 0;
  unsigned long long last = 0;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%llu..%llu%c", &first, &last, &rest) == 2) {
    settings.first = first;
    settings.last = last;
  } else if (std::sscanf(text.c_str(), "%llu%c", &first, &rest) == 1) {
    settings.first = settings.last = first;
  } else {
    return false;
  }
  return settings.first >= 1 && settings.first <= settings.last;
}

int main_of(int argc, char** argv) {
  Settings settings;
  std::string seeds = "1..1000";
  CLI::App app{
      "Runs Canary, PANAMA, NetReduce and Flare on random fabrics in virtual time and checks "
      "every result."};
  app.add_option("--seeds", seeds, "one seed, or FIRST..LAST");
  app.add_option("--jobs", settings.jobs, "threads")->check(CLI::Range(1, 256));
  app.add_option("--shape", settings.shape, "run this one shape instead");
  app.add_option("--corpus", settings.corpus, "file of shapes that run first");
  app.add_option("--failures", settings.failures_max, "stop after so many");
  app.add_flag("--trace", settings.trace, "with one seed or shape: print every frame");
  app.add_flag("--shrink", settings.shrink, "look for a simpler shape that fails, too");
  app.add_flag("--print", settings.print, "print every trial");
  CLI11_PARSE(app, argc, argv);
  if (!parse_seeds(seeds, settings)) {
    std::cerr << "--seeds: write 7 or 1..1000\n";
    return 2;
  }
  // Large tables come zeroed from the kernel, so that only pages that are touched take time.
  mallopt(M_MMAP_THRESHOLD, 64 * 1024);
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) {
    std::signal(signal, report_crash);
  }
  Runner runner(settings);
  if (!settings.shape.empty()) {
    const auto shape = shape_of(settings.shape);
    if (!shape) {
      std::cerr << "--shape: write name=value ..., as printed for a failure\n";
      return 2;
    }
    return runner.replay(*shape);
  }
  if (settings.first == settings.last) {
    return runner.replay(random_shape(settings.first));
  }
  return runner.run();
}

}  // namespace
}  // namespace tributary::test

int main(int argc, char** argv) {
  return tributary::test::main_of(argc, argv);
}
