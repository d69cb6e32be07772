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

// By how much the clock that machines share, as far as they do, is ahead of ours. Read once in a
// process: events of a row must not overlap, and do not where all of them are moved alike. A
// reading that was interrupted is too large, so the smallest of several counts.
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

// Whole ones: of what has a fraction Perfetto makes nanoseconds by way of a double, which has only
// every 256th of them this far from 1970, so that one event would end after the next has begun.
std::int64_t microseconds_since_1970(Time when) {
  static const auto ahead = ahead_of_us();
  return std::chrono::nanoseconds(when.time_since_epoch() + ahead).count() / 1000;
}

// Of this process among those of all machines and containers, in the 32 bits that Perfetto has for
// it: it takes larger numbers for 0, and all processes for one.
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

Result<std::unique_ptr<Timeline>> Timeline::open(const std::string& path, std::uint32_t rank,
                                                 std::uint32_t world_size) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (!file) {
    return fail(Error::Code::invalid_argument,
                errno_text("the timeline '" + path + "' (TRIBUTARY_TIMELINE) cannot be written"));
  }
  static std::atomic<unsigned> communicators = 0;
  const auto number = ++communicators;
  const auto process = process_number();
  // Of all processes, as Perfetto names threads by their number alone.
  const auto row = process + number;
  std::unique_ptr<Timeline> timeline(new Timeline(
      std::move(file), R"("pid":)" + std::to_string(process) + R"(,"tid":)" + std::to_string(row)));
  timeline->begin();
  if (number == 1) {
    timeline->describe_row("process_name", R"("name":")" + rank_text(rank) + '"');
    timeline->describe_row("process_sort_index", R"("sort_index":)" + std::to_string(rank));
  }
  timeline->describe_row("thread_name", R"("name":")" + rank_text(rank) + " of " +
                                            std::to_string(world_size) + " ranks\"");
  timeline->describe_row("thread_sort_index", R"("sort_index":)" + std::to_string(number));
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

void Timeline::describe_row(const char* how, const std::string& arguments) {
  write(R"({"ph":"M","name":")" + std::string(how) + "\"," + row_ + R"(,"args":{)" + arguments +
        "}},\n");
}

void Timeline::add(const Entry& entry) {
  const auto began = microseconds_since_1970(entry.began);
  const auto took = microseconds_since_1970(entry.ended) - began;
  write(R"({"ph":"X","cat":"collective","name":")" + std::string(entry.collective) + "\"," + row_ +
        R"(,"ts":)" + std::to_string(began) + R"(,"dur":)" + std::to_string(took) +
        R"(,"args":{"bytes":)" + std::to_string(entry.bytes) + R"(,"by":")" +
        std::string(entry.by) + R"(","failed":)" + (entry.failed ? "true" : "false") + "}},\n");
}

// In one piece: what several processes append does not mix then.
void Timeline::write(const std::string& line) {
  (void)!::write(file_.get(), line.data(), line.size());
}

}  // namespace tributary::host
