// SPDX-License-Identifier: BSD-3-Clause
#include "host/handlers.h"

#include <string>

#include "host/c/border.h"
#include "host/c/tributary.h"
#include "host/text.h"
#include "wire/element.h"

using namespace tributary;  // the functions are C's
using host::invalid;
using host::c::guarded;

tributary_result tributary_handler_load(unsigned number, const char* expression,
                                        tributary_type type) {
  return guarded([&]() -> Result<void> {
    if (expression == nullptr) {
      return invalid("a handler is an expression, as \"acc = min(acc + in, 127);\"");
    }
    if (tributary_type_size(type) == 0) {
      return invalid("there is no element type " + std::to_string(static_cast<int>(type)));
    }
    return load_handler(number,
                        HandlerExpression{expression, static_cast<wire::ElementType>(type)});
  });
}

tributary_result tributary_handler_load_file(unsigned number, const char* path) {
  return guarded([&]() -> Result<void> {
    return path == nullptr ? invalid("a native handler is the path of a shared object")
                           : load_handler(number, HandlerFile{path});
  });
}
