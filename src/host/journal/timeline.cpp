// SPDX-License-Identifier: BSD-3-Clause
#include "host/journal/timeline.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <functional>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "host/journal/journal.h"
#include "host/text.h"
#include "host/transport/address.h"

namespace tributary::host {
namespace {

// Of the clock that machines share, as far as they do.
double microseconds_since_1970(Time when) {
  const auto ago = Clock::now() - when;
  const auto at = std::chrono::system_clock::now().time_since_epoch() - ago;
  return std::chrono::duration<double, std::micro>(at).count();
}

// Of this process among those of all machines.
std::string process_text() {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  const auto machine = std::hash<std::string_view>{}(host)&0xffff;
  return std::to_string(machine << 22 | static_cast<std::size_t>(::getpid()));
}

std::string number_text(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.3f", value);
  return text;
}

}  // namespace

Result<std::unique_ptr<Timeline>> Timeline::open(const std::string& path, std::uint32_t rank,
                                                 std::uint32_t world_size) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (!file) {
    return fail(Error::Code::invalid_argument,
                errno_text("the timeline '" + path + "' (TRIBUTARY_TIMELINE) cannot be written"));
  }
  static std::atomic<unsigned> communicators = 0;
  const auto number = ++communicators;
  std::unique_ptr<Timeline> timeline(new Timeline(
      std::move(file), R"("pid":)" + process_text() + R"(,"tid":)" + std::to_string(number)));
  timeline->begin();
  if (number == 1) {
    timeline->name_row("process_name", rank_text(rank));
  }
  timeline->name_row("thread_name",
                     rank_text(rank) + " of " + std::to_string(world_size) + " ranks");
  return timeline;
}

// Whoever finds the file empty begins the array.
void Timeline::begin() {
  struct stat status {};
  ::flock(file_.get(), LOCK_EX);
  if (::fstat(file_.get(), &status) == 0 && status.st_size == 0) {
    write("[\n");
  }
  ::flock(file_.get(), LOCK_UN);
}

void Timeline::name_row(const char* what, const std::string& name) {
  write(R"({"ph":"M","name":")" + std::string(what) + "\"," + row_ + R"(,"args":{"name":")" + name +
        "\"}},\n");
}

void Timeline::add(const Entry& entry) {
  const auto took = std::chrono::duration<double, std::micro>(entry.ended - entry.began).count();
  write(R"({"ph":"X","cat":"collective","name":")" + std::string(entry.collective) + "\"," + row_ +
        R"(,"ts":)" + number_text(microseconds_since_1970(entry.began)) + R"(,"dur":)" +
        number_text(took) + R"(,"args":{"bytes":)" + std::to_string(entry.bytes) + R"(,"by":")" +
        std::string(entry.by) + R"(","failed":)" + (entry.failed ? "true" : "false") + "}},\n");
}

// In one piece: what several processes append does not mix then.
void Timeline::write(const std::string& line) {
  (void)!::write(file_.get(), line.data(), line.size());
}

}  // namespace tributary::host
