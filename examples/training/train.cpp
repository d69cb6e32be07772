// SPDX-License-Identifier: BSD-3-Clause
// Trains a small model on ranks of which the last one is slow, by each way to synchronise them:
//
//   train bsp|ssp|drop|asp|allreduce STALENESS SECONDS COMPUTE_MS SLOWNESS TARGET
//
// `drop` is ssp that drops what is stale; `allreduce` adds all gradients up in one call of the
// communicator, by whichever algorithm it has. Each rank has its own points, mostly of two classes.
// Rank 0 prints as JSON when the accuracy reached TARGET, and what it was in the end.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "arguments.h"
#include "host/training/gradient_exchange.h"
#include "model.h"
#include "must.h"

namespace {

using namespace tributary;
using example::Layers;
using example::must;
using example::Point;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr std::size_t batch = 32;
constexpr float learning_rate = 0.15F;

struct Task {
  std::optional<GradientExchangeOptions> exchange;  // none: by one allreduce of all gradients
  Seconds time{};
  Seconds compute{};  // of one iteration, on this rank
  double target = 1;
};

// One rank's model and points, and how well it does.
class Trainer {
 public:
  Trainer(const Task& task, std::uint32_t rank, std::uint32_t ranks)
      : task_(task), rank_(rank), ranks_(ranks), random_(100 + rank) {
    std::mt19937 same(5);
    for (std::size_t i = 0; i < 800; ++i) {
      tests_.push_back(points_.draw(same, i % example::classes));
    }
  }

  std::span<float> parameters() { return parameters_; }
  std::span<float> gradients() { return gradients_; }
  Layers layers() { return Layers(gradients_); }
  bool has_ended() const { return parameters_.back() != 0; }

  void compute() {
    const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(task_.compute);
    std::fill(gradients_.begin(), gradients_.end(), 0.0F);
    gradients_.back() = rank_ == 0 && Clock::now() - began_ > task_.time ? 1.0F : 0.0F;
    for (std::size_t i = 0; i < batch; ++i) {
      backward(Layers(parameters_), points_.draw(random_, any_class()), Layers(gradients_));
    }
    if (rank_ == 0 && ++iterations_ % 5 == 0) {
      judge();
    }
    std::this_thread::sleep_until(until);
  }
  void apply(std::size_t layer, std::span<const float> sum) {
    const auto mine = Layers(parameters_).parts[layer];
    const auto rate = learning_rate / static_cast<float>(batch * ranks_);
    for (std::size_t i = 0; i < sum.size(); ++i) {
      mine[i] -= rate * sum[i];
    }
  }
  void judge() {
    accuracy_ = accuracy(Layers(parameters_), tests_);
    if (accuracy_ >= task_.target && reached_ < Seconds(0)) {
      reached_ = Clock::now() - began_;
    }
  }
  double accuracy_now() const { return accuracy_; }
  double reached_s() const { return reached_.count(); }

 private:
  std::size_t any_class() {
    return random_() % 10 < 7 ? (2 * rank_ + random_() % 2) % example::classes
                              : random_() % example::classes;
  }

  const Task& task_;
  std::uint32_t rank_;
  std::uint32_t ranks_;
  std::mt19937 random_;
  example::Points points_;
  std::vector<Point> tests_;
  std::vector<float> parameters_ = example::initial_parameters();
  std::vector<float> gradients_ = std::vector<float>(parameters_.size());
  std::uint64_t iterations_ = 0;
  Clock::time_point began_ = Clock::now();
  double accuracy_ = 0;
  Seconds reached_{-1};
};

struct Outcome {
  double iterations = 0;
  double dropped = 0;
  double longest_wait_ms = 0;
};

Outcome train_loosely(GradientExchange& exchange, Trainer& trainer) {
  for (must(exchange.enter()); !trainer.has_ended(); must(exchange.enter())) {
    trainer.compute();
    const auto layers = trainer.layers();
    for (std::size_t layer = layers.parts.size(); layer-- > 0;) {
      must(exchange.offer(layer, layers.parts[layer]));
    }
    must(exchange.finish());
  }
  must(exchange.close());
  const auto figures = exchange.statistics();
  return {static_cast<double>(figures["iterations"] - 1),  // in the last one it has ended
          static_cast<double>(figures["iterations_dropped"]),
          static_cast<double>(figures["longest_wait_ns"]) * 1e-6};
}

Outcome train_together(Communicator& communicator, Trainer& trainer) {
  Outcome outcome;
  while (!trainer.has_ended()) {
    trainer.compute();
    const auto began = Clock::now();
    must(communicator.allreduce(trainer.gradients()));
    const std::chrono::duration<double, std::milli> took = Clock::now() - began;
    outcome.longest_wait_ms = std::max(outcome.longest_wait_ms, took.count());
    const auto layers = trainer.layers();
    for (std::size_t layer = 0; layer < layers.parts.size(); ++layer) {
      trainer.apply(layer, layers.parts[layer]);
    }
    ++outcome.iterations;
  }
  return outcome;
}

void report(Communicator& communicator, const Trainer& trainer, const Outcome& own) {
  const std::vector<double> mine = {own.iterations, own.dropped, own.longest_wait_ms};
  std::vector<double> all(mine.size() * communicator.world_size());
  must(communicator.allgather(mine.data(), all.data(), mine.size(), wire::ElementType::f64));
  if (communicator.rank() != 0) {
    return;
  }
  std::cout << "{\"reached_s\": " << trainer.reached_s()
            << ", \"accuracy\": " << trainer.accuracy_now();
  const std::vector<std::string> names = {"iterations", "dropped", "longest_wait_ms"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::cout << ", \"" << names[i] << "\": [";
    for (std::size_t place = i; place < all.size(); place += names.size()) {
      std::cout << (place == i ? "" : ", ") << all[place];
    }
    std::cout << "]";
  }
  std::cout << "}\n";
}

void train(Communicator communicator, const Task& task) {
  Trainer trainer(task, communicator.rank(), communicator.world_size());
  if (!task.exchange) {
    const auto outcome = train_together(communicator, trainer);
    trainer.judge();
    report(communicator, trainer, outcome);
    return;
  }
  auto exchange = must(GradientExchange::create(
      std::move(communicator), {example::layer_sizes.begin(), example::layer_sizes.end()},
      trainer.parameters(), [&](const LayerSum& sum) { trainer.apply(sum.layer, sum.values); },
      *task.exchange));
  const auto outcome = train_loosely(exchange, trainer);
  trainer.judge();
  report(exchange.communicator(), trainer, outcome);
}

// Its `compute` is that of ranks that are not slow.
Task task_of(const std::vector<std::string>& arguments) {
  Task task{example::exchange_from(arguments[0]),
            Seconds(example::amount_from("SECONDS", arguments[2])),
            Seconds(example::amount_from("COMPUTE_MS", arguments[3]) / 1000),
            example::amount_from("TARGET", arguments[5])};
  const auto staleness = example::count_from("STALENESS", arguments[1]);
  if (task.exchange) {
    task.exchange->staleness = staleness;
  } else if (arguments[0] != "allreduce") {
    example::refuse("ranks train by bsp, ssp, drop, asp or allreduce, not by '" + arguments[0] +
                    "'");
  }
  return task;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() != 6) {
    std::cerr << "train bsp|ssp|drop|asp|allreduce STALENESS SECONDS COMPUTE_MS SLOWNESS TARGET\n";
    return 2;
  }
  auto task = task_of(arguments);
  const auto slowness = example::amount_from("SLOWNESS", arguments[4]);
  auto communicator = must(Communicator::create(must(CommunicatorOptions::from_environment())));
  if (communicator.rank() + 1 == communicator.world_size()) {
    task.compute *= slowness;
  }
  train(std::move(communicator), task);
}
