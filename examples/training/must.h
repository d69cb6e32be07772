// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <iostream>
#include <type_traits>
#include <utility>

#include "host/error.h"

namespace example {

// Ends the process where something failed.
template <typename T>
T must(tributary::Result<T> result) {
  if (!result) {
    std::cerr << result.error().message << '\n';
    std::_Exit(1);
  }
  if constexpr (!std::is_void_v<T>) {
    return std::move(*result);
  }
}

}  // namespace example
