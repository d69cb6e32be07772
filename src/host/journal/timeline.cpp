// SPDX-License-Identifier: BSD-3-Clause
#include "host/journal/timeline.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include "host/journal/journal.h"
#include "host/transport/address.h"

namespace tributary::host {
namespace {

// Of the clock that machines share, as far as they do.
double microseconds_of_day(Time when) {
  const auto ago = Clock::now() - when;
  const auto at = std::chrono::system_clock::now().time_since_epoch() - ago;
  return std::chrono::duration<double, std::micro>(at).count();
}

std::string number_text(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.3f", value);
  return text;
}

}  // namespace

Result<std::unique_ptr<Timeline>> Timeline::open(const std::string& path, std::uint32_t rank) {
  FileDescriptor file(
      ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  const bool is_new = static_cast<bool>(file);
  if (!is_new) {
    file = FileDescriptor(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  }
  if (!file) {
    return fail(Error::Code::invalid_argument,
                errno_text("the timeline '" + path + "' (TRIBUTARY_TIMELINE) cannot be written"));
  }
  std::unique_ptr<Timeline> timeline(new Timeline(std::move(file), rank));
  if (is_new) {
    timeline->write("[\n");
  }
  const auto number = std::to_string(rank);
  timeline->write(R"({"ph":"M","name":"process_name","pid":)" + number +
                  R"(,"args":{"name":"rank )" + number + "\"}},\n");
  return timeline;
}

void Timeline::add(const Entry& entry) {
  const auto number = std::to_string(rank_);
  const auto took = std::chrono::duration<double, std::micro>(entry.ended - entry.began).count();
  write(R"({"ph":"X","cat":"collective","name":")" + std::string(entry.collective) + R"(","pid":)" +
        number + R"(,"tid":)" + std::to_string(::getpid()) + R"(,"ts":)" +
        number_text(microseconds_of_day(entry.began)) + R"(,"dur":)" + number_text(took) +
        R"(,"args":{"bytes":)" + std::to_string(entry.bytes) + R"(,"by":")" +
        std::string(entry.by) + R"(","failed":)" + (entry.failed ? "true" : "false") + "}},\n");
}

// In one piece: what several processes append does not mix then.
void Timeline::write(const std::string& line) {
  (void)!::write(file_.get(), line.data(), line.size());
}

}  // namespace tributary::host
