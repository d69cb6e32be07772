// SPDX-License-Identifier: BSD-3-Clause
#include "control/dispatcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include "control/protocol.h"
#include "fake_backend.h"
#include "support/unload_handlers.h"

namespace tributary::control {
namespace {

using nlohmann::json;

constexpr std::string_view running_switch = R"(version = 1
[[switch]]
name = "leaf1"
id = 1
[[switch.port]]
name = "h1"
interface = "veth-h1"
)";

class DispatcherTest : public testing::Test {
 protected:
  tl::expected<json, Failure> call(const std::string& method, json params = json::object()) {
    return parse_reply(dispatch(request_text({1, method, std::move(params)}), backend_), 1);
  }
  ErrorCode error(const std::string& method, json params = json::object()) {
    const auto result = call(method, std::move(params));
    EXPECT_FALSE(result) << method;
    return result ? ErrorCode::internal : result.error().code;
  }

  FakeBackend backend_;
};

TEST_F(DispatcherTest, every_list_has_rows) {
  for (const char* method :
       {"switch.list", "port.list", "route.list", "bfd.list", "fdb.list", "vlan.list", "arp.list",
        "route6.list", "neighbour6.list", "engine.list", "job.list", "descriptor.list",
        "stalled.list", "counter.list"}) {
    const auto result = call(method);
    ASSERT_TRUE(result) << method << ": " << result.error().message;
    EXPECT_EQ((*result)["rows"].size(), 1u) << method;
    EXPECT_EQ((*result)["rows"][0]["switch"], "leaf1") << method;
    EXPECT_EQ((*result)["rows_total"], 1) << method;
  }
}

TEST_F(DispatcherTest, without_an_answer_of_all_cores_there_is_none) {
  backend_.core_late = "the packet core on CPU 3 did not answer";
  for (const char* method :
       {"daemon.status", "switch.list", "port.list", "route.list", "bfd.list", "fdb.list",
        "vlan.list", "arp.list", "engine.list", "job.list", "descriptor.list", "stalled.list",
        "tree.list", "drop.list", "counter.list"}) {
    const auto result = call(method);
    ASSERT_FALSE(result) << method;
    EXPECT_EQ(result.error().code, ErrorCode::late) << method;
    EXPECT_EQ(result.error().message, backend_.core_late) << method;
  }
}

TEST_F(DispatcherTest, a_patient_client_has_late_cores_waited_for) {
  using namespace std::chrono_literals;
  const auto patience_for = [&](std::chrono::milliseconds timeout) {
    dispatch(request_text({1, "daemon.status", json::object(), timeout}), backend_);
    EXPECT_EQ(backend_.core_patience, core_patience_default) << "between requests";
    return backend_.core_patience_of_status;
  };
  EXPECT_EQ(patience_for(0ms), core_patience_default) << "a client that does not say";
  EXPECT_EQ(patience_for(5s), core_patience_default);
  EXPECT_EQ(patience_for(180s), 45s);
  EXPECT_EQ(patience_for(24h), 60s) << "others wait as well";
}

TEST_F(DispatcherTest, rows_carry_base_units_in_their_names) {
  const auto port = (*call("port.list"))["rows"][0];
  EXPECT_EQ(port["counters"]["rx_packets_total"], 10);
  EXPECT_EQ(port["counters"]["paused_seconds_total"], 1.5);
  EXPECT_EQ(port["address"], "10.1.1.1/24");
  const auto descriptor = (*call("descriptor.list"))["rows"][0];
  EXPECT_DOUBLE_EQ(descriptor["age_seconds"], 0.002);
  EXPECT_EQ(descriptor["leader"], "10.2.1.2");
  EXPECT_EQ(descriptor["sparse"], false);
}

TEST_F(DispatcherTest, bfd_rows_say_who_is_watched_and_how) {
  EXPECT_EQ((*call("bfd.list"))["rows"][0],
            json::parse(R"({"switch": "leaf1", "port": "h1", "neighbour": "10.100.1.2",
                            "alive": true, "state": "up", "remote_state": "admin-down",
                            "diagnostic": 7, "discriminator": 11, "remote_discriminator": 22,
                            "transmit_interval_seconds": 0.1, "detection_time_seconds": 0.3,
                            "received_packets_total": 5, "sent_packets_total": 6,
                            "failures_total": 1})"));
}

TEST_F(DispatcherTest, limit_bounds_the_rows_and_total_says_how_many_there_are) {
  backend_.fdb_entries = 50;
  const auto result = call("fdb.list", {{"limit", 7}});
  EXPECT_EQ((*result)["rows"].size(), 7u);
  EXPECT_EQ((*result)["rows_total"], 50);
  EXPECT_TRUE(call("descriptor.list", {{"limit", 3}}));
  EXPECT_EQ(backend_.descriptor_limit, 3u);
  EXPECT_EQ(error("fdb.list", {{"limit", 0}}), ErrorCode::invalid_params);
  EXPECT_EQ(error("fdb.list", {{"limit", 10001}}), ErrorCode::invalid_params);
  EXPECT_EQ(error("fdb.list", {{"limit", "7"}}), ErrorCode::invalid_params);
}

TEST_F(DispatcherTest, interfaces_of_vlans_say_what_was_routed) {
  const auto row = (*call("vlan.list"))["rows"][0];
  EXPECT_EQ(row["vlan"], 20);
  EXPECT_EQ(row["interface"], "vlan20");
  EXPECT_EQ(row["address"], "10.0.20.254/24");
  EXPECT_TRUE(row["address6"].is_null());
  EXPECT_EQ(row["advertise6"]["advertisements_total"], 3);
  EXPECT_EQ(row["advertise6"]["solicitations_total"], 4);
  EXPECT_TRUE((*call("port.list"))["rows"][0]["advertise6"].is_null());
  EXPECT_EQ(row["rx_packets_total"], 1);
  EXPECT_EQ(row["rx_bytes_total"], 100);
  EXPECT_EQ(row["tx_packets_total"], 2);
  EXPECT_EQ(row["tx_bytes_total"], 200);
}

TEST_F(DispatcherTest, routes_say_how_many_blocks_their_next_hops_keep) {
  const auto hops = (*call("route.list"))["rows"][0]["next_hops"];
  EXPECT_EQ(hops[0]["share"], 0.25);
  EXPECT_EQ(hops[1]["share"], 1.0);
}

TEST_F(DispatcherTest, ipv6_has_lists_of_its_own) {
  const auto route = (*call("route6.list"))["rows"][0];
  EXPECT_EQ(route["prefix"], "::/0");
  EXPECT_EQ(route["next_hops"][0]["address"], "2001:db8:1::2");
  EXPECT_EQ(route["next_hops"][0]["share"], 1.0);
  EXPECT_EQ(route["selection"]["reduction"], "adaptive");
  const auto neighbour = (*call("neighbour6.list"))["rows"][0];
  EXPECT_EQ(neighbour["address"], "2001:db8:1::2");
  EXPECT_EQ(neighbour["state"], "reachable");
}

TEST_F(DispatcherTest, ports_and_stations_are_in_vlans_or_in_none) {
  auto port = (*call("port.list"))["rows"][0];
  EXPECT_TRUE(port["vlan"].is_null());
  EXPECT_TRUE(port["vlans"].is_null());
  EXPECT_TRUE((*call("fdb.list"))["rows"][0]["vlan"].is_null());
  auto& vlan = backend_.running.switches[0].config.ports[0].vlan;
  vlan.untagged = 10;
  vlan.tagged.ranges = {{20, 20}, {30, 39}};
  backend_.fdb_vlan = 20;
  port = (*call("port.list"))["rows"][0];
  EXPECT_EQ(port["vlan"], 10);
  EXPECT_EQ(port["vlans"], "20,30-39");
  EXPECT_EQ((*call("fdb.list"))["rows"][0]["vlan"], 20);
}

TEST_F(DispatcherTest, a_job_without_a_timeout_has_none) {
  backend_.job_rows = {{"leaf1", "canary", {9}}, {"leaf1", "panama", {7}}};
  backend_.job_rows[0].job.timeout = std::chrono::microseconds(400);
  const auto rows = (*call("job.list"))["rows"];
  EXPECT_EQ(rows[0]["timeout_seconds"], 0.0004);
  EXPECT_TRUE(rows[1]["timeout_seconds"].is_null());
}

TEST_F(DispatcherTest, stalled_names_block_and_ranks_and_the_known_come_first) {
  backend_.stalls = {FakeBackend::stall(1, {}, std::chrono::seconds(9)),
                     FakeBackend::stall(2, {3}, std::chrono::seconds(1)),
                     FakeBackend::stall(3, {3, 5}, std::chrono::seconds(2))};
  const auto result = *call("stalled.list");
  ASSERT_EQ(result["rows"].size(), 3u);
  EXPECT_EQ(result["rows"][0],
            json::parse(R"({"switch": "leaf1", "engine": "canary", "job": 9, "block": 3,
                            "sparse": false, "attempt": 0, "leader": "10.2.1.2", "waiting_seconds": 2.0,
                            "contributions": 6, "hosts": 8, "missing_ranks": [3, 5],
                            "missing_ports": null})"));
  EXPECT_EQ(result["rows"][1]["block"], 2);
  EXPECT_EQ(result["rows"][2]["block"], 1);
  EXPECT_TRUE(result["rows"][2]["missing_ranks"].is_null());
  const auto cut = *call("stalled.list", {{"limit", 2}});
  EXPECT_EQ(cut["rows"].size(), 2u);
  EXPECT_EQ(cut["rows_total"], 3) << "there are more";
  EXPECT_EQ(error("stalled.list", {{"limit", 0}}), ErrorCode::invalid_params);
  EXPECT_EQ(error("stalled.list", {{"job", 9}}), ErrorCode::invalid_params);
}

TEST_F(DispatcherTest, counters_show_the_identity) {
  const auto result = *call("counter.list");
  const json& row = result["rows"][0];
  EXPECT_EQ(row["received_packets_total"], 10);
  EXPECT_EQ(row["dropped_packets_total"], 1);
  EXPECT_EQ(row["balanced"], true);
  EXPECT_EQ(result["all"]["balanced"], true);
}

TEST_F(DispatcherTest, drops_cover_switches_ports_and_cores) {
  const auto result = *call("drop.list");
  std::map<std::string, std::uint64_t> found;
  for (const json& row : result["rows"]) {
    if (row["packets_total"] != 0) {
      found[row.value("scope", "") + " " + row.value("reason", "")] = row["packets_total"];
    }
  }
  EXPECT_EQ(found,
            (std::map<std::string, std::uint64_t>{
                {"received no_route", 1}, {"port queue_tail", 5}, {"core handover_full", 2}}));
}

TEST_F(DispatcherTest, seed_set_gives_a_seed_where_the_file_has_none) {
  EXPECT_EQ((*call("switch.list"))["rows"][0]["reduction_seed"], 0);
  ASSERT_TRUE(call("seed.set", {{"switch", "leaf1"}, {"reduction_seed", 3}}));
  EXPECT_EQ((*call("switch.list"))["rows"][0]["reduction_seed"], 3);
  ASSERT_TRUE(call("seed.set", {{"switch", "leaf1"}, {"reduction_seed", 3}}));
  EXPECT_EQ(backend_.seed_changes, 1) << "the same again is no change";
  constexpr std::uint64_t large = 6364136223846793005;  // as the file takes it
  ASSERT_TRUE(call("seed.set", {{"switch", "leaf1"}, {"reduction_seed", large}}));
  EXPECT_EQ((*call("switch.list"))["rows"][0]["reduction_seed"], large);
  EXPECT_FALSE(call("seed.set", {{"switch", "leaf1"}, {"reduction_seed", large * 2}}));
  ASSERT_TRUE(call("seed.set", {{"switch", "leaf1"}, {"reduction_seed", 0}}));
  EXPECT_TRUE(backend_.given_seeds.empty());
  EXPECT_EQ(error("seed.set", {{"switch", "leaf9"}, {"reduction_seed", 3}}), ErrorCode::refused);
  EXPECT_EQ(error("seed.set", {{"switch", "leaf1"}, {"reduction_seed", -3}}),
            ErrorCode::invalid_params);
  backend_.running.switches[0].config.selection.reduction_seed = 7;
  EXPECT_EQ(error("seed.set", {{"switch", "leaf1"}, {"reduction_seed", 3}}), ErrorCode::refused);
  EXPECT_EQ((*call("switch.list"))["rows"][0]["reduction_seed"], 7);
}

TEST_F(DispatcherTest, port_set_changes_a_port_or_says_why_not) {
  EXPECT_TRUE(call("port.set", {{"switch", "leaf1"}, {"port", "h1"}, {"up", false}}));
  EXPECT_FALSE(backend_.port_up);
  EXPECT_EQ(error("port.set", {{"switch", "leaf1"}, {"port", "x"}, {"up", true}}),
            ErrorCode::refused);
  EXPECT_EQ(error("port.set", {{"switch", "leaf1"}, {"port", "h1"}, {"up", 1}}),
            ErrorCode::invalid_params);
  EXPECT_EQ(error("port.set", {{"port", "h1"}, {"up", true}}), ErrorCode::invalid_params);
  EXPECT_FALSE(backend_.port_up);
}

TEST_F(DispatcherTest, port_set_is_late_where_a_core_does_not_know_it_yet) {
  backend_.core_late = "the packet core on CPU 3 did not answer";
  EXPECT_EQ(error("port.set", {{"switch", "leaf1"}, {"port", "h1"}, {"up", false}}),
            ErrorCode::late);
  EXPECT_FALSE(backend_.port_up);
  EXPECT_EQ(error("port.set", {{"switch", "leaf1"}, {"port", "x"}, {"up", false}}),
            ErrorCode::refused);
}

TEST_F(DispatcherTest, unknown_parameters_change_nothing) {
  EXPECT_EQ(error("daemon.shutdown", {{"force", true}}), ErrorCode::invalid_params);
  EXPECT_EQ(backend_.shutdowns, 0);
  EXPECT_TRUE(call("daemon.shutdown"));
  EXPECT_EQ(backend_.shutdowns, 1);
}

TEST_F(DispatcherTest, unknown_methods_get_a_guess) {
  const auto result = call("port.lst");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::unknown_method);
  EXPECT_NE(result.error().message.find("did you mean `port.list`?"), std::string::npos);
}

TEST_F(DispatcherTest, log_set_sets_the_level) {
  const auto before = spdlog::get_level();
  EXPECT_TRUE(call("log.set", {{"level", "error"}}));
  EXPECT_EQ(spdlog::get_level(), spdlog::level::err);
  EXPECT_EQ((*call("daemon.status"))["log_level"], "error");
  EXPECT_EQ(error("log.set", {{"level", "loud"}}), ErrorCode::invalid_params);
  EXPECT_THAT(call("log.set", {{"level", "loud"}}).error().message,
              testing::HasSubstr("trace, debug, info, warning, error, critical, off"));
  EXPECT_EQ(spdlog::get_level(), spdlog::level::err);
  spdlog::set_level(before);
}

TEST_F(DispatcherTest, config_diff_lists_changes_and_changes_nothing) {
  const std::string text = std::string(running_switch) + "rate = \"10Mbit\"\n";
  const auto result = call("config.diff", {{"name", "f"}, {"text", text}});
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ((*result)["changes"].size(), 1u);
  EXPECT_EQ((*result)["changes"][0]["line"], "~ switch leaf1 port h1 rate: unlimited -> 10Mbit");
  EXPECT_EQ((*result)["needs_restart"], false);
  EXPECT_TRUE((*result)["refused"].is_null());
  EXPECT_EQ(backend_.reloads, 0);
}

TEST_F(DispatcherTest, config_reload_puts_what_can_change_in_force) {
  const std::string text = std::string(running_switch) + "rate = \"10Mbit\"\n";
  EXPECT_TRUE(call("config.reload", {{"name", "f"}, {"text", text}}));
  EXPECT_EQ(backend_.reloads, 1);
  EXPECT_EQ(backend_.running.switches[0].config.ports[0].queue.rate_bps, 10'000'000u);
}

TEST_F(DispatcherTest, config_reload_says_which_cores_are_late) {
  const json params = {{"name", "f"}, {"text", std::string(running_switch)}};
  EXPECT_EQ((*call("config.reload", params))["late_cpus"], json::array());
  backend_.late_cpus = {3, 5};
  EXPECT_EQ((*call("config.reload", params))["late_cpus"], json({3, 5}));
}

TEST_F(DispatcherTest, config_reload_refuses_what_needs_a_restart) {
  const std::string text = std::string(running_switch) + "mtu = 9000\n";
  const auto result = call("config.reload", {{"name", "f"}, {"text", text}});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::refused);
  EXPECT_EQ(result.error().details["changes"][0]["setting"], "switch leaf1 port h1 mtu");
  EXPECT_EQ(backend_.reloads, 0);
}

// Of a shared object the file has the name alone; and what was unloaded by hand it has unchanged.
TEST_F(DispatcherTest, config_diff_tells_which_handlers_a_reload_loads) {
  const tributary::test::UnloadHandlers unload_handlers;
  const json params = {
      {"name", "f"},
      {"text", std::string(running_switch) + "[[handler]]\nnumber = 7\ntype = \"i8\"\n"
                                             "expression = \"acc = min(acc + in, 127)\"\n"}};
  const auto lines = [&] {
    const auto difference = call("config.diff", params);
    return (*difference)["changes"];
  };
  EXPECT_EQ(lines().size(), 1u) << "the text says it";
  ASSERT_TRUE(call("config.reload", params));
  ASSERT_EQ(lines().size(), 1u);
  EXPECT_EQ(std::string(lines()[0]["line"]).substr(0, 15), "+ handler 7: 0x");
  ASSERT_TRUE(backend_.loader.apply(backend_.running.handlers));
  EXPECT_TRUE(lines().empty());
}

TEST_F(DispatcherTest, config_diff_and_reload_refuse_the_same) {
  backend_.reload_refused = "the rings are too large";
  const json params = {{"name", "f"},
                       {"text", std::string(running_switch) + "rate = \"10Mbit\"\n"}};
  const auto difference = call("config.diff", params);
  ASSERT_TRUE(difference);
  EXPECT_EQ((*difference)["refused"], "the rings are too large");
  const auto reloaded = call("config.reload", params);
  ASSERT_FALSE(reloaded);
  EXPECT_EQ(reloaded.error().code, ErrorCode::refused);
  EXPECT_EQ(reloaded.error().message, "the rings are too large");
  EXPECT_EQ(backend_.reloads, 0);
}

TEST_F(DispatcherTest, config_reload_of_a_wrong_file_names_line_and_column) {
  const auto result = call("config.reload", {{"name", "f.toml"}, {"text", "version = 1\nx = 1"}});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::configuration);
  EXPECT_EQ(result.error().details[1]["file"], "f.toml");
  EXPECT_EQ(result.error().details[1]["line"], 2);
  EXPECT_EQ(backend_.reloads, 0);
}

TEST_F(DispatcherTest, names_that_are_not_utf8_do_not_break_the_reply) {
  backend_.running.log_level = "info";
  const auto result =
      parse_json(dispatch("{\"version\":1,\"id\":1,\"method\":\"\\ud800\"}", backend_));
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->contains("error"));
}

}  // namespace
}  // namespace tributary::control
