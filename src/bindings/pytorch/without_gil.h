// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <pybind11/pybind11.h>

namespace tributary::pytorch {

// While this object is there, its thread does not hold Python's lock, whether it did before or not.
class WithoutGil {
 public:
  WithoutGil() {
    if (Py_IsInitialized() != 0 && PyGILState_Check() != 0) {
      release_.emplace();
    }
  }

 private:
  std::optional<pybind11::gil_scoped_release> release_;
};

}  // namespace tributary::pytorch
