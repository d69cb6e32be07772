// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "reduce/handlers/table.h"
#include "wire/element.h"

namespace tributary::test {

// Unloads what is left over in the table of the process, at the end of a test.
class UnloadHandlers {
 public:
  UnloadHandlers() = default;
  ~UnloadHandlers() {
    for (unsigned number = 0; number < wire::handlers_max; ++number) {
      reduce::handlers().close(number);
      reduce::handlers().take(number);
    }
  }
  UnloadHandlers(const UnloadHandlers&) = delete;
  UnloadHandlers& operator=(const UnloadHandlers&) = delete;
};

}  // namespace tributary::test
