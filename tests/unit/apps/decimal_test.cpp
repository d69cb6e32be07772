// SPDX-License-Identifier: BSD-3-Clause
#include "decimal.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::apps::test {
namespace {

struct Read {
  std::uint64_t count = 0;
  int difference = 0;
  std::vector<std::uint32_t> sizes;
  std::uint64_t bytes = 0;
  std::optional<std::uint16_t> core;
  std::string file;
};

Read read(const char* option, const char* value) {
  CLI::App app;
  Read read;
  auto* command = app.add_subcommand("run");
  command->add_option("--count", read.count)->type_name("N")->check(CLI::Range(0, 1000));
  command->add_option("--difference", read.difference);
  command->add_option("--sizes", read.sizes)->delimiter(',');
  command->add_option("--bytes", read.bytes)->transform(CLI::AsSizeValue(false).description(""));
  command->add_option("--core", read.core)->type_name("CPU");
  command->add_option("--file", read.file);
  const std::array words{"program", "run", option, value};
  parse_decimal(app, static_cast<int>(words.size()), words.data());
  return read;
}

TEST(ParseDecimal, reads_zeros_in_front_as_nothing) {
  EXPECT_EQ(read("--count", "0100").count, 100u);
  EXPECT_EQ(read("--count", "08").count, 8u);
  EXPECT_EQ(read("--difference", "-010").difference, -10);
  EXPECT_EQ(read("--sizes", "010,020").sizes, (std::vector<std::uint32_t>{10, 20}));
  EXPECT_EQ(read("--bytes", "010K").bytes, 10240u);
  EXPECT_EQ(read("--core", "010").core, 10);
}

TEST(ParseDecimal, leaves_what_else_begins_with_a_zero) {
  EXPECT_EQ(read("--count", "0").count, 0u);
  EXPECT_EQ(read("--count", "00").count, 0u);
  EXPECT_EQ(read("--count", "0x10").count, 16u);
  EXPECT_EQ(read("--bytes", "0K").bytes, 0u);
  EXPECT_EQ(read("--file", "010").file, "010");
  EXPECT_THROW(read("--count", "0-"), CLI::ParseError);
  EXPECT_THROW(read("--count", ""), CLI::ParseError);
}

}  // namespace
}  // namespace tributary::apps::test
