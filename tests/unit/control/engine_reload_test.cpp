// SPDX-License-Identifier: BSD-3-Clause
// Tests that the tables of options and the engines agree on what a reload can change. An engine
// that is made anew for a setting loses its blocks, so a reload must refuse that setting; and
// nothing has to be refused that an engine takes as it is.
#include <algorithm>
#include <any>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "control/loader.h"
#include "control/protocol_section.h"
#include "packet/pool.h"
#include "protocols/engines.h"

namespace tributary::control {
namespace {

struct OtherValue {
  std::string_view protocol, key;
  std::string_view value;  // another one than the default
  std::string_view shown{};
};

constexpr std::string_view flare_tree =
    R"([{ job = 1, group = "239.1.0.1", children = ["a", "b"], workers = 2, workers_below = 2 }])";
constexpr std::string_view panama_tree =
    R"([{ job = 1, tree = 0, group = "239.1.0.1", children = ["a", "b"], )"
    R"(workers = 2, workers_below = 2 }])";

// A new setting of an engine needs a row here.
constexpr OtherValue other_values[] = {
    {"canary", "descriptors", "8192"},
    {"canary", "timeout", "\"2ms\""},
    {"canary", "timeout_min", "\"60us\""},
    {"canary", "timeout_max", "\"60ms\""},
    {"canary", "root_timeout", "\"60ms\""},
    {"canary", "learn_contributions", "false"},
    {"canary", "reclaim_after", "\"200ms\""},
    {"canary", "age_max", "\"6s\""},
    {"canary", "job_quota", "7"},
    {"canary", "port_quota", "7"},
    {"canary", "partitions", "2"},
    {"canary", "hash_seed", "7"},
    {"canary", "job", "[{ id = 7 }]", "[[switch.canary.job]]"},
    {"panama", "packet_memory", "1024"},
    {"panama", "tree", panama_tree, "[[switch.panama.tree]]"},
    {"netreduce", "packet_memory", "1024"},
    {"netreduce", "ring", R"([{ id = 7, members = ["10.0.0.1", "10.0.0.2"] }])",
     "[[switch.netreduce.ring]]"},
    {"flare", "working_memory", "1000"},
    {"flare", "partial_sums", "false"},
    {"flare", "tree", flare_tree, "[[switch.flare.tree]]"},
};

std::any settings_with(std::string_view protocol, std::size_t row, const std::string& line) {
  const std::string text = R"(version = 1
[[switch]]
name = "s"
id = 1
address = "10.0.0.254"
[[switch.port]]
name = "a"
ring = "a"
[[switch.port]]
name = "b"
ring = "b"
[switch.)" + std::string(protocol) +
                           "]\n" + line;
  const auto config = parse_config(text, "file");
  EXPECT_TRUE(config) << line << to_string(config ? ConfigErrors{} : config.error());
  return config ? config->switches[0].config.protocols.of(row) : std::any{};
}

TEST(EngineReload, OptionsAndEnginesAgreeOnWhatNeedsARestart) {
  const engine::SwitchIdentity identity{1, wire::Ipv4Address{10, 0, 255, 1}, {}, 4};
  HeapPacketPool pool(4, 2048);
  for (std::size_t row = 0; row < protocols::engines().size(); ++row) {
    const auto& kind = *protocols::engines()[row];
    const auto& section = *protocol_sections()[row];
    ASSERT_EQ(kind.protocol.name, section.name);
    OptionTables tables;
    section.describe(tables);
    const auto before = settings_with(section.name, row, "");
    for (const auto& option : tables.front().rows) {
      const auto* const other = std::ranges::find_if(other_values, [&](const OtherValue& one) {
        const auto shown = one.shown.empty() ? one.key : one.shown;
        return one.protocol == section.name && option.key == "`" + std::string(shown) + "`";
      });
      ASSERT_NE(other, std::end(other_values)) << option.key << " has no other value here";
      const auto after = settings_with(section.name, row,
                                       std::string(other->key) + " = " + std::string(other->value));
      const auto engine = kind.make(before, identity, pool);
      EXPECT_EQ(kind.reconfigure(*engine, after), option.apply != Apply::restart)
          << section.name << " " << option.key;
    }
  }
}

}  // namespace
}  // namespace tributary::control
