// SPDX-License-Identifier: BSD-3-Clause
// Runs random elastic worlds, one per seed. All processes must agree on the members, no sum may be
// wrong, and no process may wait for ever. See docs/testing.md.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>

#include <CLI/CLI.hpp>
#include <sodium/core.h>

#include "property/membership/shape.h"
#include "property/membership/trial.h"

namespace tributary::test {
namespace {

constexpr std::uint64_t replay_every = 64;

class Runner {
 public:
  explicit Runner(bool shrinks) : shrinks_(shrinks) {}

  void run(const MembershipShape& shape) {
    auto outcome = run_membership_trial(shape);
    const bool again = shape.seed % replay_every == 0 && outcome.fault.empty();
    if (again && run_membership_trial(shape).digest != outcome.digest) {
      outcome.fault = "the same shape ran differently the second time";
    }
    ++trials_;
    processes_ += outcome.processes;
    memberships_ += outcome.memberships;
    sums_ += outcome.sums;
    errors_ += outcome.errors;
    if (!outcome.fault.empty()) {
      fail(shape, outcome.fault);
    }
  }
  bool run_corpus(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line)) {
      const auto shape = membership_shape_of(line);
      if (!line.empty() && line[0] != '#' && !shape) {
        std::cerr << path << ": not a shape: " << line << "\n";
        return false;
      }
      if (!line.empty() && line[0] != '#') {
        run(*shape);
      }
    }
    return file.eof();
  }

  std::uint64_t failures() const { return failures_; }
  void summarise(double seconds) const {
    std::cout << trials_ << " trials, " << failures_ << " failed, in " << seconds
              << " s: " << 1000 * seconds / static_cast<double>(trials_) << " ms each; "
              << processes_ << " processes, " << memberships_ << " memberships, " << sums_
              << " sums and " << errors_ << " errors of one process\n";
  }

 private:
  void fail(MembershipShape shape, const std::string& fault) {
    ++failures_;
    std::cout << "FAILED seed " << shape.seed << ": " << fault << "\n  --shape '" << to_text(shape)
              << "'\n";
    if (shrinks_) {
      shape = shrink(shape, [](const MembershipShape& simpler) {
        return !run_membership_trial(simpler).fault.empty();
      });
      std::cout << "  shrunk: --shape '" << to_text(shape)
                << "': " << run_membership_trial(shape).fault << "\n";
    }
    std::cout << std::flush;
  }

  bool shrinks_;
  std::uint64_t trials_ = 0;
  std::uint64_t failures_ = 0;
  std::uint64_t processes_ = 0;
  std::uint64_t memberships_ = 0;
  std::uint64_t sums_ = 0;
  std::uint64_t errors_ = 0;
};

// "5" or "1..1000".
bool parse_seeds(const std::string& text, std::uint64_t& first, std::uint64_t& last) {
  unsigned long long from = 0;
  unsigned long long to = 0;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%llu..%llu%c", &from, &to, &rest) != 2) {
    if (std::sscanf(text.c_str(), "%llu%c", &from, &rest) != 1) {
      return false;
    }
    to = from;
  }
  first = from;
  last = to;
  return first >= 1 && first <= last;
}

int replay(const MembershipShape& shape, bool traces) {
  const auto outcome = run_membership_trial(shape, [&](const std::string& line) {
    if (traces) {
      std::cout << line << "\n";
    }
  });
  std::cout << to_text(shape) << "\n  " << outcome.processes << " processes, "
            << outcome.memberships << " memberships, " << outcome.sums << " sums, "
            << outcome.errors << " errors, digest " << std::hex << outcome.digest << std::dec
            << "\n";
  if (!outcome.fault.empty()) {
    std::cout << "FAILED: " << outcome.fault << "\n";
  }
  return outcome.fault.empty() ? 0 : 1;
}

int main_of(int argc, char** argv) {
  std::string seeds = "1..1000";
  std::string text;
  std::string corpus;
  std::uint64_t failures_max = 10;
  bool shrinks = false;
  bool traces = false;
  CLI::App app{
      "Runs elastic worlds in virtual time and checks what members, and their keepers, do."};
  app.add_option("--seeds", seeds, "one seed, or FIRST..LAST");
  app.add_option("--shape", text, "run this one shape instead");
  app.add_option("--corpus", corpus, "file of shapes that run first");
  app.add_option("--failures", failures_max, "stop after so many");
  app.add_flag("--shrink", shrinks, "look for a simpler shape that fails, too");
  app.add_flag("--trace", traces, "with one shape: print what its keepers say");
  CLI11_PARSE(app, argc, argv);
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  const auto shape = membership_shape_of(text);
  if (!shape || !parse_seeds(seeds, first, last) || ::sodium_init() < 0) {
    std::cerr << (shape ? "--seeds: write 7 or 1..1000\n"
                        : "--shape: write name=value ..., as printed for a failure\n");
    return 2;
  }
  if (!text.empty() && !shrinks) {
    return replay(*shape, traces);
  }
  Runner runner(shrinks);
  const auto began = std::chrono::steady_clock::now();
  if (!text.empty()) {
    runner.run(*shape);
    return runner.failures() == 0 ? 0 : 1;
  }
  if (first == last && !shrinks) {
    return replay(random_membership_shape(first), traces);
  }
  if (!corpus.empty() && !runner.run_corpus(corpus)) {
    std::cerr << "cannot read " << corpus << "\n";
    return 2;
  }
  for (auto seed = first; seed <= last && runner.failures() < failures_max; ++seed) {
    runner.run(random_membership_shape(seed));
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
  runner.summarise(seconds.count());
  return runner.failures() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tributary::test

int main(int argc, char** argv) {
  return tributary::test::main_of(argc, argv);
}
