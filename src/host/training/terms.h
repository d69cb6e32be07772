// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "host/error.h"
#include "host/gradient_sketch.h"
#include "host/loose/rounds.h"
#include "host/training/gradient_exchange.h"

namespace tributary::host {

// Has what an exchange of gradients is about, as rank 0 tells the others.
struct Terms {
  // Rank 0's values count for all ranks.
  std::uint64_t together = 0;
  std::uint64_t bounded = 0;
  std::uint64_t drops = 0;
  std::uint64_t staleness = 0;
  std::uint64_t proportion = 0;
  std::uint64_t catch_up = 0;
  std::uint64_t regroup = 0;
  std::uint64_t sketched = 0;
  std::uint64_t bits = 0;
  std::uint64_t kind = 0;
  std::uint64_t rounding = 0;
  std::uint64_t feedback = 0;
  std::uint64_t seed = 0;
  // These are the same on all ranks, or there is no exchange.
  std::uint64_t layers = 0;
  std::uint64_t elements = 0;  // a hash of the numbers of all layers
  std::uint64_t parameters = 0;

  LooseRule rule() const;
  std::optional<SketchOptions> sketch() const;
  bool fit(const Terms& others) const;
};

// Checks the options, and what an exchange is to be about; the error says which are wrong.
Result<void> check(const GradientExchangeOptions& options, std::span<const std::size_t> layers,
                   std::size_t parameters);
// Precondition: the options are checked.
Terms terms_of(const GradientExchangeOptions& options, std::span<const std::size_t> layers,
               std::size_t parameters);

}  // namespace tributary::host
