// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <variant>

#include "host/error.h"
#include "wire/element.h"

namespace tributary {

// An operator of one's own (docs/reference/handlers.md): an expression over `acc` and `in`, the
// elements of two vectors, as in "acc = min(acc + in, 127);", and the type of these elements.
struct HandlerExpression {
  std::string text;
  wire::ElementType type = wire::ElementType::f32;
};
// An operator of one's own as a shared object that was built against tributary-handler.h. It knows
// its type itself, and runs with all rights of the process.
struct HandlerFile {
  std::string path;
};
using HandlerSource = std::variant<HandlerExpression, HandlerFile>;

// Loads a handler under a number from 0 to 63 for all communicators of this process, also for those
// that exist already: from now on wire::handler_operator(number) is an operator of allreduce and
// reduce. All ranks load the same handler under the same number before they use it, and whoever
// runs the switches loads it there (tributaryctl handler load). It stays until the process ends.
// Any thread may call this at any time. The error says what is wrong with the number or the source;
// nothing is loaded then. A number is taken once and for all: the same source cannot be loaded
// there again either.
Result<void> load_handler(unsigned number, const HandlerSource& source);

}  // namespace tributary
