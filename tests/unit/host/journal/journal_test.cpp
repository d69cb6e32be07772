// SPDX-License-Identifier: BSD-3-Clause
#include "host/journal/journal.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <mutex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "../loopback.h"
#include "../ports.h"
#include "host/communicator.h"

namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;

// A file that does not exist before, and is removed afterwards.
class JournalFile : public testing::Test {
 protected:
  JournalFile() : path_(std::filesystem::temp_directory_path() / name()) {}
  ~JournalFile() override { std::filesystem::remove(path_); }

  CommunicatorOptions options() const {
    CommunicatorOptions options;
    options.set("timeline", path_.string());
    return options;
  }
  // Reads the events as Perfetto does, which closes the array by itself.
  std::vector<nlohmann::json> events(const std::string& phase) const {
    std::stringstream text;
    text << std::ifstream(path_).rdbuf() << "{}]";
    std::vector<nlohmann::json> found;
    for (const auto& event : nlohmann::json::parse(text.str())) {
      if (event.contains("ph") && event["ph"] == phase) {
        found.push_back(event);
      }
    }
    return found;
  }

  // Returns the descriptions of rows, by events of that name.
  std::vector<nlohmann::json> described(const std::string& how) const {
    auto all = events("M");
    std::erase_if(all, [&](const nlohmann::json& event) { return event["name"] != how; });
    return all;
  }

  std::filesystem::path path_;

 private:
  static std::string name() {
    const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
    return "timeline-" + std::to_string(::getpid()) + "-" + test->name();
  }
};

TEST(Journal, IsNotThereWhereNobodyLooks) {
  const auto journal = Journal::open({});
  ASSERT_TRUE(journal);
  EXPECT_EQ(*journal, nullptr);
}

TEST(Journal, TalliesBySizeClass) {
  CommunicatorOptions options;
  options.set("report", "1");
  const auto journal = Journal::open(options);
  ASSERT_TRUE(journal);
  const Time start{10s};
  (*journal)->note({"allreduce", "ring", 1000, start, start + 1ms});
  (*journal)->note({"allreduce", "ring", 1024, start, start + 3ms, true});
  (*journal)->note({"allreduce", "ring", 1025, start, start + 1ms});
  (*journal)->note({"barrier", "ring", 0, start, start + 1ms});
  const auto& tallies = (*journal)->tallies();
  ASSERT_EQ(tallies.size(), 3u);
  const auto& small = tallies.at({"allreduce", 1024, "ring"});
  EXPECT_EQ(small.calls, 2u);
  EXPECT_EQ(small.failures, 1u);
  EXPECT_EQ(small.bytes, 2024u);
  EXPECT_EQ(small.longest, 3ms);
  EXPECT_TRUE(tallies.contains({"barrier", 0, "ring"}));
  EXPECT_EQ((*journal)->in_collectives(), 6ms);
}

TEST_F(JournalFile, HasAnEventForEachCollectiveOfEachRank) {
  for (const std::uint32_t rank : {0u, 1u}) {
    auto own = options();
    own.rank = rank;
    own.world_size = 2;
    const auto journal = Journal::open(own);
    ASSERT_TRUE(journal) << journal.error().message;
    const auto now = Clock::now();
    (*journal)->note({"allreduce", "canary", 4096, now - 2ms, now, rank == 1});
  }
  const auto all = events("X");
  ASSERT_EQ(all.size(), 2u);
  const auto& last = all[1];
  EXPECT_EQ(last["name"], "allreduce");
  EXPECT_NEAR(last["dur"], 2000.0, 0.01);
  EXPECT_EQ(last["args"]["bytes"], 4096);
  EXPECT_EQ(last["args"]["by"], "canary");
  EXPECT_EQ(last["args"]["failed"], true);
  EXPECT_EQ(last["pid"], all[0]["pid"]);
  EXPECT_NE(last["tid"], all[0]["tid"]) << "of another communicator";
  const auto rows = described("thread_name");
  EXPECT_EQ(rows.back()["args"]["name"], "rank 1 of 2 ranks");
  EXPECT_EQ(rows.back()["tid"], last["tid"]);
  const auto places = described("thread_sort_index");
  EXPECT_GT(places[1]["args"]["sort_index"], places[0]["args"]["sort_index"]);
}

// Perfetto has 32 bits for these numbers, and takes larger ones for 0; it finds a thread's name
// only by the thread's number.
TEST_F(JournalFile, NumbersOfRowsFitIntoPerfettosAndAreNobodyElses) {
  std::set<std::uint64_t> processes;
  std::set<std::uint64_t> rows;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    const auto child = ::fork();
    if (child == 0) {
      auto own = options();
      own.rank = rank;
      own.world_size = 3;
      const auto journal = Journal::open(own);
      if (journal) {
        (*journal)->note({"barrier", "canary", 0, Clock::now(), Clock::now()});
      }
      ::_exit(journal ? 0 : 1);
    }
    int status = 1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
  }
  for (const auto& event : events("X")) {
    processes.insert(event["pid"].get<std::uint64_t>());
    rows.insert(event["tid"].get<std::uint64_t>());
  }
  EXPECT_EQ(processes.size(), 3u);
  EXPECT_EQ(rows.size(), 3u);
  EXPECT_LE(*processes.rbegin(), std::numeric_limits<std::uint32_t>::max());
  EXPECT_LE(*rows.rbegin(), std::numeric_limits<std::uint32_t>::max());
}

// Perfetto does not accept events of a row that overlap: each must end before the next, also when
// rounded.
TEST_F(JournalFile, EventsOfARowDoNotOverlap) {
  const auto journal = Journal::open(options());
  ASSERT_TRUE(journal) << journal.error().message;
  auto at = Clock::now();
  for (int i = 0; i < 1000; ++i) {
    const auto end = at + std::chrono::nanoseconds(97 * i);
    (*journal)->note({"allreduce", "canary", 64, at, end});
    at = end;
  }
  // Converts to nanoseconds, as Perfetto does.
  const auto nanoseconds = [](const nlohmann::json& value) {
    return value.is_number_integer() ? value.get<std::int64_t>() * 1000
                                     : static_cast<std::int64_t>(value.get<double>() * 1000.0);
  };
  std::int64_t last_end = 0;
  for (const auto& event : events("X")) {
    const auto begin = nanoseconds(event["ts"]);
    EXPECT_GE(begin, last_end);
    EXPECT_GE(event["dur"].get<double>(), 0);
    last_end = begin + nanoseconds(event["dur"]);
  }
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  EXPECT_NEAR(static_cast<double>(last_end), static_cast<double>(now.count()), 60e9);
}

// docs/reference/library.md describes this: one beginning, and the lines of all files.
TEST_F(JournalFile, LinesOfSeveralFilesAreOneFile) {
  std::vector<std::string> lines;
  for (const std::uint32_t rank : {0u, 1u}) {
    auto own = options();
    own.rank = rank;
    own.world_size = 2;
    const auto journal = Journal::open(own);
    ASSERT_TRUE(journal) << journal.error().message;
    (*journal)->note({"barrier", "canary", 0, Clock::now(), Clock::now()});
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with('{')) {
        lines.push_back(line);
      }
    }
    std::filesystem::remove(path_);
  }
  std::ofstream joined(path_);
  joined << "[\n";
  for (const auto& line : lines) {
    joined << line << "\n";
  }
  joined.close();
  EXPECT_EQ(events("X").size(), 2u);
  EXPECT_EQ(described("thread_name").size(), 2u);
}

TEST_F(JournalFile, ThatCannotBeWrittenIsAnError) {
  auto elsewhere = options().set("timeline", "/nonexistent/file");
  const auto journal = Journal::open(elsewhere);
  ASSERT_FALSE(journal);
  EXPECT_NE(journal.error().message.find("TRIBUTARY_TIMELINE"), std::string::npos);
}

// The callback for messages may throw, and a destructor must not.
TEST(Journal, ThatNobodyCanBeToldOfEndsAllTheSame) {
  CommunicatorOptions options;
  options.set("report", "on");
  bool told = false;
  options.on_notice = [&](const std::string&) {
    told = true;
    throw std::runtime_error("nobody listens");
  };
  {
    auto communicator = Communicator::create(options);
    ASSERT_TRUE(communicator) << communicator.error().message;
  }
  EXPECT_TRUE(told);
}

TEST_F(JournalFile, CommunicatorsFillIt) {
  const auto port = next_ports();
  std::mutex mutex;
  std::vector<std::string> said;
  run_ranks(2, [&](std::uint32_t rank) {
    auto own = options_on_loopback(rank, 2, port);
    own.algorithm = "ring";
    own.set("timeline", path_.string()).set("report", "on");
    own.on_notice = [&, rank](const std::string& line) {
      const std::lock_guard lock(mutex);
      if (rank == 0) {
        said.push_back(line);
      }
    };
    auto communicator = Communicator::create(own);
    ASSERT_TRUE(communicator) << communicator.error().message;
    std::vector<float> elements(256);
    ASSERT_TRUE(communicator->allreduce(std::span(elements)));
    ASSERT_TRUE(communicator->barrier());
  });
  EXPECT_EQ(events("X").size(), 4u);
  std::string all;
  for (const auto& line : said) {
    all += line + "\n";
  }
  for (const auto* const part :
       {"ms in collectives", "allreduce", "1 KiB", "barrier", "came last"}) {
    EXPECT_NE(all.find(part), std::string::npos) << part << " is not in:\n" << all;
  }
}

}  // namespace
}  // namespace tributary::host::test
