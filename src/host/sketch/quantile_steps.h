// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "host/sketch/pending.h"
#include "host/sketch/quantiles.h"
#include "host/sketch/scratch.h"
#include "host/sketch/vectors.h"
#include "host/step.h"

namespace tributary::host::sketch {

// The one collective that makes a sketched allreduce by quantiles: all ranks get all sketches, each
// of which stands among zeros, which "or" leaves as it is. A sketch is the values of all codes, and
// the elements' codes.
class QuantileSteps final : public Steps {
 public:
  // The vectors, the sketch and the scratch outlive this object.
  QuantileSteps(const Vectors& vectors, GradientSketch& sketch, std::uint32_t rank,
                std::uint32_t world_size, Scratch& scratch);

  std::optional<Step> next() override;
  std::size_t bytes() const { return bytes_of(count_, bits_, world_size_); }
  // Returns the bytes of such an allreduce of so many elements.
  static std::size_t bytes_of(std::size_t count, unsigned bits, std::uint32_t world_size) {
    return world_size * part_bytes_of(count, bits);
  }

 private:
  using Values = std::array<float, codes_max>;

  static std::size_t values_bytes_of(unsigned bits) {
    return (std::size_t{1} << bits) * sizeof(float);
  }
  static std::size_t part_bytes_of(std::size_t count, unsigned bits) {
    return values_bytes_of(bits) + packed_bytes(count, bits);
  }
  std::size_t values_bytes() const { return values_bytes_of(bits_); }
  std::size_t part_bytes() const { return part_bytes_of(count_, bits_); }
  // Returns where the sketch of a rank is.
  std::byte* part(std::uint32_t rank) const {
    return scratch_.carried.data() + rank * part_bytes();
  }
  std::vector<Values> values_of_all() const;
  void prepare();
  void finish();

  Vectors vectors_;
  Pending pending_;
  Scratch& scratch_;
  std::size_t count_;
  unsigned bits_;
  std::uint32_t rank_;
  std::uint32_t world_size_;
  bool given_ = false;
};

}  // namespace tributary::host::sketch
