// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/python/view.h"

#include <cstdint>
#include <utility>

namespace tributary::python {

namespace py = pybind11;

View::View(const py::object& object, Access access, const char* name) {
  const auto refuse = [&](const std::string& why) {
    PyBuffer_Release(&buffer_);
    return py::type_error(std::string(name) + " " + why);
  };
  if (PyObject_CheckBuffer(object.ptr()) == 0) {
    throw refuse("is a " + std::string(Py_TYPE(object.ptr())->tp_name) +
                 ", of which no memory could be sent; give a numpy array, an array.array, a "
                 "bytearray, a memoryview, or of a torch "
                 "tensor what its numpy() returns");
  }
  if (PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_FULL_RO) != 0) {
    throw py::error_already_set();
  }
  if (PyBuffer_IsContiguous(&buffer_, 'C') == 0) {
    throw refuse(
        "is not contiguous: its elements have gaps between them, or another order than C's; give a "
        "copy, as numpy.ascontiguousarray() makes it");
  }
  if (access == Access::write && buffer_.readonly != 0) {
    throw refuse(
        "is read-only, and the result has to be written to it; give a writable copy, or another "
        "buffer as out");
  }
}

View::View(View&& from) noexcept : buffer_(std::exchange(from.buffer_, {})) {}

View::~View() {
  PyBuffer_Release(&buffer_);
}

bool overlap(const View& a, const View& b) {
  const auto first = reinterpret_cast<std::uintptr_t>(a.data());
  const auto second = reinterpret_cast<std::uintptr_t>(b.data());
  return first < second + b.bytes() && second < first + a.bytes();
}

}  // namespace tributary::python
