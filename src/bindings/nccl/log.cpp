// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/nccl/log.h"

#include <atomic>

namespace tributary::nccl {
namespace {

std::atomic<Logger> known_logger = nullptr;

void log(LogLevel level, const std::string& line) {
  if (const auto logger = known_logger.load()) {
    logger(level, log_of_network, "tributary", 0, "NET/Tributary: %s", line.c_str());
  }
}

}  // namespace

void log_by(Logger logger) {
  known_logger = logger;
}

void warn(const std::string& line) {
  log(LogLevel::warn, line);
}

void inform(const std::string& line) {
  log(LogLevel::info, line);
}

}  // namespace tributary::nccl
