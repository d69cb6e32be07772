// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/call.h"
#include "unit/host/values.h"

namespace tributary::host::test {

// All ranks' vectors of one collective, with room for an unaligned start.
struct Vectors {
  Vectors(std::uint32_t ranks, std::size_t element_count, wire::ElementType element_type,
          wire::Operator reduced, std::size_t misalignment = 0)
      : count(element_count), type(element_type), op(reduced), shift(misalignment) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      auto values = input(rank, count, type, op);
      values.insert(values.begin(), shift, std::byte{0xee});
      in.push_back(values);
      out.emplace_back(values.size(), std::byte{0xee});
    }
  }
  Call apart(std::uint32_t rank) {
    return {Collective::allreduce,
            {in[rank].data() + shift, out[rank].data() + shift, count, type, op}};
  }
  Call in_place(std::uint32_t rank) {
    out[rank] = in[rank];
    return {Collective::allreduce,
            {out[rank].data() + shift, out[rank].data() + shift, count, type, op}};
  }
  std::size_t wrong() const {
    std::size_t sum = 0;
    for (const auto& vector : out) {
      const Elements values(vector.begin() + static_cast<std::ptrdiff_t>(shift), vector.end());
      sum += wrong_elements(values, static_cast<std::uint32_t>(out.size()), count, type, op);
    }
    return sum;
  }
  std::size_t count;
  wire::ElementType type;
  wire::Operator op;
  std::size_t shift;
  std::vector<Elements> in;
  std::vector<Elements> out;
};

}  // namespace tributary::host::test
