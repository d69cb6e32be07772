// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/python/sketch.h"

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

}  // namespace

Sketch::Sketch(std::size_t count, const std::string& kind, unsigned bits,
               const std::string& rounding, bool feedback, std::uint64_t seed)
    : count_(count), handle_(nullptr, tributary_sketch_destroy) {
  const tributary_sketch_options options{kind_named(kind), bits, rounding_named(rounding),
                                         feedback ? 1 : 0, seed};
  tributary_sketch* made = nullptr;
  check(tributary_sketch_create(&made, count, &options));
  handle_.reset(made);
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
