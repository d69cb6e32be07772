// SPDX-License-Identifier: BSD-3-Clause
// This part of an exchange adds gradients up, in its thread.
#include <algorithm>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "host/sketch/chance.h"
#include "host/training/batches.h"
#include "host/training/exchange_state.h"

namespace tributary {
namespace {

using host::Rounds;
using host::sketch::mixed;

}  // namespace

Result<std::vector<GradientExchange::State::Batch>> GradientExchange::State::add_up(
    const std::vector<Rounds::Sum>& sums) {
  std::vector<Batch> batches;
  // Chunks of reproducible sums would span layers, and which are ready together is a matter of
  // time. Each layer has quantiles of its own.
  const bool joins =
      !communicator.reproducible() && !(sketch_ && sketch_->kind == SketchKind::quantiles);
  for (std::size_t first = 0; first < sums.size();) {
    auto last = first + 1;
    auto length = elements(sums[first].layer);
    while (joins && last < sums.size() && sums[last].layer == sums[last - 1].layer + 1 &&
           length + elements(sums[last].layer) <= host::batch_elements) {
      length += elements(sums[last++].layer);
    }
    auto batch = contributions(std::span(sums).subspan(first, last - first));
    if (auto done = add_up(batch); !done) {
      return tl::make_unexpected(done.error());
    }
    batches.push_back(std::move(batch));
    first = last;
  }
  return batches;
}

Result<void> GradientExchange::State::add_up(Batch& batch) {
  return sketch_ ? add_up_sketched(batch)
                 : communicator.run_with_all(host::sum_of_floats(batch.values));
}

// A batch has a sketch of its own, as another one has other layers: what is kept back is kept here.
// What a rank draws follows from the seed, and from how many sketches began with that layer before.
Result<void> GradientExchange::State::add_up_sketched(Batch& batch) {
  const auto layer = batch.sums.front().layer;
  auto options = *sketch_;
  options.seed = mixed(mixed(options.seed ^ sketches_[layer]++) ^ layer);
  std::vector<std::size_t> layers;
  for (const auto& sum : batch.sums) {
    layers.push_back(elements(sum.layer));
  }
  GradientSketch sketch(layers, options);
  for_own(batch, [&](std::size_t first, std::span<float> kept) {
    const auto own = std::span(batch.values).subspan(first, kept.size());
    std::ranges::transform(own, kept, own.begin(), std::plus<>());
  });
  auto done = communicator.sketched_allreduce(batch.values, sketch);
  for_own(batch, [&](std::size_t first, std::span<float> kept) {
    std::ranges::copy(sketch.residual().subspan(first, kept.size()), kept.begin());
  });
  return done;
}

// Calls use(first, kept) for each layer to which this rank contributes, where it begins in the
// batch, and what is kept back of it. What is kept back of others waits for their next gradient.
template <typename Use>
void GradientExchange::State::for_own(const Batch& batch, Use use) {
  std::size_t first = 0;
  for (const auto& sum : batch.sums) {
    if (sum.contributors.has(communicator.rank()) && !kept_.empty()) {
      use(first, std::span(kept_).subspan(begins_[sum.layer], elements(sum.layer)));
    }
    first += elements(sum.layer);
  }
}

// Returns this rank's gradients, with zeros where it has none.
GradientExchange::State::Batch GradientExchange::State::contributions(
    std::span<const Rounds::Sum> sums) const {
  Batch batch{{sums.begin(), sums.end()}, {}};
  for (const auto& sum : sums) {
    const auto end = batch.values.size() + elements(sum.layer);
    if (sum.contributors.has(communicator.rank())) {
      const auto own = std::span(gradients_).subspan(begins_[sum.layer], elements(sum.layer));
      batch.values.insert(batch.values.end(), own.begin(), own.end());
    }
    batch.values.resize(end);
  }
  return batch;
}

}  // namespace tributary
