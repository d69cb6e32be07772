// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "host/sketch/grid.h"
#include "host/sketch/pending.h"
#include "host/sketch/scratch.h"
#include "host/sketch/vectors.h"
#include "host/step.h"

namespace tributary::host::sketch {

// The steps of a sketched allreduce over a grid: the chunks' bounds, of which the greatest counts,
// and the integers, which are added up.
class GridSteps final : public Steps {
 public:
  // The vectors, the sketch and the scratch outlive this object.
  GridSteps(const Vectors& vectors, GradientSketch& sketch, std::uint32_t rank,
            std::uint32_t world_size, Scratch& scratch);

  std::optional<Step> next() override;
  Result<void> outcome() const override;
  // Returns the bytes that the rank gives in all steps.
  std::size_t bytes() const;

 private:
  enum class Stage : std::uint8_t { bounds, integers, done };

  // Where a layer is.
  struct Place {
    std::size_t first;
    std::size_t count;
    std::span<std::int16_t> bounds;
    std::size_t first_byte;

    // Returns the layer's elements; none where there are none.
    template <typename T>
    std::span<T> of(std::span<T> all) const {
      return all.empty() ? all : all.subspan(first, count);
    }
  };

  std::vector<std::byte>& own();
  // Returns how many words go with the bounds, by which ranks notice that their layers differ.
  std::size_t tags() const { return layers_.size() > 1 ? 4 : 0; }
  void tag();
  bool layers_differ() const;
  template <typename F>
  void for_layers(F use);
  void prepare();
  void find_bounds();
  void quantise();
  void finish();
  Step step();

  Vectors vectors_;
  Pending pending_;
  Grid grid_;
  Scratch& scratch_;
  std::span<const std::size_t> layers_;
  std::size_t chunks_ = 0;         // of all layers
  std::size_t integer_bytes_ = 0;  // of all layers
  std::optional<Stage> stage_;
  bool agreed_ = true;
};

}  // namespace tributary::host::sketch
