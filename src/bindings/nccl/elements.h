// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>

#include "bindings/nccl/abi.h"
#include "host/c/tributary.h"

namespace tributary::nccl {

// A Kind is what NCCL's elements and operators are to Tributary.
struct Kind {
  tributary_type type = TRIBUTARY_I8;
  tributary_operator op = TRIBUTARY_SUM;

  std::size_t bytes() const { return tributary_type_size(type); }
};

// Returns no value if no operator of Tributary's gives the result that NCCL promises.
std::optional<Kind> kind_of(Type type, Operator op);

}  // namespace tributary::nccl
