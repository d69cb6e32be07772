// SPDX-License-Identifier: BSD-3-Clause
#include "logging.h"

#include <cstdlib>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace tributary::daemon {
namespace {

// systemd.exec(5): JOURNAL_STREAM names the journal's socket as "device:inode".
bool stderr_is_journal() {
  const char* journal = std::getenv("JOURNAL_STREAM");
  struct stat file = {};
  return journal != nullptr && fstat(STDERR_FILENO, &file) == 0 &&
         journal == std::to_string(file.st_dev) + ":" + std::to_string(file.st_ino);
}

class PriorityFlag final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
              spdlog::memory_buf_t& out) override {
    char priority = '6';
    switch (message.level) {
      case spdlog::level::critical:
        priority = '2';
        break;
      case spdlog::level::err:
        priority = '3';
        break;
      case spdlog::level::warn:
        priority = '4';
        break;
      case spdlog::level::debug:
      case spdlog::level::trace:
        priority = '7';
        break;
      default:
        break;
    }
    out.push_back('<');
    out.push_back(priority);
    out.push_back('>');
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<PriorityFlag>();
  }
};

}  // namespace

void start_logging(const std::string& level) {
  if (stderr_is_journal()) {
    auto formatter = std::make_unique<spdlog::pattern_formatter>();
    formatter->add_flag<PriorityFlag>('*').set_pattern("%*%v");
    spdlog::set_default_logger(spdlog::stderr_logger_mt("tributaryd"));
    spdlog::set_formatter(std::move(formatter));
  } else {
    spdlog::set_default_logger(spdlog::stderr_color_mt("tributaryd"));
    spdlog::set_pattern("%Y-%m-%d %H:%M:%S.%e %^%-5l%$ %v");
  }
  spdlog::set_level(spdlog::level::from_str(level));
}

}  // namespace tributary::daemon
