// SPDX-License-Identifier: BSD-3-Clause
#include "host/journal/log.h"

#include <cstdio>

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

void tell(const CommunicatorOptions& options, const std::string& line) {
  if (options.on_notice) {
    options.on_notice(line);
  } else if (options.rank == 0) {
    std::fprintf(stderr, "tributary: %s\n", line.c_str());
  }
}

}  // namespace tributary::host
