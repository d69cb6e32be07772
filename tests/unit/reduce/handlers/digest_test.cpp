// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/handlers/digest.h"

#include <cstdint>
#include <fstream>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "support/temporary_directory.h"

namespace tributary::reduce {
namespace {

std::uint64_t digest_of(const std::string& content) {
  const tributary::test::TemporaryDirectory directory;
  const auto file = directory / "file";
  std::ofstream(file, std::ios::binary) << content;
  const auto digest = digest_of_file(file);
  EXPECT_TRUE(digest) << digest.error();
  return digest.value_or(0);
}

TEST(Digest, TellsContentsApart) {
  const std::string long_text(200'000, 'x');
  std::set<std::uint64_t> digests;
  for (const auto& content :
       {std::string(), std::string(1, '\0'), std::string(2, '\0'), std::string(8, '\0'),
        std::string("abcdefgh"), std::string("abcdefghi"), std::string("bcdefgha"), long_text,
        long_text + 'x', long_text.substr(1) + 'y'}) {
    EXPECT_TRUE(digests.insert(digest_of(content)).second) << content.size();
    EXPECT_EQ(digest_of(content), digest_of(content));
  }
  EXPECT_FALSE(digests.contains(0));
}

TEST(Digest, SaysWhyAFileCannotBeRead) {
  EXPECT_EQ(digest_of_file("/nowhere/x").error(), "No such file or directory");
  EXPECT_EQ(digest_of_file("/").error(), "Is a directory");
}

}  // namespace
}  // namespace tributary::reduce
