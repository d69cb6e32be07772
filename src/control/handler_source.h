// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include <tl/expected.hpp>

#include "control/config.h"
#include "reduce/handlers/handler.h"

namespace tributary::control {

// Makes the handler that is asked for: an expression is compiled, a file is loaded from `directory`
// (if that is empty, no file is). The error says why not, and what to do.
tl::expected<std::unique_ptr<reduce::Handler>, std::string> make_handler(
    const HandlerConfig& wanted, const std::string& directory);

// Returns the path of a shared object in `directory`, without symbolic links. A relative `file` is
// one in there. It is refused where it is not below the directory, or where somebody else than root
// and this process's user could put other code in its place: into the file, or into a directory on
// the way to it.
tl::expected<std::string, std::string> trusted_file(const std::string& file,
                                                    const std::string& directory);

}  // namespace tributary::control
