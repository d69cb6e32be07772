// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "output.h"

namespace tributary::ctl {

// HandlerOptions tell what is to be loaded, and under which number: a shared object, or an
// expression over elements of a type.
struct HandlerOptions {
  std::uint32_t number = 0;
  std::string file;
  std::string expression;
  std::string type;
};

ExitCode load_handler(const Options& options, const HandlerOptions& wanted);
ExitCode unload_handler(const Options& options, const HandlerOptions& wanted);

}  // namespace tributary::ctl
