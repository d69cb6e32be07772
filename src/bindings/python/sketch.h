// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <pybind11/pybind11.h>
#include <string>
#include <vector>

#include "host/c/tributary.h"

namespace tributary::python {

// Throws ValueError for a name that does not exist.
tributary_sketch_options sketch_options_of(const std::string& kind, unsigned bits,
                                           const std::string& rounding, bool feedback,
                                           std::uint64_t seed);

// A Sketch tells how one of a rank's vectors is sketched from call to call.
class Sketch {
 public:
  // Throws ValueError for a name that does not exist.
  Sketch(std::size_t count, const std::string& kind, unsigned bits, const std::string& rounding,
         bool feedback, std::uint64_t seed);
  // Makes a sketch for vectors of layers of so many elements, which share no unit.
  static Sketch of_layers(const std::vector<std::size_t>& layers, unsigned bits,
                          const std::string& rounding, bool feedback, std::uint64_t seed);
  // Makes a sketch for matrices, which are sent as factors.
  static Sketch low_rank(std::size_t rows, std::size_t columns, std::size_t rank, unsigned bits,
                         const std::string& rounding, bool feedback, std::uint64_t seed);

  std::size_t count() const { return count_; }
  // Returns what is kept back, as an array.array of its own; None without feedback.
  pybind11::object residual() const;
  tributary_sketch* get() const { return handle_.get(); }

 private:
  Sketch(std::size_t count, tributary_sketch* made)
      : count_(count), handle_(made, tributary_sketch_destroy) {}

  std::size_t count_;
  std::unique_ptr<tributary_sketch, decltype(&tributary_sketch_destroy)> handle_;
};

}  // namespace tributary::python
