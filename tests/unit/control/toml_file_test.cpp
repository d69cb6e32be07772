// SPDX-License-Identifier: BSD-3-Clause
#include "control/toml_file.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_directory.h"

namespace tributary::control {
namespace {

using testing::HasSubstr;

TEST(ReadFile, ReturnsAllThatIsInIt) {
  const tributary::test::TemporaryDirectory directory;
  const std::string path = directory / "a.toml";
  const std::string text("a = 1\r\n\0b", 9);
  std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(read_file(path), text);
}

TEST(ReadFile, SaysWhyItCannot) {
  const tributary::test::TemporaryDirectory directory;
  const auto absent = read_file(directory / "absent.toml");
  ASSERT_FALSE(absent);
  EXPECT_THAT(absent.error().front().file, HasSubstr("absent.toml"));
  EXPECT_EQ(absent.error().front().message, "No such file or directory");
  const auto no_file = read_file(directory.path());
  ASSERT_FALSE(no_file);
  EXPECT_EQ(no_file.error().front().message, "Is a directory");
}

// This also holds for a device that never ends.
TEST(ReadFile, IsAsMuchOfALargeFileAsIsRefused) {
  const auto endless = read_file("/dev/zero");
  ASSERT_TRUE(endless);
  const auto document = parse_document(*endless, "zeros");
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().front().message, "file is larger than 4MiB");
}

TEST(ParseDocument, TakesAFileOfTheGreatestSize) {
  std::string text = "a = 1\n";
  text.resize(std::size_t{4} << 20, '\n');
  ASSERT_TRUE(parse_document(text, "large"));
  EXPECT_EQ(parse_document(text, "large")->at("a").value<int>(), 1);
  EXPECT_FALSE(parse_document(text + '\n', "larger"));
}

TEST(ParseDocument, SaysWhereItIsNoToml) {
  const auto document = parse_document("a = 1\nb = \n", "x.toml");
  ASSERT_FALSE(document);
  ASSERT_EQ(document.error().size(), 1u);
  EXPECT_EQ(document.error().front().file, "x.toml");
  EXPECT_EQ(document.error().front().line, 2u);
}

TEST(ParseDocument, SaysInCharactersWhereItNestsTooDeep) {
  for (const auto* const before : {"", "a = 1\n\n"}) {
    const auto document = parse_document(before + ("\"ä€\" = " + std::string(33, '[')), "x.toml");
    ASSERT_FALSE(document);
    const auto& error = document.error().front();
    EXPECT_EQ(error.line, *before == '\0' ? 1u : 3u);
    EXPECT_EQ(error.column, 7u + 33);
    EXPECT_THAT(error.message, HasSubstr("nested too deep"));
  }
}

TEST(ParseDocument, IsSafeFromDepthThatHidesBehindAString) {
  std::string text = R"(x = {y = """a"""", )";
  for (int i = 0; i < 300'000; ++i) {
    text += "a.";
  }
  const auto document = parse_document(text + "b = 1}", "x.toml");
  ASSERT_FALSE(document);
  EXPECT_THAT(document.error().front().message, HasSubstr("nested too deep"));
}

}  // namespace
}  // namespace tributary::control
