// SPDX-License-Identifier: BSD-3-Clause
#include "host/journal/timeline.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <fcntl.h>
#include <functional>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "host/journal/journal.h"
#include "host/parallel/seating.h"
#include "host/text.h"
#include "host/transport/address.h"

namespace tributary::host {
namespace {

// Returns by how much the clock that machines share, as far as they do, is ahead of ours. It is
// read once in a process: events of a row must not overlap, and do not where all of them are moved
// alike. A reading that was interrupted is too large, so the smallest of several counts.
std::chrono::nanoseconds ahead_of_us() {
  constexpr int readings = 8;
  auto smallest = std::chrono::nanoseconds::max();
  for (int i = 0; i < readings; ++i) {
    const auto ours = Clock::now().time_since_epoch();
    const auto theirs = std::chrono::system_clock::now().time_since_epoch();
    smallest = std::min<std::chrono::nanoseconds>(smallest, theirs - ours);
  }
  return smallest;
}

// Returns whole microseconds. Perfetto makes nanoseconds of fractions by way of a double, which has
// only every 256th of them this far from 1970, so that one event would end after the next has
// begun.
std::int64_t microseconds_since_1970(Time when) {
  static const auto ahead = ahead_of_us();
  return std::chrono::nanoseconds(when.time_since_epoch() + ahead).count() / 1000;
}

// Returns a number for this process among those of all machines and containers, in the 32 bits that
// Perfetto has for it: it takes larger numbers for 0, and all processes for one.
std::uint32_t process_number() {
  char host[256] = "";
  struct stat processes {};
  ::gethostname(host, sizeof host - 1);
  (void)::stat("/proc/self/ns/pid", &processes);
  const auto text = host + std::string(" ") + std::to_string(machine_number({})) + " " +
                    std::to_string(processes.st_ino) + " " + std::to_string(::getpid());
  return static_cast<std::uint32_t>(std::hash<std::string>{}(text));
}

}  // namespace

Timeline::Timeline(FileDescriptor file, unsigned number) : file_(std::move(file)), number_(number) {
  const auto process = process_number();
  // The number is unique among all processes, as Perfetto names threads by their number alone.
  row_ = R"("pid":)" + std::to_string(process) + R"(,"tid":)" + std::to_string(process + number);
}

Result<std::unique_ptr<Timeline>> Timeline::open_next(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (!file) {
    return fail(Error::Code::invalid_argument,
                errno_text("the timeline '" + path + "' (TRIBUTARY_TIMELINE) cannot be written"));
  }
  static std::atomic<unsigned> rows = 0;
  return std::unique_ptr<Timeline>(new Timeline(std::move(file), ++rows));
}

Result<std::unique_ptr<Timeline>> Timeline::open(const std::string& path, std::uint32_t rank,
                                                 std::uint32_t world_size) {
  auto opened = open_next(path);
  if (opened) {
    auto& timeline = **opened;
    timeline.begin();
    if (timeline.number_ == 1) {
      timeline.describe_row("process_name", R"("name":")" + rank_text(rank) + '"');
      timeline.describe_row("process_sort_index", R"("sort_index":)" + std::to_string(rank));
    }
    timeline.name_row(rank_text(rank) + " of " + std::to_string(world_size) + " ranks");
  }
  return opened;
}

Result<std::unique_ptr<Timeline>> Timeline::open_row(const std::string& path,
                                                     const std::string& name) {
  auto opened = open_next(path);
  if (opened) {
    (*opened)->name_row(name);
  }
  return opened;
}

void Timeline::name_row(const std::string& name) {
  describe_row("thread_name", R"("name":")" + name + '"');
  describe_row("thread_sort_index", R"("sort_index":)" + std::to_string(number_));
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

void Timeline::describe_row(const char* how, const std::string& arguments) {
  write(R"({"ph":"M","name":")" + std::string(how) + "\"," + row_ + R"(,"args":{)" + arguments +
        "}},\n");
}

void Timeline::add(const Entry& entry) {
  add("collective", entry.collective, entry.began, entry.ended,
      R"("bytes":)" + std::to_string(entry.bytes) + R"(,"by":")" + std::string(entry.by) +
          R"(","failed":)" + (entry.failed ? "true" : "false"));
}

void Timeline::add(std::string_view category, std::string_view name, Time began, Time ended,
                   const std::string& arguments) {
  const auto since = microseconds_since_1970(began);
  const auto took = microseconds_since_1970(ended) - since;
  write(R"({"ph":"X","cat":")" + std::string(category) + R"(","name":")" + std::string(name) +
        "\"," + row_ + R"(,"ts":)" + std::to_string(since) + R"(,"dur":)" + std::to_string(took) +
        R"(,"args":{)" + arguments + "}},\n");
}

// Writes the line in one piece, so that what several processes append does not mix.
void Timeline::write(const std::string& line) {
  (void)!::write(file_.get(), line.data(), line.size());
}

}  // namespace tributary::host
