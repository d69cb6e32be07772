// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "host/error.h"
#include "host/handlers.h"
#include "wire/element.h"

namespace tributary::bench {

// The command line brings this handler.
struct NumberedHandler {
  unsigned number = 0;
  HandlerSource source;
};

// "3=/usr/lib/x.so" or "3=./x.so" is a file; what begins neither with a slash nor with a dot is an
// expression over elements of the one type that is measured. Throws a CLI::ValidationError.
std::vector<NumberedHandler> handlers_of(const std::vector<std::string>& texts,
                                         const std::vector<wire::ElementType>& types);

// Loads the handlers, and sees to it that each operator that is a handler's reduces one of the
// types.
Result<void> load(const std::vector<NumberedHandler>& handlers,
                  const std::vector<wire::Operator>& operators,
                  const std::vector<wire::ElementType>& types);

}  // namespace tributary::bench
