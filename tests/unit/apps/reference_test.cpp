// SPDX-License-Identifier: BSD-3-Clause
#include "reference.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tributary::apps::test {
namespace {

using testing::HasSubstr;

// The program has commands such as those of the programs here: some have commands of their own.
class Reference : public testing::Test {
 protected:
  Reference() {
    app.add_flag("-j,--json", json, "answers are JSON");
    app.add_option("--socket", socket, "where it listens")
        ->envname("SOCKET")
        ->type_name("PATH")
        ->capture_default_str();
    auto* const show = app.add_subcommand("show", "shows a thing");
    show->add_option("THING", thing, "its name")->required();
    add_limit(*show);
    auto* const find = app.add_subcommand("find", "finds things");
    find->require_subcommand(1);
    for (const char* const name : {"fast", "slow"}) {
      auto* const way = find->add_subcommand(name, "finds them so");
      add_limit(*way);
      way->option_defaults()->group("Words");
      way->add_option("--word", words, "that is meant")->delimiter(',')->capture_default_str();
      if (name == std::string("slow")) {
        way->add_option("--order", order, "in which they come")
            ->check(CLI::IsMember({"up", "down"}))
            ->default_str("as it comes");
      }
    }
  }

  void add_limit(CLI::App& command) {
    command.add_option("--limit", limit, "at most so many")
        ->check(CLI::Range(1u, 64u))
        ->capture_default_str();
  }

  CLI::App app{"What it does.", "program"};
  bool json = false;
  std::string socket = "/run/it";
  std::string thing;
  std::string order;
  std::uint32_t limit = 8;
  std::vector<std::string> words = {"a", "b"};
};

TEST_F(Reference, commands_are_listed_with_what_follows_them) {
  EXPECT_THAT(reference_of(app), HasSubstr("## program: commands\n\n"
                                           "| command | what it does |\n|---|---|\n"
                                           "| `show THING` | shows a thing |\n"
                                           "| `find` | finds things |\n"
                                           "| `find fast`, `find slow` | finds them so |\n\n"));
}

TEST_F(Reference, options_of_the_program_have_a_table) {
  const std::string text = reference_of(app);
  EXPECT_THAT(text, HasSubstr("## program: options\n\n"
                              "| option | meaning | default | range |\n|---|---|---|---|\n"
                              "| `-h`, `--help` |"));
  EXPECT_THAT(text,
              HasSubstr("| `-j`, `--json` | answers are JSON | | |\n"
                        "| `--socket PATH` | where it listens | /run/it, or `$SOCKET` | |\n"));
}

TEST_F(Reference, a_row_names_the_commands_that_have_the_option) {
  EXPECT_THAT(reference_of(app),
              HasSubstr("## program: options of commands\n\n"
                        "| option | meaning | default | range | only of |\n|---|---|---|---|---|\n"
                        "| `THING` * | its name | | | `show` |\n"
                        "| `--limit` | at most so many | 8 | 1 to 64 | |\n\n"));
}

TEST_F(Reference, each_group_has_a_table) {
  EXPECT_THAT(
      reference_of(app),
      HasSubstr("## program: Words\n\n"
                "| option | meaning | default | range | only of |\n|---|---|---|---|---|\n"
                "| `--word` | that is meant | a,b | | |\n"
                "| `--order` | in which they come | as it comes | `up`, `down` | `find slow` |\n"));
}

TEST_F(Reference, a_command_stands_for_all_of_its_own) {
  app.add_subcommand("other", "does something else")->add_option("--limit", limit, "of others");
  EXPECT_THAT(reference_of(app),
              HasSubstr("| `--limit` | at most so many | 8 | 1 to 64 | `show`, `find` |\n"));
}

TEST_F(Reference, the_option_prints_it_and_ends) {
  add_reference(app, "everything", [this] { return reference_of(app); });
  app.require_subcommand(1);
  testing::internal::CaptureStdout();
  EXPECT_THROW(app.parse("--reference"), CLI::Success);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), reference_of(app));
}

}  // namespace
}  // namespace tributary::apps::test
