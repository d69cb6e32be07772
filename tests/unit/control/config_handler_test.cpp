// SPDX-License-Identifier: BSD-3-Clause
// Tests [[handler]] and handler_directory.
#include <gtest/gtest.h>

#include "control/config_diff.h"
#include "control/loader.h"
#include "damaged_config.h"

namespace tributary::control {
namespace {

constexpr std::string_view good_handlers = R"toml(version = 1
[daemon]
handler_directory = "/usr/lib/tributary/handlers"
[[handler]]
number = 7
type = "i8"
expression = "acc = min(acc + in, 127)"
[[handler]]
number = 8
file = "sum.so"
[[switch]]
name = "s"
id = 1
[[switch.port]]
name = "a"
tap = "tap0"
)toml";

constexpr test::Damage damaged_handlers[] = {
    {"number_out_of_range", "number = 7", "number = 64", 5, 10, "`number` is out of range", "63"},
    {"number_missing", "number = 7\n", "\n", 4, 1, "`number` is missing in [handler]", ""},
    {"number_twice", "number = 8", "number = 7", 9, 10, "handler 7 was given before", "another"},
    {"type_unknown", "\"i8\"", "\"i7\"", 6, 8, "no element type `i7`", "f32"},
    {"type_missing", "type = \"i8\"\n", "\n", 7, 14, "`expression` without `type`", "type ="},
    {"type_beside_file", "file =", "type = \"i8\"\nfile =", 10, 8, "`type` beside `file`", "leave"},
    {"type_without_expressions", "\"i8\"", "\"opaque8\"", 7, 14, "opaque8", ""},
    {"expression_wrong", "acc + in", "acc + im", 7, 14, "column 17: there is no `im`", ""},
    {"expression_and_file", "file =", "expression = \"acc = in\"\nfile =", 11, 8,
     "either an `expression` or a `file`", "write one"},
    {"neither", "file = \"sum.so\"\n", "\n", 8, 1, "either an `expression` or a `file`", ""},
    {"file_without_directory", "handler_directory = \"/usr/lib/tributary/handlers\"", "", 10, 8,
     "`file` without `handler_directory`", "handler_directory ="},
    {"directory_relative", "\"/usr/lib", "\"lib", 3, 21, "no absolute path", "begin it with `/`"},
    {"unknown_key", "number = 8", "number = 8\nnmae = \"x\"", 10, 1, "unknown key `nmae`", ""},
};

class ConfigHandlerTest : public testing::TestWithParam<test::Damage> {};
TEST_P(ConfigHandlerTest, errors_are_placed_and_explained) {
  test::expect_placed_and_explained(good_handlers, GetParam());
}
INSTANTIATE_TEST_SUITE_P(Damages, ConfigHandlerTest, testing::ValuesIn(damaged_handlers),
                         test::name_of);

TEST(ConfigHandler, is_read) {
  const auto config = parse_config(good_handlers, "test.toml");
  ASSERT_TRUE(config) << to_string(config.error());
  EXPECT_EQ(config->handler_directory, "/usr/lib/tributary/handlers");
  ASSERT_EQ(config->handlers.size(), 2u);
  EXPECT_EQ(config->handlers[0].number, 7u);
  EXPECT_EQ(config->handlers[0].type, wire::ElementType::i8);
  EXPECT_EQ(config->handlers[0].expression, "acc = min(acc + in, 127)");
  EXPECT_EQ(config->handlers[0].file, "");
  EXPECT_EQ(config->handlers[1].number, 8u);
  EXPECT_EQ(config->handlers[1].type, std::nullopt);
  EXPECT_EQ(config->handlers[1].file, "sum.so");
}

TEST(ConfigHandler, differences_are_shown_and_can_be_reloaded) {
  const auto lines = [](std::string_view from, std::string_view to) {
    const auto before = parse_config(good_handlers, "before");
    const auto after = parse_config(test::replaced(good_handlers, from, to), "after");
    EXPECT_TRUE(before && after);
    std::string text;
    for (const auto& change : diff(*before, *after)) {
      text += to_string(change) + "\n";
    }
    return text;
  };
  EXPECT_EQ(lines("127", "100"),
            "~ handler 7: type i8 expression acc = min(acc + in, 127) -> "
            "type i8 expression acc = min(acc + in, 100)\n");
  EXPECT_EQ(lines("number = 8", "number = 9"),
            "- handler 8: file sum.so\n+ handler 9: file sum.so\n");
  EXPECT_EQ(lines("tributary/handlers", "handlers"),
            "~ daemon handler_directory: /usr/lib/tributary/handlers -> /usr/lib/handlers  "
            "(needs a restart)\n");
}

}  // namespace
}  // namespace tributary::control
