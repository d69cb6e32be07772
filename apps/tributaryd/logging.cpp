// SPDX-License-Identifier: BSD-3-Clause
#include "logging.h"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fmt/chrono.h>
#include <memory>
#include <new>
#include <sys/stat.h>
#include <unistd.h>

#include <spdlog/details/os.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/ansicolor_sink.h>
#include <spdlog/spdlog.h>

#include "control/log_queue.h"

namespace tributary::daemon {
namespace {

constexpr std::size_t queue_bytes = 65536;
constexpr std::size_t message_bytes = 16384;
constexpr std::chrono::milliseconds flush_timeout{500};

// JOURNAL_STREAM names the journal's socket as "device:inode" (systemd.exec(5)).
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

std::string notice(std::uint64_t missing) {
  const auto start = stderr_is_journal() ? std::string("<4>")
                                         : fmt::format("{:%Y-%m-%d %H:%M:%S} warning ",
                                                       fmt::localtime(std::time(nullptr)));
  return fmt::format("{}{} messages of the log are missing here: nobody read them in time\n", start,
                     missing);
}

// The queue is never destroyed: threads of DPDK log as long as the process lives.
control::LogQueue& queue() {
  static auto* const made = new control::LogQueue(STDERR_FILENO, queue_bytes, notice);
  return *made;
}

ssize_t push(void* cookie, const char* text, std::size_t size) {
  static_cast<control::LogQueue*>(cookie)->push({text, size});
  return static_cast<ssize_t>(size);
}

// spdlog flushes behind each message: one call is one message, unless it is longer than the buffer.
std::FILE* stream_into_queue() {
  cookie_io_functions_t functions = {};
  functions.write = push;
  std::FILE* const stream = fopencookie(&queue(), "w", functions);
  if (stream == nullptr) {
    throw std::bad_alloc();
  }
  setvbuf(stream, nullptr, _IOFBF, message_bytes);
  return stream;
}

}  // namespace

void start_logging(const std::string& level) {
  using Sink = spdlog::sinks::ansicolor_sink<spdlog::details::console_mutex>;
  const bool journal = stderr_is_journal();
  const bool colors =
      !journal && isatty(STDERR_FILENO) == 1 && spdlog::details::os::is_color_terminal();
  const auto sink = std::make_shared<Sink>(
      stream_into_queue(), colors ? spdlog::color_mode::always : spdlog::color_mode::never);
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("tributaryd", sink));
  if (journal) {
    auto formatter = std::make_unique<spdlog::pattern_formatter>();
    formatter->add_flag<PriorityFlag>('*').set_pattern("%*%v");
    spdlog::set_formatter(std::move(formatter));
  } else {
    spdlog::set_pattern("%Y-%m-%d %H:%M:%S.%e %^%-5l%$ %v");
  }
  spdlog::set_level(spdlog::level::from_str(level));
}

void finish_logging() {
  queue().written(flush_timeout);
}

}  // namespace tributary::daemon
