// SPDX-License-Identifier: BSD-3-Clause
#include "host/training/terms.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "host/text.h"

namespace tributary::host {
namespace {

bool needs_parameters(const GradientExchangeOptions& options) {
  return options.synchrony == Synchrony::asp ||
         (options.synchrony == Synchrony::ssp && options.stale == Stale::drop);
}

// FNV-1a, word by word.
std::uint64_t hash_of(std::span<const std::size_t> layers) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const auto elements : layers) {
    hash = (hash ^ elements) * 0x100000001B3;
  }
  return hash;
}

}  // namespace

Result<void> check(const GradientExchangeOptions& options, std::span<const std::size_t> layers,
                   std::size_t parameters) {
  if (layers.empty() || std::find(layers.begin(), layers.end(), 0u) != layers.end()) {
    return invalid(
        "gradients are exchanged layer by layer: name at least one layer, and none "
        "without elements");
  }
  if (!(options.proportion > 0 && options.proportion <= 1)) {
    return invalid("proportion is a share of the layers, above 0 and up to 1");
  }
  if (options.catch_up == 0) {
    return invalid("catch_up is 1 at least: sums of so many iterations are kept for a busy rank");
  }
  if (options.pause <= std::chrono::nanoseconds(0) ||
      options.stall_warning <= std::chrono::nanoseconds(0)) {
    return invalid("pause and stall_warning are times above 0");
  }
  if (parameters == 0 && needs_parameters(options)) {
    return invalid(
        "with asp, and where stale gradients are dropped, ranks get parameters of others: give "
        "those that the sums change");
  }
  return {};
}

namespace {

// Returns how many layers a share of them is: one at least. What a double has too much, as in
// 0.14 * 50, is none.
std::uint64_t layers_of(double proportion, double count) {
  constexpr double error = 1e-9;
  return static_cast<std::uint64_t>(std::max(1.0, std::ceil(proportion * count - error)));
}

}  // namespace

Terms terms_of(const GradientExchangeOptions& options, std::span<const std::size_t> layers,
               std::size_t parameters) {
  const bool bsp = options.synchrony == Synchrony::bsp;
  const bool ssp = options.synchrony == Synchrony::ssp;
  const auto count = static_cast<double>(layers.size());
  Terms terms;
  terms.together = bsp ? 1 : 0;
  terms.bounded = bsp || ssp ? 1 : 0;
  terms.drops = ssp && options.stale == Stale::drop ? 1 : 0;
  terms.staleness = ssp ? options.staleness : 0;
  terms.proportion = ssp ? layers_of(options.proportion, count) : layers.size();
  terms.catch_up =
      needs_parameters(options) ? options.catch_up : std::numeric_limits<std::uint32_t>::max();
  terms.regroup = options.regroup;
  if (options.sketch) {
    terms.sketched = 1;
    terms.bits = options.sketch->bits;
    terms.kind = static_cast<std::uint64_t>(options.sketch->kind);
    terms.rounding = static_cast<std::uint64_t>(options.sketch->rounding);
    terms.feedback = options.sketch->feedback ? 1 : 0;
    terms.seed = options.sketch->seed;
  }
  terms.layers = layers.size();
  terms.elements = hash_of(layers);
  terms.parameters = parameters;
  return terms;
}

LooseRule Terms::rule() const {
  return {together != 0, bounded != 0, drops != 0, staleness, proportion, catch_up, regroup};
}

std::optional<SketchOptions> Terms::sketch() const {
  if (sketched == 0) {
    return std::nullopt;
  }
  return SketchOptions{static_cast<SketchKind>(kind), static_cast<unsigned>(bits),
                       static_cast<Rounding>(rounding), feedback != 0, seed};
}

bool Terms::fit(const Terms& others) const {
  return layers == others.layers && elements == others.elements && parameters == others.parameters;
}

}  // namespace tributary::host
