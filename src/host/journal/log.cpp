// SPDX-License-Identifier: BSD-3-Clause
#include "host/journal/log.h"

#include "host/journal/parameters.h"
#include "host/parameter.h"

namespace tributary::host {

LogLevel log_level_of(const CommunicatorOptions& options) {
  const auto word = Values(options.parameters, journal_parameters).text("log");
  if (word.empty()) {
    return LogLevel::notice;
  }
  return word == "error" ? LogLevel::error : word == "warn" ? LogLevel::warn : LogLevel::info;
}

}  // namespace tributary::host
