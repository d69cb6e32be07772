// SPDX-License-Identifier: BSD-3-Clause
#include "host/c/sketches.h"

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "host/c/border.h"
#include "host/c/objects.h"
#include "host/c/tributary.h"
#include "host/gradient_sketch.h"
#include "host/sketch/check.h"
#include "host/text.h"

using namespace tributary;  // the functions are C's
using host::invalid;
using host::c::guarded;

Result<SketchOptions> host::c::sketch_options_of(const tributary_sketch_options& given) {
  if (given.kind != TRIBUTARY_SKETCH_GRID && given.kind != TRIBUTARY_SKETCH_QUANTILES) {
    return invalid("there is no kind of sketches " + std::to_string(given.kind));
  }
  if (given.rounding != TRIBUTARY_ROUND_STOCHASTIC && given.rounding != TRIBUTARY_ROUND_NEAREST) {
    return invalid("there is no rounding " + std::to_string(given.rounding));
  }
  return SketchOptions{static_cast<SketchKind>(given.kind), given.bits,
                       static_cast<Rounding>(given.rounding), given.feedback != 0, given.seed};
}

namespace {

// Calls make(options), which returns the sketch, or why there is none.
template <typename Make>
tributary_result create_sketch(tributary_sketch** sketch, const tributary_sketch_options* options,
                               Make make) {
  return guarded([&]() -> Result<void> {
    if (sketch == nullptr) {
      return invalid("there is no place for the sketch");
    }
    *sketch = nullptr;
    const tributary_sketch_options defaults = TRIBUTARY_SKETCH_DEFAULTS;
    return host::c::sketch_options_of(options == nullptr ? defaults : *options)
        .and_then(make)
        .map([&](GradientSketch&& made) {
          *sketch = new tributary_sketch{std::make_shared<GradientSketch>(std::move(made))};
        });
  });
}

static_assert(TRIBUTARY_SKETCH_QUANTILES == static_cast<int>(SketchKind::quantiles));
static_assert(TRIBUTARY_ROUND_NEAREST == static_cast<int>(Rounding::nearest));

}  // namespace

tributary_result tributary_sketch_create(tributary_sketch** sketch, size_t count,
                                         const tributary_sketch_options* options) {
  return create_sketch(sketch, options, [&](const SketchOptions& all) -> Result<GradientSketch> {
    return GradientSketch(count, all);
  });
}

tributary_result tributary_sketch_create_layers(tributary_sketch** sketch, const size_t* layers,
                                                size_t layer_count,
                                                const tributary_sketch_options* options) {
  return create_sketch(sketch, options, [&](const SketchOptions& all) -> Result<GradientSketch> {
    if (layers == nullptr && layer_count != 0) {
      return invalid("there are no layers");
    }
    const std::span of(layers, layer_count);
    return host::sketch::check_layers(of, all.kind).map([&] { return GradientSketch(of, all); });
  });
}

tributary_result tributary_sketch_create_low_rank(tributary_sketch** sketch, size_t rows,
                                                  size_t columns, size_t rank,
                                                  const tributary_sketch_options* options) {
  return create_sketch(sketch, options, [&](const SketchOptions& all) -> Result<GradientSketch> {
    const LowRank matrix{rows, columns, rank};
    return host::sketch::check_size(matrix).map([&] { return GradientSketch(matrix, all); });
  });
}

void tributary_sketch_destroy(tributary_sketch* sketch) {
  delete sketch;
}

const float* tributary_sketch_residual(const tributary_sketch* sketch) {
  const bool keeps = sketch != nullptr && !sketch->sketch->residual().empty();
  return keeps ? sketch->sketch->residual().data() : nullptr;
}
