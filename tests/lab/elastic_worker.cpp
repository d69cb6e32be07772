// SPDX-License-Identifier: BSD-3-Clause
// A member of an elastic world, for elastic_test.py: adds up vectors, verifies the sums, and goes
// on through memberships until somebody is told to stop (SIGTERM).
//
//   elastic_worker ELEMENTS WORLD
//
// Where somebody is gone, others are waited for until there are WORLD ranks (0: nobody is).
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "host/communicator.h"

namespace {

using namespace tributary;

constexpr auto pause_between_steps = std::chrono::milliseconds(10);
constexpr int tries_max = 4;

volatile std::sig_atomic_t stops = 0;

[[noreturn]] void end_with(const char* what, const Error& error) {
  std::printf("%s failed: %s\n", what, error.message.c_str());
  std::exit(error.code == Error::Code::membership_ended ? 4 : 3);
}

class Worker {
 public:
  Worker(Communicator communicator, bool joins, std::size_t elements, std::uint32_t world_size)
      : communicator_(std::move(communicator)),
        step_(joins ? std::numeric_limits<std::int64_t>::max() : 0),
        values_(elements),
        world_size_(world_size) {}

  void run() {
    introduce();
    agree();
    for (bool goes_on = true; goes_on;) {
      if (const auto done = take_step(goes_on); !done) {
        tell(done.error());
        regroup(world_size_);
        agree();
      }
      std::this_thread::sleep_for(pause_between_steps);
    }
    std::printf("stopped at step %lld\n", static_cast<long long>(step_));
  }

 private:
  void introduce() const {
    const auto [epoch, newcomers, waiting, ended] = communicator_.membership();
    std::printf("membership %llu: rank %u of %u, %u new, by %s\n",
                static_cast<unsigned long long>(epoch), communicator_.rank(),
                communicator_.world_size(), newcomers, communicator_.algorithm().c_str());
  }

  void tell(const Error& error) const {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began_;
    std::printf("ended after %.3f s (%s): %s\n", took.count(),
                error.code == Error::Code::membership_ended ? "membership_ended" : "another error",
                error.message.c_str());
  }

  void regroup(std::uint32_t world_size) {
    for (int i = 1;; ++i) {
      const auto began = std::chrono::steady_clock::now();
      auto next = communicator_.regroup(world_size);
      if (next) {
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
        communicator_ = std::move(*next);
        std::printf("regrouped in %.3f s\n", took.count());
        introduce();
        return;
      }
      if (i == tries_max || next.error().code == Error::Code::membership_ended) {
        end_with("regroup", next.error());
      }
      std::printf("regroup is tried again: %s\n", next.error().message.c_str());
    }
  }

  // From the first step that not all who were here before have behind them: a newcomer has all.
  void agree() {
    for (;;) {
      auto first = step_;
      const auto done = communicator_.allreduce(std::span(&first, 1), wire::Operator::min);
      if (done) {
        step_ = first;
        return;
      }
      tell(done.error());
      regroup(world_size_);
    }
  }

  Result<void> take_step(bool& goes_on) {
    began_ = std::chrono::steady_clock::now();
    const std::int64_t rank = communicator_.rank();
    const std::int64_t ranks = communicator_.world_size();
    for (std::size_t k = 0; k < values_.size(); ++k) {
      values_[k] = (rank + 1) * (step_ + 1) + static_cast<std::int64_t>(k);
    }
    if (auto done = communicator_.allreduce(std::span(values_)); !done) {
      return done;
    }
    for (std::size_t k = 0; k < values_.size(); ++k) {
      if (values_[k] !=
          ranks * (ranks + 1) / 2 * (step_ + 1) + ranks * static_cast<std::int64_t>(k)) {
        std::printf("wrong sum: element %zu of step %lld\n", k, static_cast<long long>(step_));
        std::exit(5);
      }
    }
    ++step_;
    if (step_ % 10 == 0) {
      std::printf("membership %llu: %lld exact sums over %lld ranks, %llu by switches\n",
                  static_cast<unsigned long long>(communicator_.membership().epoch),
                  static_cast<long long>(step_), static_cast<long long>(ranks),
                  static_cast<unsigned long long>(communicator_.statistics()["switch_sums_seen"]));
    }
    return look_round(goes_on);
  }

  // What one of them has heard all do together.
  Result<void> look_round(bool& goes_on) {
    std::int64_t news[] = {communicator_.membership().waiting, stops};
    if (auto done = communicator_.allreduce(std::span<std::int64_t>(news), wire::Operator::max);
        !done) {
      return done;
    }
    goes_on = news[1] == 0;
    if (goes_on && news[0] > 0) {
      regroup(0);
      agree();
    }
    return {};
  }

  Communicator communicator_;
  std::int64_t step_;
  std::vector<std::int64_t> values_;
  std::uint32_t world_size_;
  std::chrono::steady_clock::time_point began_{};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("elastic_worker ELEMENTS WORLD\n", stderr);
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::signal(SIGTERM, [](int) { stops = 1; });
  auto options = CommunicatorOptions::from_environment();
  if (!options) {
    end_with("reading the environment", options.error());
  }
  options->on_notice = [](const std::string& line) { std::printf("notice: %s\n", line.c_str()); };
  auto communicator = Communicator::create(*options);
  if (!communicator) {
    end_with("creation", communicator.error());
  }
  Worker(std::move(*communicator), options->membership == Membership::join,
         std::strtoul(argv[1], nullptr, 10),
         static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10)))
      .run();
  return 0;
}
