// SPDX-License-Identifier: BSD-3-Clause
#include "control/tree_store.h"

#include <filesystem>
#include <fstream>
#include <sched.h>
#include <sstream>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include "protocols/panama/engine/config.h"
#include "support/temporary_directory.h"
#include "tree_parts.h"

namespace tributary::control {
namespace {

using testing::HasSubstr;

class TreeStoreTest : public testing::Test {
 protected:
  TreeStoreTest() : before_(spdlog::default_logger()) {
    config_.control_socket = directory_ / "control.sock";
    config_.switches.emplace_back().config.name = "leaf1";
    add_panama(config_);
    auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(log_);
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("", sink));
  }
  ~TreeStoreTest() override { spdlog::set_default_logger(before_); }
  std::string path() const { return state_path(config_); }
  void write(const std::string& text) const { std::ofstream(path()) << text; }

  std::shared_ptr<spdlog::logger> before_;
  std::ostringstream log_;
  tributary::test::TemporaryDirectory directory_;
  DaemonConfig config_;
};

TEST_F(TreeStoreTest, lies_beside_the_control_socket_unless_told_otherwise) {
  EXPECT_EQ(path(), directory_ / "control.trees.json");
  config_.control_socket = "/run/other";
  EXPECT_EQ(path(), "/run/other.trees.json");
  config_.state = "/var/lib/trees";
  EXPECT_EQ(path(), "/var/lib/trees");
  config_.state = "";
  EXPECT_EQ(path(), "");
  EXPECT_TRUE(restore_state(config_).trees.empty());
}

TEST_F(TreeStoreTest, what_is_saved_comes_back) {
  auto root = part_of(8, 1);
  root.parent.reset();
  root.workers = 2;
  root.quorum = 1;
  const RuntimeTrees trees = {{"leaf1", {part_of(7, 0), root}}};
  EXPECT_TRUE(restore_state(config_).trees.empty());
  ASSERT_TRUE(save_state(path(), {trees, {}}));
  EXPECT_EQ(restore_state(config_).trees, trees);
  EXPECT_THAT(log_.str(), HasSubstr("2 aggregation trees taken up again"));
  ASSERT_TRUE(save_state(path(), {}));
  EXPECT_TRUE(restore_state(config_).trees.empty());
  EXPECT_FALSE(std::filesystem::exists(path() + ".new"));
}

TEST_F(TreeStoreTest, seeds_come_back_beside_the_trees) {
  const RuntimeState state = {{{"leaf1", {part_of(7, 0)}}}, {{"leaf1", 1}, {"spine1", 2}}};
  ASSERT_TRUE(save_state(path(), state));
  EXPECT_EQ(restore_state(config_).trees, state.trees);
  EXPECT_EQ(restore_state(config_).seeds, state.seeds);
  write("{\"version\":1,\"switches\":{}}");
  EXPECT_TRUE(load_state(path())->seeds.empty()) << "of a daemon that knew of none";
}

TEST_F(TreeStoreTest, what_cannot_be_written_leaves_what_was_there) {
  const RuntimeTrees trees = {{"leaf1", {part_of(7, 0)}}};
  ASSERT_TRUE(save_state(path(), {trees, {}}));
  std::filesystem::create_directory(path() + ".new");
  const auto saved = save_state(path(), {});
  ASSERT_FALSE(saved);
  EXPECT_THAT(saved.error(), HasSubstr(path()));
  EXPECT_EQ(load_state(path())->trees, trees);
  EXPECT_FALSE(save_state(directory_ / "none/state", {trees, {}}));
}

// Runs in a process with a full file system of its own: the remaining trees can be kept there, and
// more cannot.
enum class OnFullDisk { as_promised, not_as_promised, cannot_be_tried };

OnFullDisk keep_on_full_disk(const std::string& directory) {
  const auto user = std::to_string(getuid());
  const auto group = std::to_string(getgid());
  const bool alone = unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
  std::ofstream("/proc/self/uid_map") << user + " " + user + " 1";
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream("/proc/self/gid_map") << group + " " + group + " 1";
  if (!alone || mount("tmpfs", directory.c_str(), "tmpfs", 0, "size=64k") != 0) {
    return OnFullDisk::cannot_be_tried;
  }
  const std::string path = directory + "/state";
  const RuntimeTrees trees = {{"leaf1", {part_of(7, 0), part_of(8, 1)}}};
  const RuntimeTrees fewer = {{"leaf1", {part_of(8, 1)}}};
  std::vector<TreePart> many;
  for (std::uint16_t tree = 0; tree < 1000; ++tree) {
    many.push_back(part_of(9, tree));
  }
  bool good = save_state(path, {trees, {}}).has_value();
  std::ofstream(directory + "/full") << std::string(65536, 'x');
  good = good && save_state(path, {fewer, {}}).has_value() && load_state(path)->trees == fewer;
  good = good && !save_state(path, {{{"leaf1", many}}, {}}) && load_state(path)->trees == fewer;
  good = good && !std::filesystem::exists(path + ".new");
  return good ? OnFullDisk::as_promised : OnFullDisk::not_as_promised;
}

TEST_F(TreeStoreTest, trees_can_be_taken_away_on_a_full_disk) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(static_cast<int>(keep_on_full_disk(directory_ / "")));
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == static_cast<int>(OnFullDisk::cannot_be_tried)) {
    // The full disk is a small file system of the test's own, whose mount needs a right that not
    // every user has.
    GTEST_SKIP() << "this machine lets nobody mount in a namespace of their own";
  }
  EXPECT_EQ(WEXITSTATUS(status), static_cast<int>(OnFullDisk::as_promised));
}

TEST_F(TreeStoreTest, a_damaged_file_is_said_and_passed_over) {
  for (const char* text :
       {"", "{", "[]", "{\"version\":2,\"switches\":{}}", "{\"version\":1,\"switches\":[]}",
        "{\"version\":1,\"switches\":{\"leaf1\":[{}]}}",
        "{\"version\":1,\"switches\":{\"leaf1\":1}}", "\xff\xfe",
        "{\"version\":1,\"switches\":{},\"seeds\":[1]}",
        "{\"version\":1,\"switches\":{},\"seeds\":{\"leaf1\":-1}}"}) {
    write(text);
    log_.str("");
    EXPECT_TRUE(restore_state(config_).trees.empty()) << text;
    EXPECT_THAT(log_.str(), HasSubstr("no aggregation trees are taken up again: " + path()))
        << text;
    EXPECT_THAT(log_.str(), HasSubstr("tributaryctl fabric apply")) << text;
  }
}

TEST_F(TreeStoreTest, any_byte_may_be_lost) {
  const RuntimeTrees trees = {{"leaf1", {part_of(7, 0)}}};
  ASSERT_TRUE(save_state(path(), {trees, {}}));
  std::stringstream whole;
  whole << std::ifstream(path()).rdbuf();
  for (std::size_t length = 0; length < whole.str().size(); ++length) {
    write(whole.str().substr(0, length));
    const auto restored = restore_state(config_).trees;
    EXPECT_TRUE(restored.empty() || restored == trees) << length;
  }
}

TEST_F(TreeStoreTest, what_does_not_fit_any_more_is_left_out_by_jobs) {
  const RuntimeTrees trees = {
      {"leaf1", {part_of(6, 3), part_of(7, 0), part_of(7, 1), part_of(8, 2)}},
      {"gone", {part_of(9, 0)}}};
  ASSERT_TRUE(save_state(path(), {trees, {}}));
  config_.switches[0].config.protocols.get<panama::PanamaConfig>().trees.push_back(
      {{8, wire::Ipv4Address(239, 1, 1, 1), {0, 1}, 2, 4, 2}, 0, 4});
  config_.switches[0].config.protocols.get<panama::PanamaConfig>().trees.push_back(
      {{5, wire::Ipv4Address(239, 192, 0, 4), {0, 1}, 2, 4, 2}, 0, 4});
  EXPECT_EQ(restore_state(config_).trees,
            (RuntimeTrees{{"leaf1", {part_of(7, 0), part_of(7, 1)}}}));
  EXPECT_THAT(log_.str(), HasSubstr("job 8 is not taken up again: switch leaf1, tree 2 of job 8: "
                                    "the job is in the configuration file"));
  EXPECT_THAT(log_.str(), HasSubstr("job 6 is not taken up again"));
  EXPECT_THAT(log_.str(), HasSubstr("there is no switch `gone`"));
}

}  // namespace
}  // namespace tributary::control
