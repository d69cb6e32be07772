// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <pybind11/pybind11.h>
#include <string>

namespace tributary::python {

// A View is the memory of an object that has Python's buffer protocol; the object neither goes nor
// moves while the view is there. Whoever destroys it has the GIL.
class View {
 public:
  enum class Access { read, write };

  // `name` is what messages call the object. Throws TypeError if it has no such buffer.
  View(const pybind11::object& object, Access access, const char* name);
  View(View&& from) noexcept;
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  View& operator=(View&&) = delete;
  ~View();

  void* data() const { return buffer_.buf; }
  std::size_t bytes() const { return static_cast<std::size_t>(buffer_.len); }
  std::size_t item_bytes() const { return static_cast<std::size_t>(buffer_.itemsize); }
  // Returns the format as the module struct has it; that of bytes if the object does not say.
  std::string format() const { return buffer_.format == nullptr ? "B" : buffer_.format; }

 private:
  Py_buffer buffer_{};
};

// Returns whether some byte belongs to both.
bool overlap(const View& a, const View& b);

}  // namespace tributary::python
