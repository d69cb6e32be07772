// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/log.h"

#include <cstdio>
#include <string_view>
#include <utility>

#include <rte_log.h>
#include <spdlog/spdlog.h>

namespace tributary::dataplane {
namespace {

thread_local std::string driver_error;

// The stream is line-buffered: one call is one message.
ssize_t write_message(void* /*cookie*/, const char* text, std::size_t size) {
  std::string_view message(text, size);
  while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) {
    message.remove_suffix(1);
  }
  if (!message.empty()) {
    const int level = rte_log_cur_msg_loglevel();
    const bool bad = level > 0 && level <= static_cast<int>(RTE_LOG_ERR);
    if (bad && driver_error.empty()) {
      driver_error = message;
    }
    spdlog::log(bad ? spdlog::level::warn : spdlog::level::debug, "dpdk: {}", message);
  }
  return static_cast<ssize_t>(size);
}

}  // namespace

void redirect_eal_log() {
  cookie_io_functions_t functions = {};
  functions.write = write_message;
  if (FILE* stream = fopencookie(nullptr, "w", functions)) {
    setvbuf(stream, nullptr, _IOLBF, BUFSIZ);
    rte_openlog_stream(stream);
  }
}

std::string take_driver_error() {
  return std::exchange(driver_error, {});
}

// Drivers return -1 for all that they have no number for, which is that of EPERM.
std::string reason_of(int error) {
  return error == -1 ? "refused by its driver, or not permitted" : std::strerror(std::abs(error));
}

}  // namespace tributary::dataplane
