// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/python/sketch.h"

#include <numeric>

#include "bindings/python/errors.h"

namespace tributary::python {

namespace py = pybind11;

namespace {

int kind_named(const std::string& name) {
  if (name != "grid" && name != "quantiles") {
    throw py::value_error("there is no sketch '" + name + "'; there are grid and quantiles");
  }
  return name == "grid" ? TRIBUTARY_SKETCH_GRID : TRIBUTARY_SKETCH_QUANTILES;
}

int rounding_named(const std::string& name) {
  if (name != "stochastic" && name != "nearest") {
    throw py::value_error("there is no rounding '" + name + "'; there are stochastic and nearest");
  }
  return name == "nearest" ? TRIBUTARY_ROUND_NEAREST : TRIBUTARY_ROUND_STOCHASTIC;
}

// Calls create(place, options).
template <typename Create>
tributary_sketch* make(const tributary_sketch_options& options, Create create) {
  tributary_sketch* made = nullptr;
  check(create(&made, &options));
  return made;
}

}  // namespace

tributary_sketch_options sketch_options_of(const std::string& kind, unsigned bits,
                                           const std::string& rounding, bool feedback,
                                           std::uint64_t seed) {
  return {kind_named(kind), bits, rounding_named(rounding), feedback ? 1 : 0, seed};
}

Sketch::Sketch(std::size_t count, const std::string& kind, unsigned bits,
               const std::string& rounding, bool feedback, std::uint64_t seed)
    : Sketch(count, make(sketch_options_of(kind, bits, rounding, feedback, seed),
                         [&](auto** place, const auto* options) {
                           return tributary_sketch_create(place, count, options);
                         })) {}

Sketch Sketch::of_layers(const std::vector<std::size_t>& layers, unsigned bits,
                         const std::string& rounding, bool feedback, std::uint64_t seed) {
  auto* const made =
      make(sketch_options_of("grid", bits, rounding, feedback, seed),
           [&](auto** place, const auto* options) {
             return tributary_sketch_create_layers(place, layers.data(), layers.size(), options);
           });
  return {std::accumulate(layers.begin(), layers.end(), std::size_t{0}), made};
}

Sketch Sketch::low_rank(std::size_t rows, std::size_t columns, std::size_t rank, unsigned bits,
                        const std::string& rounding, bool feedback, std::uint64_t seed) {
  auto* const made =
      make(sketch_options_of("grid", bits, rounding, feedback, seed),
           [&](auto** place, const auto* options) {
             return tributary_sketch_create_low_rank(place, rows, columns, rank, options);
           });
  return {rows * columns, made};
}

py::object Sketch::residual() const {
  const auto* const kept = tributary_sketch_residual(handle_.get());
  if (kept == nullptr) {
    return py::none();
  }
  const py::bytes copy(reinterpret_cast<const char*>(kept), count_ * sizeof *kept);
  return py::module_::import("array").attr("array")("f", copy);
}

}  // namespace tributary::python
