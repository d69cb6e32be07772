// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/python/whole.h"

#include <string>

namespace tributary::python {

namespace py = pybind11;

std::uint64_t whole_number(py::handle given, const char* name, std::uint64_t most) {
  const auto refusal = [&] {
    return std::string(name) + " is " + py::repr(given).cast<std::string>() +
           ": give a whole number from 0 to " + std::to_string(most);
  };
  if (PyBool_Check(given.ptr())) {  // to Python it is 0 or 1
    throw py::type_error(refusal());
  }
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(given.ptr()));
  if (!number) {
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) {
      throw py::error_already_set();  // it is the caller's, or ^C
    }
    PyErr_Clear();
    throw py::type_error(refusal());
  }
  const auto value = PyLong_AsUnsignedLongLong(number.ptr());
  if (PyErr_Occurred() != nullptr || value > most) {
    PyErr_Clear();
    throw py::value_error(refusal());
  }
  return value;
}

}  // namespace tributary::python
