// SPDX-License-Identifier: BSD-3-Clause
// The switches are data planes that answer from memory, behind the daemons' own servers.
#include "controller/fabric_watch.h"

#include <chrono>
#include <optional>
#include <stop_token>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include "control/server.h"
#include "fake_backend.h"
#include "protocols/panama/engine/config.h"
#include "support/temporary_directory.h"

namespace tributary::controller {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Ids = std::vector<std::uint32_t>;

class FakeDaemon {
 public:
  explicit FakeDaemon(const std::string& socket) {
    options_.socket = socket;
    backend.running.switches.clear();
  }

  void add_switch(const std::string& name, const std::vector<std::string>& ports) {
    auto& section = backend.running.switches.emplace_back();
    section.config.name = name;
    for (const std::string& port : ports) {
      section.config.ports.emplace_back().name = port;
    }
    section.devices.resize(ports.size(), control::RingDevice{"r"});
    section.config.protocols.emplace<panama::PanamaConfig>().packet_memory = 8;
  }
  void start() {
    auto server = control::Server::create(options_, backend);
    ASSERT_TRUE(server) << server.error();
    thread_ = std::jthread([server = std::move(*server)](const std::stop_token& stop) mutable {
      while (!stop.stop_requested()) {
        server->run_once(std::chrono::milliseconds(10));
      }
      server.reset();
    });
  }
  void stop() { thread_ = std::jthread(); }

  control::FakeBackend backend;

 private:
  control::ServerOptions options_;
  std::jthread thread_;
};

// Two leaves with a host each, below two spines; one of these has a daemon of its own.
class FabricWatchTest : public testing::Test {
 protected:
  FabricWatchTest() {
    spdlog::set_level(spdlog::level::off);
    for (const std::string leaf : {"leaf1", "leaf2"}) {
      others_.add_switch(leaf, {"h", "spine1", "spine2"});
    }
    others_.add_switch("spine2", {"leaf1", "leaf2"});
    spine1_.add_switch("spine1", {"leaf1", "leaf2"});
    others_.start();
    spine1_.start();
  }

  LoadedFabric file(const Ids& jobs, int trees = 1,
                    const std::vector<std::string>& switches = {"leaf1", "leaf2", "spine1",
                                                                "spine2"}) const {
    std::string text = "version = 1\n";
    for (const auto& sw : switches) {
      text += "[[switch]]\nname = \"" + sw + "\"\ncontrol = \"" +
              (sw == "spine1" ? spine1_socket_ : others_socket_) + "\"\n";
    }
    for (const std::string leaf : {"leaf1", "leaf2"}) {
      text += "[[host]]\nname = \"" + leaf + "h\"\nport = \"" + leaf + ":h\"\n";
      for (const std::string spine : {"spine1", "spine2"}) {
        text +=
            "[[link]]\na = \"" + leaf + ":" + spine + "\"\nb = \"" + spine + ":" + leaf + "\"\n";
      }
    }
    for (const auto job : jobs) {
      text += "[[job]]\nid = " + std::to_string(job) +
              "\nhosts = [\"leaf1h\", \"leaf2h\"]\ntrees = " + std::to_string(trees) + "\n";
    }
    return parse_fabric(text, "fabric.toml");
  }
  Look look(const Ids& jobs) { return watch().look(file(jobs)); }
  Look look_at_a_broken_file() {
    return watch().look(
        tl::unexpected(control::ConfigErrors{{"fabric.toml", 3, 1, "this is no TOML", ""}}));
  }
  FabricWatch& watch() {
    if (!watch_) {
      watch_.emplace(*file({}), std::chrono::seconds(30),
                     [this](std::uint32_t job, const control::Environment&) {
                       told_.push_back(job);
                       return told_result_;
                     });
    }
    return *watch_;
  }

  // Returns the switches that have a tree of the job, those of a daemon that is gone too.
  std::vector<std::string> switches_with(std::uint32_t job) const {
    std::vector<std::string> names;
    for (const auto* daemon : {&others_, &spine1_}) {
      for (const auto& [name, parts] : daemon->backend.installed) {
        for (const TreePart& part : parts) {
          if (part.job == job) {
            names.push_back(name);
          }
        }
      }
    }
    return names;
  }

  tributary::test::TemporaryDirectory directory_;
  std::string others_socket_ = directory_ / "others.sock";
  std::string spine1_socket_ = directory_ / "spine1.sock";
  FakeDaemon others_{others_socket_};
  FakeDaemon spine1_{spine1_socket_};
  Ids told_;
  tl::expected<void, std::string> told_result_;
  std::optional<FabricWatch> watch_;
};

TEST_F(FabricWatchTest, JobsThatAreNewInTheFileArePlaced) {
  EXPECT_EQ(look({7}).changed.size(), 3u);
  EXPECT_THAT(switches_with(7), ElementsAre("leaf1", "leaf2", "spine1"));
  const auto second = look({7, 8});
  EXPECT_THAT(second.problems, IsEmpty());
  EXPECT_THAT(switches_with(8), ElementsAre("leaf1", "leaf2", "spine2"));
  EXPECT_THAT(look({7, 8}).changed, IsEmpty());
}

TEST_F(FabricWatchTest, AJobKeepsItsTreesWhenTheRootOfTheLastOneHasForgottenIt) {
  watch().look(file({7}, 2));
  EXPECT_EQ(switches_with(7).size(), 6u);
  others_.backend.installed.erase("spine2");  // as where it is started again
  EXPECT_THAT(watch().look(file({7}, 2)).problems, IsEmpty());
  EXPECT_EQ(switches_with(7).size(), 6u);
}

// The watch is new, so it cannot know how many trees the job had.
TEST_F(FabricWatchTest, AJobKeepsItsTreesWhenTheRootOfTheLastOneIsSilent) {
  const auto two_trees = file({7}, 2, {"leaf1", "leaf2", "spine2", "spine1"});
  const auto groups = [&] {
    std::vector<wire::Ipv4Address> all;
    for (const TreePart& part : others_.backend.installed["leaf1"]) {
      all.push_back(part.group);
    }
    return all;
  };
  watch().look(two_trees);
  const auto before = groups();
  ASSERT_EQ(before.size(), 2u);
  ASSERT_EQ(spine1_.backend.installed["spine1"].front().tree, 1u);
  spine1_.stop();
  watch_.reset();
  watch().look(two_trees);
  watch().look(two_trees);
  EXPECT_EQ(groups(), before);
}

TEST_F(FabricWatchTest, AJobThatLeftTheFileIsRemovedAtTheSecondLookWithoutIt) {
  look({7, 8});
  EXPECT_THAT(look({7}).changed, IsEmpty());
  EXPECT_EQ(switches_with(8).size(), 3u);
  EXPECT_EQ(look({7}).changed.size(), 3u);
  EXPECT_THAT(switches_with(8), IsEmpty());
  EXPECT_EQ(switches_with(7).size(), 3u);
}

TEST_F(FabricWatchTest, AJobThatIsMissingNowAndThenStays) {
  for (int i = 0; i < 3; ++i) {
    look({7, 8});
    look({7});
  }
  EXPECT_EQ(switches_with(8).size(), 3u);
}

TEST_F(FabricWatchTest, AJobIsNotMissingFromAFileThatCannotBeRead) {
  look({7, 8});
  look({7});
  look_at_a_broken_file();
  look_at_a_broken_file();
  EXPECT_EQ(switches_with(8).size(), 3u);
  look({7});
  EXPECT_THAT(switches_with(8), IsEmpty());
}

TEST_F(FabricWatchTest, AJobIsRemovedWhenNobodySendsThroughItsTrees) {
  look({7, 8});
  engine::TreeStatus used;
  used.job = 8;
  used.active = true;
  others_.backend.states = {{"leaf1", used, {}, "panama"}};
  for (int i = 0; i < 4; ++i) {
    look({7});
  }
  EXPECT_EQ(switches_with(8).size(), 3u);
  others_.backend.states[0].tree.active = false;
  look({7});
  EXPECT_THAT(switches_with(8), IsEmpty());
}

TEST_F(FabricWatchTest, AJobThatWasNeverInTheFileIsAnothersAndStays) {
  others_.backend.installed["leaf1"] = {
      {9, 0, wire::Ipv4Address(239, 1, 1, 1), {"h"}, "spine1", 2, 1, 2, {}, {}, "panama"}};
  for (int i = 0; i < 3; ++i) {
    look({7});
  }
  EXPECT_THAT(switches_with(9), ElementsAre("leaf1"));
}

// What it says of a change that waits is what the switch said to the last try.
TEST_F(FabricWatchTest, ARefusedChangeIsTriedAgainAfterOneTwoFourAndAtMostSixtyLooks) {
  std::vector<int> tried;
  for (int i = 1; i <= 130; ++i) {
    const std::string why = "the disk is full at look " + std::to_string(i);
    others_.backend.trees_refused = why;
    const auto problems = look({7}).problems;
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_THAT(problems[0], HasSubstr("switch leaf1 refused: the disk is full"));
    if (problems[0].find(why + ";") != std::string::npos) {
      tried.push_back(i);
    }
  }
  EXPECT_THAT(tried, ElementsAre(1, 2, 4, 8, 16, 32, 64, 124));
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(FabricWatchTest, AnotherChangeOfTheJobDoesNotWait) {
  others_.backend.trees_refused = "the disk is full";
  for (int i = 0; i < 4; ++i) {
    look({7});
  }
  others_.backend.trees_refused.clear();
  EXPECT_THAT(look({7}).changed, IsEmpty()) << "it waits for the eighth look";
  spine1_.stop();
  look({7});
  EXPECT_EQ(look({7}).changed.size(), 3u);
  EXPECT_THAT(switches_with(7), ElementsAre("leaf1", "leaf2", "spine2"));
}

TEST_F(FabricWatchTest, OneJobThatIsRefusedDoesNotHoldUpTheOthers) {
  spine1_.backend.trees_refused = "the disk is full";
  const auto first = look({7, 8});
  EXPECT_THAT(first.problems, ElementsAre(HasSubstr("switch spine1 refused: the disk is full")));
  EXPECT_THAT(switches_with(7), IsEmpty()) << "all of its switches or none";
  EXPECT_THAT(switches_with(8), ElementsAre("leaf1", "leaf2", "spine2"));
  EXPECT_THAT(told_, ElementsAre(8));
}

TEST_F(FabricWatchTest, ASwitchThatIsSilentAtTwoLooksIsGoneAround) {
  look({7});
  spine1_.stop();
  const auto first = look({7});
  EXPECT_THAT(first.problems, ElementsAre(HasSubstr("switch spine1 does not answer: ")));
  EXPECT_THAT(first.changed, IsEmpty());
  EXPECT_EQ(look({7}).changed.size(), 3u);
  EXPECT_THAT(others_.backend.installed["spine2"], testing::SizeIs(1));
  spine1_.start();
  EXPECT_THAT(look({7}).changed, IsEmpty());
  EXPECT_EQ(look({7}).changed.size(), 1u) << "it has what it had when it went";
  EXPECT_THAT(switches_with(7), ElementsAre("leaf1", "leaf2", "spine2"));
}

TEST_F(FabricWatchTest, ASwitchThatIsBackAtTheNextLookKeepsItsTrees) {
  look({7});
  spine1_.stop();
  look({7});
  spine1_.start();
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(look({7}).changed, IsEmpty());
  }
  EXPECT_THAT(switches_with(7), Contains("spine1"));
}

TEST_F(FabricWatchTest, ASwitchThatAnswersWithAnErrorIsThereAndNothingIsMoved) {
  look({7});
  spine1_.backend.core_late = "core 1 has not come round";
  for (int i = 0; i < 3; ++i) {
    const auto seen = look({7, 8});
    EXPECT_THAT(seen.problems, ElementsAre(HasSubstr("core 1 has not come round")));
    EXPECT_THAT(seen.changed, IsEmpty());
  }
  spine1_.backend.core_late.clear();
  look({7, 8});
  EXPECT_EQ(look({7, 8}).changed.size(), 3u);
}

TEST_F(FabricWatchTest, AFileThatIsBeingWrittenIsReadAtTheNextLook) {
  look({7});
  for (int i = 0; i < 3; ++i) {
    const auto seen = look_at_a_broken_file();
    EXPECT_THAT(seen.problems, ElementsAre("fabric.toml:3:1: this is no TOML"));
    EXPECT_THAT(seen.changed, IsEmpty());
  }
  EXPECT_EQ(watch().file().jobs.size(), 1u);
  EXPECT_EQ(switches_with(7).size(), 3u);
  EXPECT_THAT(look({7, 8}).problems, IsEmpty());
  EXPECT_EQ(switches_with(8).size(), 3u);
}

TEST_F(FabricWatchTest, WorkersAreToldOnceAndAgainWhenTheirJobComesBack) {
  look({7, 8});
  look({7, 8});
  EXPECT_THAT(told_, ElementsAre(7, 8));
  look({7});
  look({7});
  look({7, 8});
  EXPECT_THAT(told_, ElementsAre(7, 8, 8));
}

TEST_F(FabricWatchTest, WorkersThatCannotBeToldAreToldAtTheNextLook) {
  told_result_ = tl::unexpected(std::string("the disk of the workers is full"));
  EXPECT_THAT(look({7}).problems, ElementsAre("the disk of the workers is full"));
  EXPECT_THAT(look({7}).problems, ElementsAre("the disk of the workers is full"));
  told_result_ = tl::expected<void, std::string>();
  EXPECT_THAT(look({7}).problems, IsEmpty());
  look({7});
  EXPECT_THAT(told_, ElementsAre(7, 7, 7));
}

}  // namespace
}  // namespace tributary::controller
