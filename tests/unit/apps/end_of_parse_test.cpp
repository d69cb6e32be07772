// SPDX-License-Identifier: BSD-3-Clause
#include "end_of_parse.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tributary::apps::test {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Ended {
  int code = -1;
  std::string said;
};

Ended ended(const std::string& arguments) {
  CLI::App app("What it does.", "program");
  std::string file;
  app.add_option("--config", file)->required();
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Ended ended;
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    ended.code = end_of_parse(app, error);
  }
  ended.said = testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr();
  return ended;
}

TEST(EndOfParse, an_unknown_option_is_named_where_another_is_missing_besides) {
  const auto [code, said] = ended("--foo");
  EXPECT_EQ(code, 2);
  EXPECT_THAT(said, HasSubstr("not expected: --foo"));
  EXPECT_THAT(said, Not(HasSubstr("required")));
}

TEST(EndOfParse, what_is_missing_is_named) {
  const auto [code, said] = ended("");
  EXPECT_EQ(code, 2);
  EXPECT_THAT(said, HasSubstr("--config is required"));
}

TEST(EndOfParse, help_is_no_error) {
  const auto [code, said] = ended("--help");
  EXPECT_EQ(code, 0);
  EXPECT_THAT(said, HasSubstr("What it does."));
}

}  // namespace
}  // namespace tributary::apps::test
