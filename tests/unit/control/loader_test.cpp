// SPDX-License-Identifier: BSD-3-Clause
#include "control/loader.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "control/cores.h"
#include "control/text.h"
#include "damaged_config.h"
#include "protocols/canary/engine/config.h"
#include "two_routers.h"

namespace tributary::control {
namespace {

using namespace std::chrono_literals;

constexpr test::Damage cases[] = {
    {"unknown_key", "mac = \"02:00:00:01:00:01\"", "adress = \"x\"", 13, 1, "unknown key `adress`",
     "did you mean `address`?"},
    {"unknown_key_at_the_root", "[[link]]", "[[lnik]]", 37, 3, "unknown key `lnik`", "`link`"},
    {"syntax", "id = 1", "id = ", 4, 6, "", ""},
    {"version_missing", "version = 1\n", "\n", 1, 1, "`version` is missing", ""},
    {"version_of_the_future", "version = 1", "version = 2", 1, 11, "configuration format",
     "version = 1"},
    {"switch_without_id", "id = 2\n", "\n", 31, 1, "`id` is missing in [switch]", ""},
    {"id_zero", "id = 2", "id = 0", 33, 6, "`id` is out of range", "from 1 to 65535"},
    {"id_negative", "id = 2", "id = -1", 33, 6, "`id` is out of range", "from 1 to 65535"},
    {"id_of_wrong_type", "id = 2", "id = \"2\"", 33, 6, "a whole number", ""},
    {"id_twice", "id = 2", "id = 1", 33, 6, "id 1 is that of switch `leaf1`", ""},
    {"name_of_switch_twice", "name = \"spine1\"", "name = \"leaf1\"", 32, 8,
     "name `leaf1` is that of another switch", ""},
    {"name_with_a_colon", "name = \"spine1\"", "name = \"sp:1\"", 32, 8, "is not a name",
     "letters"},
    {"port_twice", "name = \"b1\"", "name = \"h1\"", 20, 8, "another port of this switch", ""},
    {"port_without_name", "name = \"b1\"\n", "\n", 19, 1, "`name` is missing in [switch.port]", ""},
    {"port_unattached", "tap = \"tap0\"\n", "\n", 19, 1, "`leaf1:b1` is attached to nothing",
     "[[link]]"},
    {"port_with_two_devices", "tap = \"tap0\"", "tap = \"tap0\"\nring = \"r\"", 22, 8,
     "`ring` beside `tap`", "one thing"},
    {"port_with_device_and_link", "name = \"up1\"", "name = \"up1\"\ntap = \"t\"", 39, 5,
     "has a device already", "one thing"},
    {"driver_without_interface", "tap = \"tap0\"", "tap = \"tap0\"\ndriver = \"af_xdp\"", 22, 10,
     "`driver` without `interface`", ""},
    {"role_without_vhost", "tap = \"tap0\"", "tap = \"tap0\"\nvhost_role = \"client\"", 22, 14,
     "`vhost_role` without `vhost`", ""},
    {"comma_in_a_socket", "tap = \"tap0\"", "virtio_user = \"/run/x,cq=1\"", 21, 15,
     "`virtio_user` cannot contain a comma", ""},
    {"ring_as_a_number", "tap = \"tap0\"", "ring = 0", 21, 8, "`ring` is to be text in quotes", ""},
    {"socket_without_a_directory", "tap = \"tap0\"", "vhost = \"vm.sock\"", 21, 9,
     "`vm.sock` names no directory", "./"},
    {"socket_with_a_long_path", "tap = \"tap0\"",
     "memif = \"/run/0123456789012345678901234567890123456789012345678901234567890123456789"
     "0123456789012345678901234567890123456789\"",
     21, 9, "`memif` is empty", "1 to 107"},
    {"socket_of_the_daemon", "tap = \"tap0\"", "vhost = \"/run/tributary/control.sock\"", 19, 1,
     "is in use by the daemon's control socket", "another"},
    {"queues_of_virtio_user", "tap = \"tap0\"", "virtio_user = \"/run/x\"\nqueues = 9", 22, 10,
     "`queues` is out of range", "from 1 to 8"},
    {"queues_of_a_tap", "tap = \"tap0\"", "tap = \"tap0\"\nqueues = 2", 22, 10,
     "`queues` without `interface`", "a queue for each file"},
    {"queues_by_another_word", "interface = \"veth-h1\"",
     "interface = \"veth-h1\"\nqueues = \"all\"", 12, 10, "`queues` is no number of them",
     "\"auto\", or from 1 to 64"},
    {"queues_none", "interface = \"veth-h1\"", "interface = \"veth-h1\"\nqueues = 0", 12, 10,
     "`queues` is out of range", "from 1 to 64"},
    {"pcap_with_a_comma", "tap = \"tap0\"", "pcap = { rx = [\"a\", \"b,c\"] }", 21, 15,
     "cannot contain a comma", ""},
    {"driver_unknown", "interface = \"veth-h1\"", "interface = \"veth-h1\"\ndriver = \"xdp\"", 12,
     10, "`xdp` is no value of `driver`", "\"af_packet\", \"af_xdp\""},
    {"interface_twice", "tap = \"tap0\"", "interface = \"veth-h1\"", 19, 1,
     "interface veth-h1 is in use by port `leaf1:h1`", ""},
    {"interface_name_too_long", "veth-h1", "veth-h1-is-too-long", 11, 13, "`interface` is empty",
     "1 to 15"},
    {"address_of_the_network", "10.1.1.1/24", "10.1.1.0/24", 12, 11, "network address",
     "between the two"},
    {"address_broadcast", "10.1.1.1/24", "10.1.1.255/24", 12, 11, "broadcast address", ""},
    {"address_without_length", "10.1.1.1/24", "10.1.1.1", 12, 11, "no prefix length",
     "10.1.1.1/24"},
    {"address_loopback", "10.1.1.1/24", "127.0.0.1/8", 12, 11, "cannot be an interface's",
     "loopback"},
    {"address_twice", "address = \"10.100.1.2/30\"", "address = \"10.100.1.1/30\"", 36, 11,
     "address 10.100.1.1 is that of up1 of switch `leaf1`", ""},
    {"address6_twice", "[[link]]",
     "[[switch]]\nname = \"s3\"\nid = 3\nbridge_address6 = \"fd00::1/64\"\n"
     "[[switch.port]]\nname = \"a\"\ntap = \"tap3\"\n"
     "[[switch]]\nname = \"s4\"\nid = 4\nbridge_address6 = \"fd00::1/64\"\n"
     "[[switch.port]]\nname = \"a\"\ntap = \"tap4\"\n[[link]]",
     47, 19, "address fd00::1 is that of the bridge of switch `s3`", ""},
    {"prefixes_overlap", "10.100.1.1/30", "10.1.1.99/25", 16, 11, "overlaps that of h1",
     "prefix of its own"},
    {"mac_of_a_group", "02:00:00:01:00:01", "03:00:00:01:00:01", 13, 7, "group address", "even"},
    {"mac_malformed", "02:00:00:01:00:01", "02-00-00-01-00-01", 13, 7, "not a MAC address",
     "six octets"},
    {"mtu_too_small", "tap = \"tap0\"", "tap = \"tap0\"\nmtu = 100", 22, 7, "`mtu` is out of range",
     "from 576 to 9000"},
    {"rate_without_unit", "200Mbit", "200", 17, 8, "`200` has no unit", "Mbit"},
    {"rate_in_bytes", "200Mbit", "200MB", 17, 8, "unknown unit", "Mbit"},
    {"rate_as_a_number", "rate = \"200Mbit\"", "rate = 200", 17, 8, "text in quotes",
     "write a number and a unit"},
    {"queue_too_small", "1MiB", "1kB", 18, 9, "`queue` is out of range", "from 2KiB to 1GiB"},
    {"queue_below_a_frame", "queue = \"1MiB\"", "queue = \"2KiB\"\nmtu = 9000", 18, 9,
     "cannot hold one frame", "at least 9014B"},
    {"canary_without_address", "address = \"10.1.255.1\"\n", "\n", 6, 1,
     "needs the switch's own address", "address ="},
    {"canary_not_a_power_of_two", "descriptors = 4096", "descriptors = 1000", 7, 15,
     "not a power of two", "512 or 1024"},
    {"canary_timeout_bad_unit", "timeout = \"1ms\"", "timeout = \"1msec\"", 8, 11, "unknown unit",
     "ns, us, ms"},
    {"canary_ages_before_timeout", "timeout = \"1ms\"", "timeout = \"2s\"\nage_max = \"1s\"", 9, 11,
     "`age_max` is shorter", "2s"},
    {"canary_reclaims_at_once", "timeout = \"1ms\"", "reclaim_after = \"1us\"", 8, 17,
     "`reclaim_after` is out of range", "from 1ms to 1h"},
    {"canary_timeout_bounds_crossed", "timeout = \"1ms\"",
     "timeout = \"adaptive\"\ntimeout_min = \"2ms\"\ntimeout_max = \"1ms\"", 10, 15,
     "`timeout_max` is shorter than `timeout_min`", "at least 2ms"},
    {"canary_timeout_other_word", "timeout = \"1ms\"", "timeout = \"clever\"", 8, 11, "`clever`",
     "\"adaptive\""},
    {"canary_ages_before_longest_timeout", "timeout = \"1ms\"",
     "timeout = \"adaptive\"\ntimeout_max = \"2s\"\nage_max = \"1s\"", 10, 11,
     "`age_max` is shorter", "2s"},
    {"canary_more_partitions_than_slots", "descriptors = 4096", "descriptors = 8\npartitions = 9",
     8, 14, "more `partitions` than `descriptors`", "at most 8"},
    {"canary_too_many_partitions", "timeout = \"1ms\"", "partitions = 65", 8, 14,
     "`partitions` is out of range", "from 0 to 64"},
    {"canary_more_jobs_than_partitions", "timeout = \"1ms\"",
     "partitions = 1\njob = [{ id = 7 }, { id = 8 }]", 8, 14,
     "fewer `partitions` than [[switch.canary.job]]", "at least 2, or 0"},
    {"canary_job_without_id", "timeout = \"1ms\"", "job = [{ quota = 4 }]", 8, 8,
     "`id` is missing in [switch.canary.job]", ""},
    {"canary_job_on_a_missing_port", "timeout = \"1ms\"",
     "job = [{ id = 7, ports = [\"h1\", \"h9\"] }]", 8, 33, "no port `h9` on switch `leaf1`",
     "ports: h1, up1, b1"},
    {"canary_job_on_no_port", "timeout = \"1ms\"", "job = [{ id = 7, ports = [] }]", 8, 26,
     "`ports` names no port", "leave it out"},
    {"canary_job_without_any_descriptor", "timeout = \"1ms\"", "job = [{ id = 7, quota = 0 }]", 8,
     26, "`quota` is out of range", "from 1 to"},
    {"canary_job_twice", "timeout = \"1ms\"", "job = [{ id = 7 }, { id = 7 }]", 8, 27,
     "job 7 was given before", "one [[switch.canary.job]]"},
    {"learning_unknown", "tap = \"tap0\"", "tap = \"tap0\"\nlearn = \"no\"", 22, 9,
     "`no` is no value of `learn`", "\"on\", \"off\""},
    {"learning_on_a_routed_port", "rate = \"200Mbit\"", "learn = \"off\"", 17, 9,
     "`learn` is for bridged ports", "`address` away"},
    {"addresses_of_a_routed_port", "rate = \"200Mbit\"", "addresses_max = 1", 17, 17,
     "`addresses_max` is for bridged ports", "`address` away"},
    {"addresses_none", "tap = \"tap0\"", "tap = \"tap0\"\naddresses_max = 0", 22, 17,
     "`addresses_max` is out of range", "from 1 to 1048576"},
    {"addresses_without_learning", "tap = \"tap0\"",
     "tap = \"tap0\"\nlearn = \"off\"\naddresses_max = 1", 23, 17, "`learn` is \"off\"",
     "one of the two"},
    {"bfd_too_fast", "[switch.canary]", "bfd = { interval = \"9ms\" }\n[switch.canary]", 6, 20,
     "`interval` is out of range", "from 10ms to"},
    {"bfd_too_slow", "[switch.canary]", "bfd = { interval = \"61s\" }\n[switch.canary]", 6, 20,
     "`interval` is out of range", ""},
    {"bfd_without_packets", "[switch.canary]", "bfd = { multiplier = 0 }\n[switch.canary]", 6, 22,
     "`multiplier` is out of range", "from 1 to 255"},
    {"bfd_too_patient", "[switch.canary]", "bfd = { multiplier = 256 }\n[switch.canary]", 6, 22,
     "`multiplier` is out of range", "from 1 to 255"},
    {"bfd_misspelt", "[switch.canary]", "bfd = { multipler = 3 }\n[switch.canary]", 6, 9,
     "unknown key `multipler` in [switch.bfd]", "did you mean `multiplier`?"},
    {"bfd_no_table", "[switch.canary]", "bfd = true\n[switch.canary]", 6, 7, "`bfd`", ""},
    {"fdb_to_a_missing_port", "port = \"b1\"", "port = \"b2\"", 27, 8,
     "no port `b2` on switch `leaf1`", "ports: h1, up1, b1"},
    {"fdb_to_a_routed_port", "port = \"b1\"", "port = \"h1\"", 27, 8, "is routed",
     "without an address"},
    {"link_to_a_missing_switch", "a = \"leaf1:up1\"", "a = \"leaf9:up1\"", 38, 5,
     "no switch `leaf9`", "leaf1, spine1"},
    {"link_to_a_missing_port", "a = \"leaf1:up1\"", "a = \"leaf1:up9\"", 38, 5,
     "no port `up9` on switch `leaf1`", "h1, up1, b1"},
    {"link_malformed", "a = \"leaf1:up1\"", "a = \"up1\"", 38, 5, "names no port", "switch:port"},
    {"link_with_two_mtus", "name = \"up1\"", "name = \"up1\"\nmtu = 9000", 40, 5,
     "the ends of the link have MTU 9000 and 1500", "same `mtu`"},
    {"impairment_above_one", "tap = \"tap0\"", "tap = \"tap0\"\nimpair = { loss = 1.5 }", 22, 19,
     "`loss` is out of range", "from 0.0 to 1.0"},
    {"impairment_not_a_number", "tap = \"tap0\"", "tap = \"tap0\"\nimpair = { loss = nan }", 22, 19,
     "`loss` is out of range", ""},
    {"impairment_twice", "tap = \"tap0\"", "tap = \"tap0\"\nimpair = {}\nimpair_in = {}", 22, 10,
     "both directions", "keep either"},
    {"cores_twice", "version = 1", "version = 1\ndaemon = { cores = [1, 1] }", 2, 20,
     "names a CPU twice", ""},
    {"cores_none", "version = 1", "version = 1\ndaemon = { cores = [] }", 2, 20, "names no CPU",
     "auto"},
    {"packets_too_few", "version = 1", "version = 1\ndaemon = { packets = 5 }", 2, 22,
     "`packets` is out of range", "from 1024"},
    {"log_level_unknown", "version = 1", "version = 1\ndaemon = { log_level = \"loud\" }", 2, 24,
     "`loud` is no value of `log_level`", "\"info\""},
    {"table_where_an_array_belongs", "[[link]]", "[link]", 37, 1, "array of tables", "[[link]]"},
};

class LoaderErrorTest : public testing::TestWithParam<test::Damage> {};

TEST_P(LoaderErrorTest, is_placed_and_explained) {
  test::expect_placed_and_explained(test::two_routers, GetParam());
}
INSTANTIATE_TEST_SUITE_P(each, LoaderErrorTest, testing::ValuesIn(cases), test::name_of);

TEST(LoaderTest, canary_jobs_name_ports_by_their_index) {
  std::string text(test::two_routers);
  constexpr std::string_view timeout = "timeout = \"1ms\"";
  text.replace(text.find(timeout), timeout.size(), R"(timeout = "adaptive"
job_quota = 100
port_quota = 200
partitions = 4
[[switch.canary.job]]
id = 4294967295
ports = ["b1", "h1"]
quota = 64
[[switch.canary.job]]
id = 0)");
  const Loaded loaded = parse_config(text, "good.toml");
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  const auto& canary = loaded->switches[0].config.protocols.get<canary::CanaryConfig>();
  EXPECT_FALSE(canary.timeout);
  EXPECT_EQ(canary.job_quota, 100u);
  EXPECT_EQ(canary.port_quota, 200u);
  EXPECT_EQ(canary.partitions, 4u);
  ASSERT_EQ(canary.jobs.size(), 2u);
  EXPECT_EQ(canary.jobs[0].job, 4294967295u);
  EXPECT_EQ(canary.jobs[0].ports, (std::vector<PortIndex>{2, 0}));
  EXPECT_EQ(canary.jobs[0].quota, 64u);
  EXPECT_TRUE(canary.jobs[1].ports.empty());
}

TEST(LoaderTest, timeouts_alone_are_bounded_more_closely) {
  const auto longest = [](std::string_view settings) {
    std::string text(test::two_routers);
    constexpr std::string_view timeout = "timeout = \"1ms\"";
    text.replace(text.find(timeout), timeout.size(), settings);
    return parse_config(text, "f")
        .value()
        .switches[0]
        .config.protocols.get<canary::CanaryConfig>()
        .timeout_max;
  };
  EXPECT_EQ(longest("learn_contributions = true"), 50ms);
  EXPECT_EQ(longest("learn_contributions = false"), 20ms);
  EXPECT_EQ(longest("timeout_max = \"70ms\"\nlearn_contributions = false"), 70ms);
  EXPECT_EQ(longest("timeout_min = \"30ms\"\nlearn_contributions = false"), 30ms);
}

TEST(LoaderTest, the_timeout_is_adaptive_unless_one_is_given) {
  std::string text(test::two_routers);
  EXPECT_EQ(
      parse_config(text, "f")->switches[0].config.protocols.get<canary::CanaryConfig>().timeout,
      1ms);
  constexpr std::string_view timeout = "timeout = \"1ms\"";
  text.erase(text.find(timeout), timeout.size());
  EXPECT_FALSE(
      parse_config(text, "f")->switches[0].config.protocols.get<canary::CanaryConfig>().timeout);
}

TEST(LoaderTest, bfd_is_off_unless_it_is_asked_for) {
  std::string text(test::two_routers);
  EXPECT_FALSE(parse_config(text, "f")->switches[0].config.bfd);
  text.replace(text.find("[switch.canary]"), 15, "[switch.bfd]\n[switch.canary]");
  auto loaded = parse_config(text, "f");
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  EXPECT_EQ(loaded->switches[0].config.bfd->interval, 100ms);
  EXPECT_EQ(loaded->switches[0].config.bfd->multiplier, 3u);
  text.replace(text.find("[switch.bfd]"), 12, "bfd = { interval = \"60s\", multiplier = 255 }");
  loaded = parse_config(text, "f");
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  EXPECT_EQ(loaded->switches[0].config.bfd->interval, 60s);
  EXPECT_EQ(loaded->switches[0].config.bfd->multiplier, 255u);
}

TEST(LoaderTest, a_good_file_fills_every_field) {
  const Loaded loaded = parse_config(test::two_routers, "good.toml");
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  ASSERT_EQ(loaded->switches.size(), 2u);
  const SwitchSection& leaf = loaded->switches[0];
  EXPECT_EQ(leaf.config.name, "leaf1");
  EXPECT_EQ(leaf.config.address, wire::Ipv4Address(10, 1, 255, 1));
  ASSERT_NE(leaf.config.protocols.find<canary::CanaryConfig>(), nullptr);
  EXPECT_EQ(leaf.config.protocols.get<canary::CanaryConfig>().timeout, 1ms);
  ASSERT_EQ(leaf.config.ports.size(), 3u);
  EXPECT_EQ(leaf.config.ports[1].queue.rate_bps, 200'000'000u);
  EXPECT_EQ(leaf.config.ports[1].queue.capacity_bytes, 1u << 20);
  EXPECT_FALSE(leaf.config.ports[2].address);
  ASSERT_EQ(leaf.devices.size(), 3u);
  EXPECT_EQ(to_string(leaf.devices[0]), "af_packet veth-h1");
  EXPECT_EQ(to_string(leaf.devices[1]), "link spine1:leaf1");
  EXPECT_EQ(to_string(loaded->switches[1].devices[0]), "link leaf1:up1");
  ASSERT_EQ(leaf.config.routes.size(), 1u);
  EXPECT_EQ(leaf.config.routes[0].via[0], wire::Ipv4Address(10, 100, 1, 2));
}

std::uint16_t queues_of_first(const std::string& device) {
  std::string text(test::two_routers);
  text.replace(text.find("interface = \"veth-h1\""), 21, device);
  const Loaded loaded = parse_config(text, "f");
  EXPECT_TRUE(loaded) << to_string(loaded.error());
  return loaded ? queues_of(loaded->switches[0].devices[0]) : 0;
}

TEST(LoaderTest, queues_are_one_unless_told_but_automatic_for_cards) {
  EXPECT_EQ(queues_of_first("interface = \"eth0\""), 1);
  EXPECT_EQ(queues_of_first("interface = \"eth0\"\nqueues = 3"), 3);
  EXPECT_EQ(queues_of_first("memif = \"/m\"\nqueues = \"auto\""), queues_automatic);
  EXPECT_EQ(queues_of_first("vhost = \"/v\""), 1);
  EXPECT_EQ(queues_of_first("virtio_user = \"/v\"\nqueues = 2"), 2);
  EXPECT_EQ(queues_of_first("pci = \"0000:01:00.0\""), queues_automatic);
  EXPECT_EQ(queues_of_first("pci = \"0000:01:00.0\"\nqueues = 2"), 2);
  EXPECT_EQ(queues_of_first("pcap = { rx = [\"0\", \"1\"] }"), 2);
  EXPECT_EQ(queues_of_first("pcap = { tx = \"0\" }"), 1);
}

TEST(LoaderTest, all_errors_come_at_once_and_in_order) {
  std::string text(test::two_routers);
  text.replace(text.find("id = 2"), 6, "id = 0");
  text.replace(text.find("200Mbit"), 7, "fast");
  text.replace(text.find("4096"), 4, "4095");
  const Loaded loaded = parse_config(text, "f");
  ASSERT_FALSE(loaded);
  ASSERT_EQ(loaded.error().size(), 3u) << to_string(loaded.error());
  EXPECT_EQ(loaded.error()[0].line, 7u);
  EXPECT_EQ(loaded.error()[1].line, 17u);
  EXPECT_EQ(loaded.error()[2].line, 33u);
}

TEST(LoaderTest, errors_read_like_those_of_a_compiler) {
  const ConfigError error{"a.toml", 3, 7, "wrong", "do right"};
  EXPECT_EQ(to_string(error), "a.toml:3:7: wrong (do right)");
  EXPECT_EQ(to_string(ConfigError{"a.toml", 0, 0, "No such file", ""}), "a.toml: No such file");
}

TEST(LoaderTest, cores_auto_is_no_list) {
  std::string text(test::two_routers);
  text.insert(12, "daemon = { cores = \"auto\" }\n");
  const Loaded loaded = parse_config(text, "f");
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  EXPECT_TRUE(loaded->cores.empty());
  EXPECT_FALSE(automatic_cores().empty());
}

TEST(LoaderTest, more_devices_than_the_daemon_can_drive_are_refused) {
  std::string text = "version = 1\n[[switch]]\nname = \"s\"\nid = 1\n";
  for (int i = 0; i < 33; ++i) {
    const std::string n = std::to_string(i);
    text += "[[switch.port]]\nname = \"p" + n + "\"\ntap = \"tap" + n + "\"\n";
  }
  const Loaded loaded = parse_config(text, "f");
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error()[0].message, "more than 32 ports with a device in one daemon");
  EXPECT_EQ(loaded.error()[0].line, 4u + 32 * 3 + 1);
}

TEST(LoaderTest, memif_and_vhost_do_not_share_a_socket) {
  const auto errors_of = [](const std::string& second) {
    const auto loaded = parse_config(
        "version = 1\n[[switch]]\nname = \"s\"\nid = 1\n"
        "[[switch.port]]\nname = \"a\"\nmemif = \"/run/x\"\n"
        "[[switch.port]]\nname = \"b\"\n" +
            second,
        "f");
    return loaded ? std::string() : loaded.error()[0].message;
  };
  EXPECT_EQ(errors_of("memif = \"/run/x\"\nmemif_id = 1\n"), "");
  EXPECT_EQ(errors_of("vhost = \"/run/x\"\n"), "socket /run/x is in use by memif");
}

TEST(LoaderTest, hostile_nesting_is_an_error) {
  const std::string prefix = "version = 1\n";
  const auto brackets = parse_config(prefix + "é = " + std::string(100000, '['), "f");
  ASSERT_FALSE(brackets);
  EXPECT_EQ(to_string(brackets.error()[0]),
            "f:2:37: brackets or dotted keys are nested too deep (write it flatter)");
  std::string dotted = prefix;
  for (int i = 0; i < 500000; ++i) {
    dotted += "a.";
  }
  EXPECT_FALSE(parse_config(dotted + "a = 1\n", "f"));
  EXPECT_FALSE(parse_config(prefix + "[" + dotted.substr(prefix.size()) + "a]\n", "f"));
}

TEST(LoaderTest, a_missing_file_or_a_directory_is_an_error) {
  const Loaded missing = load_config("/nonexistent/a.toml");
  ASSERT_FALSE(missing);
  EXPECT_EQ(to_string(missing.error()[0]), "/nonexistent/a.toml: No such file or directory");
  EXPECT_FALSE(load_config("/"));
}

TEST(LoaderTest, every_sample_loads) {
  int samples = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(TRIBUTARY_CONF)) {
    const std::string path = entry.path();
    if (entry.path().extension() != ".toml" || path.find("/labs/") != std::string::npos ||
        path.find("/fabrics/") != std::string::npos) {
      continue;  // read by tools/lab, and by tributaryctl fabric
    }
    const Loaded loaded = load_config(path);
    EXPECT_TRUE(loaded) << to_string(loaded.error());
    ++samples;
  }
  EXPECT_GE(samples, 5);
}

}  // namespace
}  // namespace tributary::control
