// SPDX-License-Identifier: BSD-3-Clause
// A rank that exchanges gradients at a speed of its own, for loose_test.py.
//
//   loose_worker SYNCHRONY STALENESS PROPORTION ITERATIONS COMPUTE_MS SLOWNESS REGROUP BITS
//
// SYNCHRONY is bsp, ssp, drop or asp; the last rank computes SLOWNESS times as long as the others.
// After REGROUP iterations layers are grouped anew. With BITS below 32 sums are of sketches.
// Gradients say whose they are, so that each sum tells who is in it. Rank 0 prints what all ranks
// did as JSON; what goes wrong is said on standard error.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../../examples/training/arguments.h"
#include "../../examples/training/must.h"
#include "host/training/gradient_exchange.h"

namespace {

using namespace tributary;
using example::must;
using Clock = std::chrono::steady_clock;

const std::vector<std::size_t> layers = {20'000, 1, 3'000, 70'000};

[[noreturn]] void give_up(const std::string& why) {
  std::cerr << why << '\n';
  std::_Exit(1);
}

// Of one rank; those of several add up to what no others do.
float gradient_of(std::uint32_t rank, std::size_t layer) {
  return static_cast<float>((1u << rank) * (layer + 1));
}

// Returns how far a sum of sketches of 16 bits may be off: each rank in it may have kept back up to
// a unit before, and does so now. There are 8191 units to the greatest element of a layer.
float slack_of(const LayerSum& sum) {
  const float unit = gradient_of(3, sum.layer) / 8191;
  return static_cast<float>(sum.contributors.count()) * 2.2F * unit;
}

// A model that remembers every sum, and in which order they came.
struct Model {
  std::vector<float> parameters = std::vector<float>(5'000, 0.0F);
  bool sketched = false;

  void apply(const LayerSum& sum) {
    float wanted = 0;
    float mask = 0;
    for (const auto rank : sum.contributors.ranks()) {
      wanted += gradient_of(rank, sum.layer);
      mask += static_cast<float>(1u << rank);
    }
    const float slack = sketched ? slack_of(sum) : 0;
    if (!std::all_of(sum.values.begin(), sum.values.end(),
                     [wanted, slack](float value) { return std::abs(value - wanted) <= slack; })) {
      give_up("a sum of layer " + std::to_string(sum.layer) + " is not that of its contributors");
    }
    const auto place = static_cast<std::size_t>(parameters[0]) % (parameters.size() - 1);
    parameters[place + 1] =
        std::fmod(parameters[place + 1] * 31 + mask + static_cast<float>(sum.layer) + 1, 65'521.0F);
    parameters[0] = std::fmod(parameters[0] + 1, 1e6F);
  }
};

GradientExchangeOptions options_of(const std::vector<std::string>& arguments) {
  auto options = example::exchange_from(arguments[0]);
  if (!options) {
    example::refuse("SYNCHRONY is to be bsp, ssp, drop or asp, not '" + arguments[0] + "'");
  }
  options->staleness = example::count_from("STALENESS", arguments[1]);
  options->proportion = example::amount_from("PROPORTION", arguments[2]);
  options->regroup = example::count_from("REGROUP", arguments[6]);
  if (const auto bits = example::count_from("BITS", arguments[7]); bits != 32) {
    options->sketch = SketchOptions{.bits = bits};
  }
  return *options;
}

void iterate(GradientExchange& exchange, std::chrono::milliseconds compute) {
  must(exchange.enter());
  for (std::size_t layer = layers.size(); layer-- > 0;) {
    std::this_thread::sleep_for(compute / layers.size());
    const std::vector<float> gradient(layers[layer],
                                      gradient_of(exchange.communicator().rank(), layer));
    must(exchange.offer(layer, gradient));
  }
  must(exchange.finish());
}

// Rows of the matrix in which every rank is, of all that were entered.
std::uint64_t full_rows(const GeiMatrix& gei, std::uint32_t ranks) {
  std::uint64_t full = 0;
  for (auto iteration = gei.first(); iteration <= gei.latest(); ++iteration) {
    const auto& row = *gei.row(iteration);
    full += std::all_of(row.begin(), row.end(),
                        [ranks](const RankSet& set) { return set.count() == ranks; })
                ? 1
                : 0;
  }
  return full;
}

void report(GradientExchange& exchange, const Model& model, double took_ms) {
  auto& communicator = exchange.communicator();
  const auto ranks = communicator.world_size();
  std::vector<float> least = model.parameters;
  std::vector<float> greatest = model.parameters;
  must(communicator.allreduce(std::span(least), wire::Operator::min));
  must(communicator.allreduce(std::span(greatest), wire::Operator::max));
  const auto figures = exchange.statistics();
  const std::vector<std::string> names = {"iterations", "iterations_dropped", "layers_contributed",
                                          "pulls",      "longest_wait_ns",    "colayers"};
  std::vector<double> own;
  for (const auto& name : names) {
    own.push_back(static_cast<double>(figures[name]));
  }
  own.push_back(took_ms);
  std::vector<double> all(own.size() * ranks);
  must(communicator.allgather(own.data(), all.data(), own.size(), wire::ElementType::f64));
  if (communicator.rank() != 0) {
    return;
  }
  std::cout << "{\"replicas_alike\": " << (least == greatest ? "true" : "false")
            << ", \"layers_summed\": " << figures["layers_summed"]
            << ", \"rounds\": " << figures["rounds"]
            << ", \"full_rows\": " << full_rows(exchange.gei(), ranks)
            << ", \"latest\": " << exchange.gei().latest()
            << ", \"switch_sums_seen\": " << communicator.statistics()["switch_sums_seen"]
            << ", \"sketch_bytes\": " << communicator.statistics()["sketch_bytes"]
            << ", \"by_plan\": " << communicator.statistics()["collectives_by_plan"];
  for (std::size_t i = 0; i < own.size(); ++i) {
    std::cout << ", \"" << (i < names.size() ? names[i] : "took_ms") << "\": [";
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      std::cout << (rank == 0 ? "" : ", ") << all[rank * own.size() + i];
    }
    std::cout << "]";
  }
  std::cout << "}\n";
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() != 8) {
    std::cerr << "loose_worker bsp|ssp|drop|asp STALENESS PROPORTION ITERATIONS COMPUTE_MS "
                 "SLOWNESS REGROUP BITS\n";
    return 2;
  }
  const auto options = options_of(arguments);
  const auto iterations = example::count_from("ITERATIONS", arguments[3]);
  const auto compute_ms = example::count_from("COMPUTE_MS", arguments[4]);
  const auto slowness = example::count_from("SLOWNESS", arguments[5]);
  auto communicator = must(Communicator::create(must(CommunicatorOptions::from_environment())));
  const bool is_slow = communicator.rank() + 1 == communicator.world_size();
  const auto compute = std::chrono::milliseconds(compute_ms) * (is_slow ? slowness : 1);
  Model model;
  model.sketched = options.sketch.has_value();
  auto exchange = must(GradientExchange::create(
      std::move(communicator), layers, model.parameters,
      [&](const LayerSum& sum) { model.apply(sum); }, options));
  const auto began = Clock::now();
  for (auto left = iterations; left > 0; --left) {
    iterate(exchange, compute);
  }
  const std::chrono::duration<double, std::milli> took = Clock::now() - began;
  must(exchange.close());
  report(exchange, model, took.count());
}
