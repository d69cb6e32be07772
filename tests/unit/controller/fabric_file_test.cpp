// SPDX-License-Identifier: BSD-3-Clause
#include "controller/fabric_file.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "damaged_config.h"

namespace tributary::controller {
namespace {

using control::test::replaced;
using testing::HasSubstr;

constexpr std::string_view good = R"(version = 1
groups = "239.1.0.0/24"
[[switch]]
name = "leaf1"
control = "/run/leaf1.sock"
[[switch]]
name = "leaf2"
control = "/run/leaf2.sock"
ssh = "root@leaf2"
[[link]]
a = "leaf1:up"
b = "leaf2:up"
[[host]]
name = "a"
port = "leaf1:h1"
[[host]]
name = "b"
port = "leaf2:h1"
[[host]]
name = "b2"
port = "leaf2:h1"
[[job]]
id = 7
hosts = ["b", "a"]
trees = 2
share = 0.5
)";

// Returns the first error of the correct file with one change.
std::string complaint(std::string_view from, std::string_view to) {
  const auto loaded = parse_fabric(replaced(good, from, to), "f.toml");
  return loaded ? "good" : to_string(loaded.error().front());
}

TEST(FabricFile, names_become_places) {
  const auto fabric = parse_fabric(good, "f.toml");
  ASSERT_TRUE(fabric) << to_string(fabric.error());
  EXPECT_EQ(fabric->topology.switches.size(), 2u);
  EXPECT_EQ(fabric->points[0].ssh, "");
  EXPECT_EQ(fabric->points[1].ssh, "root@leaf2");
  EXPECT_EQ(fabric->points[1].socket, "/run/leaf2.sock");
  ASSERT_EQ(fabric->topology.links.size(), 1u);
  EXPECT_EQ(fabric->topology.links[0].b.switch_index, 1u);
  EXPECT_EQ(fabric->topology.links[0].b.port, "up");
  ASSERT_EQ(fabric->jobs.size(), 1u);
  EXPECT_EQ(fabric->jobs[0].hosts, (std::vector<std::size_t>{1, 0}));
  EXPECT_EQ(fabric->jobs[0].trees, 2u);
  EXPECT_EQ(fabric->jobs[0].quorum, 1);
  EXPECT_EQ(fabric->groups.first, wire::Ipv4Address(239, 1, 0, 1));
  EXPECT_EQ(fabric->groups.last, wire::Ipv4Address(239, 1, 0, 255));
}

TEST(FabricFile, addresses_of_hosts_and_switches_are_for_those_who_check_sources) {
  const auto text = replaced(
      replaced(good, "port = \"leaf1:h1\"\n", "port = \"leaf1:h1\"\naddress = \"10.1.1.2\"\n"),
      "ssh = \"root@leaf2\"\n", "ssh = \"root@leaf2\"\naddress = \"10.0.0.2\"\n");
  const auto fabric = parse_fabric(text, "f.toml");
  ASSERT_TRUE(fabric) << to_string(fabric.error());
  EXPECT_EQ(fabric->topology.hosts[0].address, wire::Ipv4Address(10, 1, 1, 2));
  EXPECT_TRUE(fabric->topology.hosts[1].address.is_unspecified());
  EXPECT_TRUE(fabric->topology.switches[0].address.is_unspecified());
  EXPECT_EQ(fabric->topology.switches[1].address, wire::Ipv4Address(10, 0, 0, 2));
}

TEST(FabricFile, addresses_of_ipv6_embed_those_of_ipv4_where_the_engine_knows_these) {
  const auto complaint_about = [](const std::string& address) {
    return complaint("port = \"leaf1:h1\"\n",
                     "port = \"leaf1:h1\"\naddress = \"" + address + "\"\n");
  };
  EXPECT_EQ(complaint_about("2001:db8:64::10.1.1.2"), "good");
  EXPECT_THAT(complaint_about("2001:db8:64::1"),
              HasSubstr("host `a` has an `address` that embeds none of IPv4, by which panama"));
  EXPECT_THAT(complaint_about("leaf1"), HasSubstr("`leaf1` is not an IPv4 address"));
  EXPECT_THAT(
      complaint("ssh = \"root@leaf2\"\n", "ssh = \"root@leaf2\"\naddress = \"2001:db8:64::1\"\n"),
      HasSubstr("switch `leaf2` has an `address` that embeds none of IPv4"));
}

TEST(FabricFile, what_is_left_out_has_a_default) {
  auto text = replaced(good, "trees = 2\nshare = 0.5\n", "");
  text.erase(text.find("groups"), text.find("[[") - text.find("groups"));
  const auto fabric = parse_fabric(text, "f.toml");
  ASSERT_TRUE(fabric) << to_string(fabric.error());
  EXPECT_EQ(fabric->jobs[0].trees, 0u);
  EXPECT_EQ(fabric->jobs[0].quorum, 2);
  EXPECT_EQ(fabric->groups.first, wire::Ipv4Address(239, 192, 0, 1));
  EXPECT_EQ(parse_fabric(replaced(good, "trees = 2", "trees = \"all\""), "f.toml")->jobs[0].trees,
            0u);
}

TEST(FabricFile, a_share_is_rounded_up_as_the_hosts_do) {
  EXPECT_EQ(parse_fabric(replaced(good, "0.5", "0.51"), "f.toml")->jobs[0].quorum, 2);
  EXPECT_EQ(parse_fabric(replaced(good, "0.5", "1"), "f.toml")->jobs[0].quorum, 2);
}

TEST(FabricFile, errors_have_a_place_and_a_hint) {
  EXPECT_EQ(
      complaint("hosts = [\"b\", \"a\"]", "hosts = [\"b\", \"b2\"]"),
      "f.toml:24:15: `b2` is behind the same port as `b`, leaf2:h1 (a switch takes one worker "
      "of a job by each port: give each a port of its own, or name one host for all ranks of a "
      "machine, which add up before they send (ParallelCommunicator))");
  EXPECT_EQ(complaint("hosts = [\"b\", \"a\"]", "hosts = [\"b\", \"aa\"]"),
            "f.toml:24:15: no host `aa` (there are a, b, b2)");
  EXPECT_EQ(complaint("b = \"leaf2:up\"", "b = \"leaf3:up\""),
            "f.toml:12:5: no switch `leaf3` (there are leaf1, leaf2)");
  EXPECT_EQ(complaint("port = \"leaf1:h1\"", "port = \"leaf1:up\""),
            "f.toml:15:8: port `leaf1:up` leads to another switch (name the port that the host is "
            "behind)");
}

TEST(FabricFile, what_contradicts_itself_is_refused) {
  EXPECT_THAT(complaint("version = 1", "version = 2"), HasSubstr("version = 1"));
  EXPECT_THAT(complaint("version = 1\n", ""), HasSubstr("`version` is missing"));
  EXPECT_THAT(complaint("239.1.0.0/24", "10.0.0.0/24"), HasSubstr("not multicast"));
  EXPECT_THAT(complaint("239.1.0.0/24", "224.0.0.0/24"), HasSubstr("routers"));
  EXPECT_THAT(complaint("239.1.0.0/24", "239.1.0.1/24"), HasSubstr("239.192.0.0/16"));
  EXPECT_THAT(complaint("name = \"leaf2\"", "name = \"leaf1\""), HasSubstr("another switch"));
  EXPECT_THAT(complaint("root@leaf2", "-oProxyCommand=x"), HasSubstr("no host"));
  EXPECT_THAT(complaint("b = \"leaf2:up\"", "b = \"leaf1:up2\""),
              HasSubstr("two different switches"));
  EXPECT_THAT(complaint("b = \"leaf2:up\"\n",
                        "b = \"leaf2:up\"\n[[link]]\na = \"leaf1:up\"\nb = "
                        "\"leaf2:up2\"\n"),
              HasSubstr("is in another link"));
  EXPECT_THAT(complaint("name = \"b2\"", "name = \"b\""), HasSubstr("another host"));
  EXPECT_THAT(complaint("port = \"leaf1:h1\"", "port = \"leaf1\""), HasSubstr("switch:port"));
  EXPECT_THAT(complaint("[[job]]\n", "[[job]]\nid = 7\nhosts = \"a\"\n[[job]]\n"),
              HasSubstr("given before"));
  EXPECT_THAT(complaint("hosts = [\"b\", \"a\"]", "hosts = []"), HasSubstr("1 to"));
  EXPECT_THAT(complaint("trees = 2", "trees = 0"), HasSubstr("out of range"));
  EXPECT_THAT(complaint("trees = 2", "trees = 17"), HasSubstr("out of range (from 1 to 16)"));
  EXPECT_THAT(complaint("id = 7", "id = 0"), HasSubstr("out of range (from 1 to 4294967295)"));
  EXPECT_THAT(complaint("trees = 2", "trees = \"most\""), HasSubstr("whole number"));
  for (const char* wrong : {"trees = \"al\"", "trees = \"2\"", "trees = 2.0", "trees = []"}) {
    EXPECT_THAT(complaint("trees = 2", wrong),
                HasSubstr("`trees` is to be \"all\" or a whole number (from 1 to 16)"));
  }
  for (const char* wrong : {"share = 0", "share = 1e-12", "share = 1.5", "share = nan"}) {
    EXPECT_THAT(complaint("share = 0.5", wrong),
                HasSubstr("`share` is out of range (from 0.0001 to 1.0)"));
  }
  EXPECT_THAT(complaint("share = 0.5", "shar = 0.5"), HasSubstr("did you mean `share`?"));
}

// Returns the correct file with a job of NetReduce, whose hosts have addresses, and the settings
// `more`.
std::string ring_job(const std::string& more, const char* address = "address = \"10.2.1.2\"\n") {
  auto text =
      replaced(good, "port = \"leaf1:h1\"\n", "port = \"leaf1:h1\"\naddress = \"10.1.1.2\"\n");
  text = replaced(text, "name = \"b\"\n", std::string("name = \"b\"\n") + address);
  return replaced(text, "trees = 2\nshare = 0.5\n", "algorithm = \"netreduce\"\n" + more);
}

TEST(FabricFile, a_job_chooses_who_adds_up) {
  const auto fabric = parse_fabric(ring_job("[job.settings]\nwindow = 4\n"), "f.toml");
  ASSERT_TRUE(fabric) << to_string(fabric.error());
  EXPECT_EQ(fabric->jobs[0].engine, "netreduce");
  EXPECT_EQ(fabric->jobs[0].settings, (control::TreeSettings{{"window", 4}}));
  EXPECT_EQ(fabric->jobs[0].limits.trees_max, 1u);
  EXPECT_EQ(parse_fabric(good, "f.toml")->jobs[0].engine, "panama");
}

TEST(FabricFile, a_job_is_held_to_what_its_protocol_can) {
  const auto refusal = [](const std::string& text) {
    const auto loaded = parse_fabric(text, "f.toml");
    return loaded ? "good" : to_string(loaded.error().front());
  };
  EXPECT_THAT(refusal(ring_job("trees = 2\n")), HasSubstr("at most 1 of `trees`"));
  EXPECT_THAT(refusal(ring_job("share = 0.5\n")), HasSubstr("lacks no worker"));
  EXPECT_THAT(refusal(ring_job("", "")), HasSubstr("host `b` has no `address`"));
  EXPECT_THAT(refusal(ring_job("[job.settings]\nwindows = 4\n")), HasSubstr("windows"));
  EXPECT_THAT(complaint("trees = 2", "algorithm = \"canary\""),
              HasSubstr("no protocol `canary` takes trees (one of panama, netreduce, flare)"));
}

TEST(FabricFile, a_job_of_flare_has_one_tree_in_a_group_of_its_own) {
  const auto flare_job = [](const std::string& more) {
    return parse_fabric(
        replaced(good, "trees = 2\nshare = 0.5\n", "algorithm = \"flare\"\n" + more), "f.toml");
  };
  const auto fabric = flare_job("settings = { window = 128, reproducible = 1 }\n");
  ASSERT_TRUE(fabric) << to_string(fabric.error());
  const auto& job = fabric->jobs[0];
  EXPECT_EQ(job.engine, "flare");
  EXPECT_TRUE(job.limits.groups);
  EXPECT_EQ(job.settings, (control::TreeSettings{{"reproducible", 1}, {"window", 128}}));
  EXPECT_THAT(to_string(flare_job("trees = 2\n").error().front()),
              HasSubstr("at most 1 of `trees`"));
  EXPECT_THAT(to_string(flare_job("share = 0.5\n").error().front()), HasSubstr("lacks no worker"));
}

TEST(FabricFile, a_file_that_is_not_there_is_said) {
  const auto loaded = load_fabric("/nonexistent.toml");
  ASSERT_FALSE(loaded);
  EXPECT_EQ(to_string(loaded.error().front()), "/nonexistent.toml: No such file or directory");
}

}  // namespace
}  // namespace tributary::controller
