// SPDX-License-Identifier: BSD-3-Clause
#include "control/handler_source.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_directory.h"

namespace tributary::control {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class HandlerSourceTest : public testing::Test {
 protected:
  HandlerSourceTest() {
    fs::create_directories(home_ + "/deep");
    fs::permissions(home_, fs::perms(0755));
    fs::permissions(home_ + "/deep", fs::perms(0755));
    write(home_ + "/sum.so");
    write(home_ + "/deep/sum.so");
    write(directory_ / "outside.so");
  }
  static void write(const std::string& path) {
    std::ofstream(path) << "code";
    fs::permissions(path, fs::perms(0644));
  }
  std::string refusal(const std::string& file) const {
    const auto path = trusted_file(file, home_);
    EXPECT_FALSE(path) << file;
    return path ? "" : path.error();
  }

  tributary::test::TemporaryDirectory directory_;
  std::string home_ = fs::canonical(directory_.path()) / "handlers";
};

TEST_F(HandlerSourceTest, a_file_in_the_directory_is_trusted_by_name_and_by_path) {
  EXPECT_EQ(trusted_file("sum.so", home_), home_ + "/sum.so");
  EXPECT_EQ(trusted_file(home_ + "/sum.so", home_), home_ + "/sum.so");
  EXPECT_EQ(trusted_file("deep/sum.so", home_ + "/"), home_ + "/deep/sum.so");
}

TEST_F(HandlerSourceTest, without_a_directory_no_file_is) {
  const auto path = trusted_file("sum.so", "");
  ASSERT_FALSE(path);
  EXPECT_THAT(path.error(), HasSubstr("handler_directory = "));
}

TEST_F(HandlerSourceTest, nothing_leads_out_of_the_directory) {
  fs::create_symlink(directory_ / "outside.so", home_ + "/link.so");
  fs::create_directories(home_ + "-more");
  write(home_ + "-more/sum.so");
  for (const std::string& file :
       {std::string("../outside.so"), directory_ / "outside.so", std::string("link.so"),
        home_ + "-more/sum.so", home_ + "/deep/../../outside.so", std::string(".")}) {
    EXPECT_THAT(refusal(file), HasSubstr("is not in")) << file;
  }
}

TEST_F(HandlerSourceTest, what_is_no_file_is_refused) {
  EXPECT_THAT(refusal("absent.so"), HasSubstr("No such file"));
  EXPECT_THAT(refusal("deep"), HasSubstr("is no file"));
  EXPECT_THAT(refusal(""), HasSubstr("is not in"));
  EXPECT_THAT(refusal(std::string(5000, 'x')), HasSubstr("name too long"));
}

TEST_F(HandlerSourceTest, what_others_can_write_is_refused_wherever_it_is_on_the_way) {
  for (const auto& place : {home_ + "/deep/sum.so", home_ + "/deep", home_, home_ + "/.."}) {
    for (const auto mode : {fs::perms::group_write, fs::perms::others_write}) {
      fs::permissions(place, mode, fs::perm_options::add);
      EXPECT_THAT(refusal("deep/sum.so"), HasSubstr("can be written")) << place;
      fs::permissions(place, mode, fs::perm_options::remove);
    }
  }
  EXPECT_TRUE(trusted_file("deep/sum.so", home_));
}

TEST_F(HandlerSourceTest, in_a_sticky_directory_above_nobody_replaces_it) {
  const auto sticky = fs::perms::sticky_bit | fs::perms::others_write;
  fs::permissions(directory_.path(), sticky, fs::perm_options::add);
  EXPECT_TRUE(trusted_file("sum.so", home_));
  fs::permissions(home_, sticky, fs::perm_options::add);
  EXPECT_THAT(refusal("sum.so"), HasSubstr("can be written")) << "others may add files to it";
}

TEST_F(HandlerSourceTest, a_file_of_another_user_is_refused) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root gives files away";
  }
  ASSERT_EQ(chown((home_ + "/sum.so").c_str(), 65534, 65534), 0);
  EXPECT_THAT(refusal("sum.so"), HasSubstr("belongs to another user"));
}

TEST_F(HandlerSourceTest, an_expression_needs_no_directory) {
  HandlerConfig wanted;
  wanted.type = wire::ElementType::i8;
  wanted.expression = "acc = acc + in";
  const auto handler = make_handler(wanted, "");
  ASSERT_TRUE(handler);
  EXPECT_FALSE((*handler)->is_native());
}

TEST_F(HandlerSourceTest, a_trusted_file_that_is_no_shared_object_is_refused_by_the_linker) {
  HandlerConfig wanted;
  wanted.file = "sum.so";
  const auto handler = make_handler(wanted, home_);
  ASSERT_FALSE(handler);
  EXPECT_THAT(handler.error(), HasSubstr("sum.so as a handler"));
}

}  // namespace
}  // namespace tributary::control
