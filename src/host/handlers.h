// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <variant>

#include "host/error.h"
#include "wire/element.h"

namespace tributary {

// An operator of one's own (docs/reference/handlers.md): an expression over `acc` and `in`, the
// elements of two vectors, as in "acc = min(acc + in, 127);", and the type of its elements ...
struct HandlerExpression {
  std::string text;
  wire::ElementType type = wire::ElementType::f32;
};
// ... or a shared object built against tributary-handler.h, which knows its type itself and runs
// with all rights of the process.
struct HandlerFile {
  std::string path;
};
using HandlerSource = std::variant<HandlerExpression, HandlerFile>;

// Loads a handler under a number, 0 to 63, for all communicators of this process, also those that
// there are: from now on wire::handler_operator(number) is an operator of allreduce and reduce. All
// ranks load the same one under the same number before they use it, and so does whoever runs the
// switches (tributaryctl handler load). It stays until the process ends. Any thread may call this
// at any time. The error says what is wrong with the number or the source; nothing is loaded then.
// A number is taken once and for all, also by the same source.
Result<void> load_handler(unsigned number, const HandlerSource& source);

}  // namespace tributary
