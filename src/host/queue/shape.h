// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "host/call.h"
#include "wire/element.h"

namespace tributary::host {

// All ranks have to post this alike under one name.
struct Shape {
  Collective collective = Collective::barrier;
  wire::ElementType type = wire::ElementType::f32;
  wire::Operator op = wire::Operator::sum;
  std::uint32_t root = 0;
  std::uint64_t count = 0;

  friend bool operator==(const Shape&, const Shape&) = default;
};

Shape shape_of(const Call& call);
// "allreduce of 100 f32, sum", "broadcast of 8 i32 from rank 2"
std::string to_string(const Shape& shape);

}  // namespace tributary::host
