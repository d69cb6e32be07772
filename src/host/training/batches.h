// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "host/call.h"

namespace tributary::host {

// Layers that follow each other are added up together, up to about so many elements.
inline constexpr std::size_t batch_elements = std::size_t{1} << 22;

inline Call sum_of_floats(std::span<float> values) {
  return call_of(Collective::allreduce, values.data(), values.data(), values.size(),
                 wire::ElementType::f32, wire::Operator::sum);
}

}  // namespace tributary::host
