// SPDX-License-Identifier: BSD-3-Clause
#include "control/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/option_kinds.h"

namespace tributary::control {
namespace {

using namespace std::chrono_literals;

enum class Colour : std::uint8_t { red, green };
constexpr Word<Colour> colours[] = {{"red", Colour::red}, {"green", Colour::green}};

constexpr std::uint16_t voltages[] = {12, 230};

struct Lamp {
  std::uint16_t watts = 40;
  std::uint16_t volts = 12;
  std::optional<std::uint32_t> most{};
  Duration warm_up = 2ms;
  std::uint32_t memory = 0;
  bool dims = false;
  double loss = 0.25;
  Colour colour = Colour::green;
  std::string group;
  wire::Ipv4Address address;
  std::vector<wire::Ipv4Address> seen;
  std::vector<wire::Ipv4Address> sees{wire::Ipv4Address(10, 0, 0, 9)};
};

constexpr Option<Lamp> options[] = {
    option::integer<&Lamp::watts>("watts", Apply::restart, {1, 100}, "of the lamp")
        .required()
        .unlisted(),
    option::one_of<&Lamp::volts, voltages>("volts", Apply::restart, "that it takes"),
    option::integer<&Lamp::most>("most", Apply::reload, {1, 9}, "of all").unset_is("unlimited"),
    option::duration<&Lamp::warm_up>("warm_up", Apply::reload, {Duration{1ms}, Duration{1s}},
                                     "until it shines"),
    option::size<&Lamp::memory>("memory", Apply::reload_not_upwards, {1024, 4096}, "of its state")
        .unset_is("automatic")
        .default_is("automatic: what it needs"),
    option::boolean<&Lamp::dims>("dims", Apply::reload, "whether it can be dimmed"),
    option::probability<&Lamp::loss>("loss", Apply::reload, "that it flickers"),
    option::words<&Lamp::colour, colours>("colour", Apply::reload, "of its light"),
    option::text<&Lamp::group>("group", Apply::reload, 8, "that it belongs to").unset_is("none"),
    option::parsed<&Lamp::address, parse_ipv4>("address", Apply::reload, {}, "of its switch"),
    option::list<&Lamp::seen, parse_ipv4>("seen", Apply::reload, {}, "whom it has seen")
        .default_is("nobody"),
    option::list<&Lamp::sees, parse_ipv4>("sees", Apply::reload, {}, "whom it sees")
        .as(Form::bracketed),
    option::by_hand<Lamp>("bulb", Apply::restart, "1 to 3", "a bulb").as(Form::tables),
};

struct LampReading {
  Lamp lamp;
  std::vector<std::string> errors;
};

LampReading read_lamp(std::string_view text) {
  const auto document = toml::parse(text);
  Diagnostics diagnostics("f");
  Reader reader(document, "lamp", diagnostics);
  LampReading outcome;
  read_options(reader, options, outcome.lamp);
  reader.finish();
  for (const auto& error : diagnostics.take()) {
    outcome.errors.push_back(to_string(error));
  }
  return outcome;
}

TEST(Options, every_row_reads_its_key) {
  const auto [lamp, errors] = read_lamp(R"(watts = 60
most = 3
warm_up = "5ms"
memory = "2KiB"
dims = true
loss = 0.5
colour = "red"
group = "hall"
address = "10.0.0.1"
seen = ["10.0.0.2", "10.0.0.3"])");
  EXPECT_THAT(errors, testing::IsEmpty());
  EXPECT_EQ(lamp.watts, 60u);
  EXPECT_EQ(lamp.most, 3u);
  EXPECT_EQ(lamp.warm_up, 5ms);
  EXPECT_EQ(lamp.memory, 2048u);
  EXPECT_TRUE(lamp.dims);
  EXPECT_EQ(lamp.loss, 0.5);
  EXPECT_EQ(lamp.colour, Colour::red);
  EXPECT_EQ(lamp.group, "hall");
  EXPECT_EQ(lamp.address, wire::Ipv4Address(10, 0, 0, 1));
  EXPECT_EQ(lamp.seen.size(), 2u);
}

TEST(Options, what_is_wrong_leaves_its_member_alone) {
  const auto [lamp, errors] = read_lamp("watts = 0\nmost = 10\nwarm_up = \"2s\"\nbulbs = 1");
  EXPECT_THAT(errors, testing::ElementsAre(testing::HasSubstr("`watts` is out of range (from 1 to"),
                                           testing::HasSubstr("`most` is out of range (from 1 to"),
                                           testing::HasSubstr("(from 1ms to 1s)"),
                                           testing::HasSubstr("unknown key `bulbs` in [lamp]")));
  EXPECT_EQ(lamp.watts, 40u);
  EXPECT_EQ(lamp.most, std::nullopt);
  EXPECT_EQ(lamp.warm_up, 2ms);
}

TEST(Options, one_of_a_few_numbers_is_none_between_them) {
  EXPECT_EQ(read_lamp("watts = 1\nvolts = 230").lamp.volts, 230u);
  const auto [lamp, errors] = read_lamp("watts = 1\nvolts = 24");
  EXPECT_THAT(errors,
              testing::ElementsAre(testing::AllOf(testing::HasSubstr("24 is no value of `volts`"),
                                                  testing::HasSubstr("one of 12, 230"))));
  EXPECT_EQ(lamp.volts, 12u);
  EXPECT_THAT(read_lamp("watts = 1\nvolts = 231").errors,
              testing::ElementsAre(testing::HasSubstr("out of range (from 12 to 230)")));
}

TEST(Options, what_is_required_is_missed) {
  EXPECT_THAT(read_lamp("dims = true").errors,
              testing::ElementsAre(testing::HasSubstr("`watts` is missing in [lamp]")));
}

TEST(Options, each_is_a_setting_that_says_whether_it_needs_a_restart) {
  Lamp lamp;
  lamp.most = 7;
  SettingTexts settings;
  list_options(settings, "hall lamp", options, lamp);
  EXPECT_EQ(settings.size(), 11u) << "not what code beside the table lists";
  EXPECT_EQ(settings["hall lamp volts"].text, "12");
  EXPECT_TRUE(settings["hall lamp volts"].restart);
  EXPECT_EQ(settings["hall lamp most"].text, "7");
  EXPECT_FALSE(settings["hall lamp most"].restart);
  EXPECT_EQ(settings["hall lamp memory"].text, "automatic");
  EXPECT_EQ(settings["hall lamp loss"].text, "0.25");
  EXPECT_EQ(settings["hall lamp colour"].text, "green");
  EXPECT_EQ(settings["hall lamp group"].text, "none");
}

TEST(Options, a_line_leaves_out_what_is_not_given) {
  Lamp lamp;
  lamp.seen = {wire::Ipv4Address(10, 0, 0, 2), wire::Ipv4Address(10, 0, 0, 3)};
  EXPECT_EQ(options_line(options, lamp),
            "volts 12 most unlimited warm_up 2ms memory automatic dims false loss 0.25 colour "
            "green group "
            "none seen 10.0.0.2, 10.0.0.3 sees 10.0.0.9")
      << "neither what is unlisted nor `address`";
}

TEST(Options, the_reference_has_defaults_and_ranges) {
  OptionTables tables;
  describe_options<Lamp>(options, add_table(tables, "[lamp]"));
  const auto text = to_markdown(tables);
  EXPECT_THAT(text, testing::StartsWith("## [lamp]\n\n| key | meaning | default | range |"));
  for (const auto* row : {
           "\n| `watts` * | of the lamp | | 1 to 100 | no |\n",
           "\n| `volts` | that it takes | 12 | 12, 230 | no |\n",
           "\n| `most` | of all | unlimited | 1 to 9 | yes |\n",
           "\n| `warm_up` | until it shines | `\"2ms\"` | 1ms to 1s | yes |\n",
           "\n| `memory` | of its state | automatic: what it needs | 1KiB to 4KiB | not upwards "
           "|\n",
           "\n| `dims` | whether it can be dimmed | false | true, false | yes |\n",
           "\n| `colour` | of its light | `\"green\"` | `\"red\"`, `\"green\"` | yes |\n",
           "\n| `group` | that it belongs to | none | up to 8 bytes | yes |\n",
           "\n| `address` | of its switch | | | yes |\n",
           "\n| `seen` | whom it has seen | nobody | | yes |\n",
           "\n| `sees` | whom it sees | `[10.0.0.9]` | | yes |\n",
           "\n| `[[lamp.bulb]]` | a bulb | | 1 to 3 | no |\n",
       }) {
    EXPECT_THAT(text, testing::HasSubstr(row));
  }
}

}  // namespace
}  // namespace tributary::control
