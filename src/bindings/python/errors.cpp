// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/python/errors.h"

#include <pybind11/pybind11.h>

namespace tributary::python {

namespace py = pybind11;

void raise(tributary_result result, const std::string& message) {
  const auto errors = py::module_::import("tributary.errors");
  const py::object type = errors.attr("of")(tributary_result_name(result));
  PyErr_SetString(type.ptr(), message.c_str());
  throw py::error_already_set();
}

void check(tributary_result result) {
  if (result != TRIBUTARY_SUCCESS) {
    raise(result, tributary_last_error());
  }
}

}  // namespace tributary::python
