// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "bindings/nccl/abi.h"

namespace tributary::nccl {

// This is NCCL's own log, once it has told where that is. Any thread may write to it.
void log_by(Logger logger);
void warn(const std::string& line);
void inform(const std::string& line);

}  // namespace tributary::nccl
