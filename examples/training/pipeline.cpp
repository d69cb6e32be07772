// SPDX-License-Identifier: BSD-3-Clause
// Measures what becomes of an iteration's time when ranks exchange gradients while they compute
// others:
//
//   pipeline LAYERS ELEMENTS COMPUTE_MS ITERATIONS PASSES
//
// All ranks wait for each other (BSP). The model has LAYERS layers of ELEMENTS elements each, and
// to compute the gradient of one is to sleep for COMPUTE_MS. In each pass ITERATIONS of them are
// made in each way: `layers` offers each gradient as it comes; `end` offers all gradients as one
// behind the last of them; `colayers` has groups that follow from what is measured. Rank 0
// prints as JSON the median iteration of the second half of each, in milliseconds, and how many
// colayers there were in the end.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "arguments.h"
#include "host/training/gradient_exchange.h"
#include "must.h"

namespace {

using namespace tributary;
using example::must;
using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

struct Task {
  std::size_t layers = 1;
  std::size_t elements = 1;
  Milliseconds compute{};  // of a layer
  std::uint32_t iterations = 1;
  std::uint32_t passes = 1;
};

struct Outcome {
  double iteration_ms = 0;
  std::uint64_t colayers = 0;
};

// Calls offer(layer) as soon as the gradient of that layer is there, backward.
template <typename Offer>
void compute(const Task& task, Offer offer) {
  auto until = Clock::now();
  for (std::size_t layer = task.layers; layer-- > 0;) {
    until += std::chrono::duration_cast<Clock::duration>(task.compute);
    std::this_thread::sleep_until(until);
    offer(layer);
  }
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Returns the median of the second half of the iterations, each with all that it waits for.
template <typename Iterate>
double measure(const Task& task, Iterate iterate) {
  std::vector<double> took_ms;
  for (std::uint32_t i = 0; i < task.iterations; ++i) {
    const auto began = Clock::now();
    iterate();
    took_ms.push_back(Milliseconds(Clock::now() - began).count());
  }
  const auto half = static_cast<std::ptrdiff_t>(took_ms.size() / 2);
  return median({took_ms.begin() + half, took_ms.end()});
}

Outcome train(Communicator& communicator, const Task& task, bool at_the_end,
              std::uint32_t regroup) {
  GradientExchangeOptions options;
  options.regroup = regroup;
  const std::size_t parts = at_the_end ? 1 : task.layers;
  const std::vector<float> gradient(task.layers * task.elements / parts, 1);
  auto exchange = must(GradientExchange::over(
      communicator, std::vector(parts, gradient.size()), {}, [](const LayerSum&) {}, options));
  const auto iteration_ms = measure(task, [&] {
    must(exchange.enter());
    compute(task, [&](std::size_t layer) {
      if (!at_the_end || layer == 0) {
        must(exchange.offer(layer, gradient));
      }
    });
    must(exchange.finish());
  });
  must(exchange.close());
  return {iteration_ms, exchange.statistics()["colayers"]};
}

void report(const std::map<std::string, std::vector<Outcome>>& outcomes) {
  std::string text;
  for (const auto& [way, passes] : outcomes) {
    std::string times;
    std::string counts;
    for (const auto& pass : passes) {
      const std::string separator = times.empty() ? "" : ", ";
      times += separator + std::to_string(pass.iteration_ms);
      counts += separator + std::to_string(pass.colayers);
    }
    text += (text.empty() ? "" : ", ") + ("\"" + way + "\": {\"iteration_ms\": [") + times +
            "], \"colayers\": [" + counts + "]}";
  }
  std::cout << "{" << text << "}\n";
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() != 5) {
    example::refuse("pipeline LAYERS ELEMENTS COMPUTE_MS ITERATIONS PASSES");
  }
  const auto count = [](const std::string& name, const std::string& text) {
    return example::number_from<std::uint32_t>(name, text, 1, 100'000'000);
  };
  const Task task{count("LAYERS", arguments[0]), count("ELEMENTS", arguments[1]),
                  Milliseconds(example::amount_from("COMPUTE_MS", arguments[2])),
                  count("ITERATIONS", arguments[3]), count("PASSES", arguments[4])};
  auto communicator = must(Communicator::create(must(CommunicatorOptions::from_environment())));
  std::map<std::string, std::vector<Outcome>> outcomes;
  for (std::uint32_t pass = 0; pass < task.passes; ++pass) {
    outcomes["layers"].push_back(train(communicator, task, false, 0));
    outcomes["end"].push_back(train(communicator, task, true, 0));
    outcomes["colayers"].push_back(train(communicator, task, false, 1 + task.iterations / 10));
  }
  if (communicator.rank() == 0) {
    report(outcomes);
  }
}
