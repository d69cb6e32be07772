// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>
#include <optional>
#include <string>

#include "bindings/pytorch/c10d.h"
#include "host/c/tributary.h"

namespace tributary::pytorch {

// A Kind tells how libtributary carries a reduction.
struct Kind {
  tributary_type type;
  tributary_operator op;
  bool divides = false;  // what was added up is an average
};

// Returns no value if libtributary does not carry it. That follows from what all ranks have alike:
// the type and the operator.
std::optional<Kind> kind_of(at::ScalarType type, const c10d::ReduceOp& op);

// Returns a name for messages.
std::string name_of(const c10d::ReduceOp& op);

}  // namespace tributary::pytorch
