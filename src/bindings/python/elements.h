// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "bindings/python/view.h"
#include "host/c/tributary.h"

namespace tributary::python {

// Elements are what lies in a buffer.
struct Elements {
  tributary_type type = TRIBUTARY_I8;
  std::size_t count = 0;
  // These tell whether integers, which are sent as signed ones, are unsigned or truths here.
  bool is_unsigned = false;
  bool is_truth = false;

  bool operator==(const Elements&) const = default;
};

// Returns the elements as `dtype` names them ("bf16"), or else as the buffer itself does. Throws
// TypeError, or ValueError for a name that does not exist.
Elements elements_of(const View& view, const std::optional<std::string>& dtype);

// Returns the type of that name. Throws ValueError for one that does not exist.
tributary_type type_named(const std::string& name);

// Returns the operator of that name, if these elements have it: see Elements::is_unsigned.
// "handler:3" is the handler of that number.
tributary_operator operator_of(const std::string& name, const Elements& elements);

}  // namespace tributary::python
