// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include <tl/expected.hpp>

#include "reduce/handlers/handler.h"

namespace tributary::reduce {

// Loads a shared object that has a tributary_handler (tributary-handler.h). It runs with all rights
// of this process: only the administrator names such files. It is unloaded with the handler. An
// error says what is wrong with the file, and what to do.
tl::expected<std::unique_ptr<Handler>, std::string> open_native(const std::string& path);

}  // namespace tributary::reduce
