// SPDX-License-Identifier: BSD-3-Clause
// Tests tributaryctl as a program: its output and its exit status.
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "control/listener.h"
#include "control/protocol.h"
#include "ctl_fixture.h"
#include "protocols/engines.h"
#include "support/unload_handlers.h"
#include "tree_parts.h"

namespace tributary::control {
namespace {

using nlohmann::json;

constexpr const char* running =
    "version = 1\n[[switch]]\nname = \"leaf1\"\nid = 1\n[[switch.port]]\nname = \"h1\"\n"
    "interface = \"veth-h1\"\n";

TEST_F(CtlTest, every_view_exits_with_0_for_people_and_for_programs) {
  start();
  for (const char* command : {"status",
                              "switch",
                              "port",
                              "route",
                              "bfd",
                              "fdb",
                              "vlan",
                              "arp",
                              "route6",
                              "neighbour6",
                              "engine",
                              "job",
                              "tree",
                              "descriptor --limit 5",
                              "stalled",
                              "stalled --switch leaf1",
                              "handler list",
                              "drops",
                              "drops --all",
                              "counters",
                              "log-level",
                              "watch --count 1 --interval 0.05",
                              "port --switch leaf1",
                              "version"}) {
    const Ran people = run(command);
    EXPECT_EQ(people.code, 0) << command << "\n" << people.output;
    EXPECT_FALSE(people.output.empty()) << command;
    const Ran program = run(std::string("--json ") + command);
    EXPECT_EQ(program.code, 0) << command << "\n" << program.output;
    EXPECT_FALSE(json::parse(program.output, nullptr, false).is_discarded()) << program.output;
  }
}

TEST_F(CtlTest, tables_are_aligned) {
  start();
  EXPECT_EQ(run("arp").output,
            "SWITCH  ADDRESS   MAC                PORT  STATE        AGE\n"
            "leaf1   10.1.1.2  02:00:00:00:00:02  h1    reachable  3.0 s\n");
}

TEST_F(CtlTest, an_answer_that_cannot_be_written_is_no_success) {
  start();
  const Ran full = run("arp 2>&1 >/dev/full #");
  EXPECT_EQ(full.code, 1);
  EXPECT_THAT(full.output, HasSubstr("cannot write all of the answer"));
}

TEST_F(CtlTest, vlan_shows_the_interfaces_of_the_router) {
  start();
  EXPECT_EQ(run("vlan").output,
            "SWITCH  VLAN  INTERFACE  ADDRESS         ADDRESS6  ADVERTISED6  RX-PACKETS  RX-BYTES  "
            "TX-PACKETS  TX-BYTES\n"
            "leaf1     20  vlan20     10.0.20.254/24  -                   3           1       100  "
            "         2       200\n");
}

TEST_F(CtlTest, route_says_which_next_hops_give_blocks_up) {
  start();
  EXPECT_THAT(run("route").output,
              testing::HasSubstr("10.100.1.2 on h1 (keeps 25%), 10.100.1.2 on h2  "));
}

TEST_F(CtlTest, bfd_names_who_is_watched) {
  start();
  EXPECT_EQ(run("bfd").output,
            "SWITCH  NEIGHBOUR   PORT  IN-USE  STATE  REMOTE      INTERVAL  DETECTION  RECEIVED  "
            "SENT  FAILURES\n"
            "leaf1   10.100.1.2  h1    yes     up     admin-down  100.0 ms   300.0 ms         5  "
            "   6         1\n");
}

TEST_F(CtlTest, stalled_names_what_waits_and_for_whom) {
  start();
  EXPECT_EQ(run("stalled").output,
            "SWITCH  JOB  BLOCK  SPARSE  ATTEMPT  LEADER    WAITING  CONTRIBUTIONS  HOSTS  "
            "MISSING-RANKS  MISSING-PORTS\n"
            "leaf1     9     42  no            0  10.2.1.2    1.2 s              6      8  "
            "3,5            unknown\n");
  EXPECT_EQ(json::parse(run("-j stalled").output)[0]["missing_ranks"], json::parse("[3, 5]"));
  // Those of another switch, which wait longer, take nobody's place.
  backend_.stalls.push_back(backend_.stalls.front());
  backend_.stalls.back().switch_name = "other";
  backend_.stalls.back().stall.waiting *= 2;
  EXPECT_EQ(json::parse(run("-j stalled --switch leaf1 --limit 1").output).size(), 1u);
  EXPECT_EQ(run("stalled --switch leaf1 --limit 1").output.find("(1 of"), std::string::npos);
  backend_.stalls.clear();
  EXPECT_EQ(run("stalled --switch leaf1").output, "nothing is stalled\n");
  EXPECT_EQ(json::parse(run("-j stalled --switch leaf1").output), json::array());
}

TEST_F(CtlTest, a_switch_that_there_is_not_is_no_empty_list) {
  start();
  for (const std::string command :
       {"switch", "port", "route", "bfd", "fdb", "vlan", "arp", "route6", "neighbour6", "engine",
        "job", "descriptor", "stalled"}) {
    const Ran people = run(command + " --switch leaf9");
    EXPECT_EQ(people.code, 1) << command;
    EXPECT_EQ(people.output, "tributaryctl: no switch `leaf9`; there are leaf1\n") << command;
    const Ran program = run("-j " + command + " --switch leaf9");
    EXPECT_EQ(program.code, 1) << command;
    EXPECT_EQ(json::parse(program.output)["error"]["code"], "no_switch") << command;
  }
}

TEST_F(CtlTest, a_switch_without_rows_is_an_empty_list) {
  backend_.fdb_entries = 0;
  start();
  const Ran outcome = run("-j fdb --switch leaf1");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_EQ(json::parse(outcome.output), json::array());
}

TEST_F(CtlTest, an_unknown_command_has_a_neighbour) {
  for (const auto& [command, words] :
       {std::pair{"prot", "no command `prot`; did you mean `port`?"},
        {"config relaod f.toml", "no command `config relaod`; did you mean `config reload`?"},
        {"port upp s p", "no command `port upp`; did you mean `port up`?"},
        {"bogosity", "no command `bogosity`; there are status, counters, drops"},
        {"prot --switch leaf1", "no command `prot`; did you mean `port`?"},
        {"status now", "not expected: now"}}) {
    const Ran outcome = run(command);
    EXPECT_EQ(outcome.code, 2) << command;
    EXPECT_NE(outcome.output.find(words), std::string::npos) << outcome.output;
  }
}

TEST_F(CtlTest, stalled_tells_sparse_blocks_from_others) {
  backend_.stalls[0].stall.sparse = true;
  start();
  EXPECT_NE(run("stalled").output.find("  42  yes   "), std::string::npos);
  EXPECT_EQ(json::parse(run("-j stalled").output)[0]["sparse"], true);
}

TEST_F(CtlTest, stalled_does_not_guess_ranks) {
  backend_.stalls[0].stall.missing.clear();
  start();
  EXPECT_NE(run("stalled").output.find("8  unknown        unknown\n"), std::string::npos);
  EXPECT_TRUE(json::parse(run("-j stalled").output)[0]["missing_ranks"].is_null());
}

TEST_F(CtlTest, stalled_names_no_leader_where_there_is_none) {
  backend_.stalls[0].stall.leader = {};
  start();
  EXPECT_NE(run("stalled").output.find("  0  -         1.2 s  "), std::string::npos)
      << run("stalled").output;
  EXPECT_TRUE(json::parse(run("-j stalled").output)[0]["leader"].is_null());
}

TEST_F(CtlTest, stalled_names_ports_where_ranks_are_not_known) {
  backend_.stalls[0].stall.missing.clear();
  backend_.stalls[0].missing_ports = {"h3", "up1"};
  start();
  EXPECT_NE(run("stalled").output.find("8  unknown        h3,up1\n"), std::string::npos);
  EXPECT_EQ(json::parse(run("-j stalled").output)[0]["missing_ports"], json({"h3", "up1"}));
}

TEST_F(CtlTest, counters_show_the_identity) {
  start();
  const Ran outcome = run("counters");
  EXPECT_NE(outcome.output.find("received 10 = forwarded 6 + absorbed 3 + dropped 1"),
            std::string::npos)
      << outcome.output;
  EXPECT_EQ(json::parse(run("-j counters").output)["balanced"], true);
}

TEST_F(CtlTest, drops_hide_what_has_not_occurred) {
  start();
  EXPECT_EQ(json::parse(run("-j drops").output).size(), 3u);
  EXPECT_GT(json::parse(run("-j drops --all").output).size(), protocols::drop_reasons().size());
}

TEST_F(CtlTest, port_down_reaches_the_daemon) {
  start();
  EXPECT_EQ(run("port down leaf1 h1").code, 0);
  EXPECT_FALSE(backend_.port_up);
  EXPECT_EQ(run("port up leaf1 h1").code, 0);
  EXPECT_TRUE(backend_.port_up);
}

TEST_F(CtlTest, refusals_exit_with_1) {
  start();
  const Ran outcome = run("port down leaf1 nothing");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.output.find("no port `leaf1:nothing`"), std::string::npos) << outcome.output;
  EXPECT_EQ(json::parse(run("-j port down leaf1 nothing").output)["error"]["code"], "refused");
}

TEST_F(CtlTest, handlers_are_loaded_listed_and_unloaded) {
  const tributary::test::UnloadHandlers unload_handlers;
  start();
  EXPECT_EQ(run("handler list").output, "no handler is loaded\n");
  const std::string load = "handler load 7 --expression 'acc = min(acc + in, 127)' --type i8";
  const Ran loaded = run(load);
  EXPECT_EQ(loaded.code, 0) << loaded.output;
  EXPECT_NE(loaded.output.find("handler 7 is loaded: acc = min(acc + in, 127) over i8, mark 0x"),
            std::string::npos)
      << loaded.output;
  EXPECT_EQ(run(load).output, loaded.output) << "what is there is no error";
  const auto rows = json::parse(run("-j handler list").output);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["number"], 7);
  EXPECT_EQ(run("handler load 7 --expression acc=in --type i8").code, 1);
  EXPECT_EQ(run("handler load 8 sum.so").code, 1) << "there is no handler_directory";
  EXPECT_EQ(run("handler unload 7").code, 0);
  EXPECT_EQ(run("handler unload 7").code, 1);
}

TEST_F(CtlTest, usage_exits_with_2) {
  for (const char* command : {"",
                              "bogus",
                              "port up",
                              "log-level loud",
                              "config",
                              "config check",
                              "--timeout 0 status",
                              "--timeout nan status",
                              "watch --interval nan",
                              "fdb --limit 0",
                              "handler",
                              "handler load",
                              "tree remove leaf1 010",
                              "watch --count 08",
                              "handler load 64 sum.so",
                              "handler load -1 sum.so",
                              "handler load 7",
                              "handler load 7 sum.so --type i8",
                              "handler load 7 --expression acc=in",
                              "handler load 7 sum.so --expression acc=in --type i8",
                              "handler unload seven"}) {
    EXPECT_EQ(run(command).code, 2) << command;
  }
  EXPECT_EQ(json::parse(run("--json bogus").output)["error"]["code"], "usage");
  EXPECT_EQ(run("--help").code, 0);
}

TEST_F(CtlTest, no_daemon_exits_with_3) {
  EXPECT_EQ(run("status").code, 3);
  EXPECT_EQ(json::parse(run("-j status").output)["error"]["code"], "no_daemon");
}

TEST_F(CtlTest, denied_exits_with_4) {
  start();
  chmod(directory_.path().c_str(), 0755);
  chmod(options_.socket.c_str(), 0);
  // Root is never denied access, so the test runs the program as another user.
  const Ran outcome = geteuid() != 0
                          ? run("status")
                          : run("status", "setpriv --reuid=65534 --regid=65534 --clear-groups ");
  if (outcome.code == 126 || outcome.code == 127) {
    GTEST_SKIP() << "nobody cannot run the program: " << outcome.output;
  }
  EXPECT_EQ(outcome.code, 4) << outcome.output;
}

TEST_F(CtlTest, a_deaf_daemon_exits_with_5) {
  const auto listener = Listener::create(options_.socket, "");
  ASSERT_TRUE(listener) << listener.error();
  EXPECT_EQ(run("--timeout 0.1 status").code, 5);
}

TEST_F(CtlTest, config_check_needs_no_daemon) {
  const std::string good = file(running);
  const Ran one = run("config check " + good);
  EXPECT_EQ(one.code, 0);
  EXPECT_EQ(one.output, good + ": ok, 1 switch, 1 port\n");
  const std::string two =
      file(std::string(running) +
           "[[switch.port]]\nname = \"h2\"\ninterface = \"veth-h2\"\n"
           "[[switch]]\nname = \"leaf2\"\nid = 2\n[[switch.port]]\nname = \"h1\"\n"
           "interface = \"veth-h3\"\n");
  EXPECT_EQ(run("config check " + two).output, two + ": ok, 2 switches, 3 ports\n");
  const std::string path = file(std::string(running) + "mtuu = 5\n");
  const Ran wrong = run("config check " + path);
  EXPECT_EQ(wrong.code, 1);
  EXPECT_NE(wrong.output.find(path + ":8:1: unknown key `mtuu`"), std::string::npos)
      << wrong.output;
  EXPECT_EQ(json::parse(run("-j config check " + path).output)["error"]["details"][0]["line"], 8);
}

TEST_F(CtlTest, config_diff_and_reload_work_on_the_client_s_file) {
  start();
  const std::string path = file(std::string(running) + "rate = \"10Mbit\"\n");
  EXPECT_NE(run("config diff " + path).output.find("rate: unlimited -> 10Mbit"), std::string::npos);
  EXPECT_EQ(backend_.reloads, 0);
  EXPECT_EQ(run("config reload " + path).code, 0);
  EXPECT_EQ(backend_.reloads, 1);
  const Ran restart = run("config reload " + file(std::string(running) + "mtu = 9000\n"));
  EXPECT_EQ(restart.code, 1);
  EXPECT_NE(restart.output.find("needs a restart"), std::string::npos) << restart.output;
  EXPECT_EQ(backend_.reloads, 1);
}

TEST_F(CtlTest, config_diff_says_what_a_reload_takes) {
  start();
  const Ran none = run("config diff " + file(running));
  EXPECT_EQ(none.output, "no difference\n");
  const Ran taken = run("config diff " + file(std::string(running) + "rate = \"10Mbit\"\n"));
  EXPECT_EQ(taken.output,
            "~ switch leaf1 port h1 rate: unlimited -> 10Mbit  (can be reloaded)\n"
            "`tributaryctl config reload` puts it in force\n");
  const Ran refused =
      run("config diff " + file(std::string(running) + "mtu = 9000\nrate = \"10Mbit\"\n"));
  EXPECT_EQ(refused.code, 0);
  EXPECT_EQ(refused.output,
            "~ switch leaf1 port h1 mtu: 1500 -> 9000  (needs a restart)\n"
            "~ switch leaf1 port h1 rate: unlimited -> 10Mbit  (can be reloaded)\n"
            "`tributaryctl config reload` refuses all of it; restart the daemon\n");
}

TEST_F(CtlTest, config_diff_says_why_a_reload_refuses_what_could_change) {
  backend_.reload_refused = "the rings are too large";
  start();
  EXPECT_EQ(run("config diff " + file(std::string(running) + "rate = \"10Mbit\"\n")).output,
            "~ switch leaf1 port h1 rate: unlimited -> 10Mbit\n"
            "`tributaryctl config reload` refuses all of it: the rings are too large\n");
}

TEST_F(CtlTest, trees_are_listed_and_removed) {
  add_panama(backend_.running);
  backend_.installed = {{"leaf1", {part_of(7, 0), part_of(8, 1)}}};
  engine::TreeStatus state;
  state.job = 7;
  state.figures = {{"wnd_cap_packets", 6},
                   {"granted_packets", 8},
                   {"held_packets", 3},
                   {"results_total", 90},
                   {"over_cap_total", 1}};
  backend_.states = {{"leaf1", state, std::chrono::seconds(40), "panama"}};
  start();
  EXPECT_EQ(run("tree").output,
            "SWITCH  ENGINE  JOB  TREE  GROUP        CHILDREN  PARENT  WORKERS-BELOW  WORKERS  "
            "QUORUM  ORIGIN      ACTIVE    IDLE  CAP  GRANTED  HELD  RESULTS  OVER-CAP\n"
            "leaf1   panama    7     0  239.192.0.1  h1,h2     up1                 2        4  "
            "     4  controller  no      40.0 s    6        8     3       90         1\n"
            "leaf1   panama    8     1  239.192.0.2  h1,h2     up1                 2        4  "
            "     4  controller  -            -    -        -     -        -         -\n");
  EXPECT_EQ(run("tree remove leaf1 7").code, 0);
  EXPECT_EQ(backend_.installed, (RuntimeTrees{{"leaf1", {part_of(8, 1)}}}));
  EXPECT_EQ(run("tree remove leaf9 7").code, 1);
  const Ran unknown = run("tree remove leaf1 99");
  EXPECT_EQ(unknown.code, 1);
  EXPECT_EQ(unknown.output,
            "tributaryctl: switch leaf1 has no installed trees of job 99; it has those of 8\n");
}

TEST_F(CtlTest, trees_in_use_are_removed_by_force_only) {
  add_panama(backend_.running);
  backend_.installed = {{"leaf1", {part_of(7, 0), part_of(7, 1), part_of(8, 2)}}};
  engine::TreeStatus used;
  used.job = 7;
  used.tree = 1;
  used.active = true;
  backend_.states = {{"leaf1", used, std::chrono::milliseconds(20), "panama"}};
  start();
  const Ran refused = run("tree remove leaf1 7");
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(refused.output,
            "tributaryctl: trees are in use, and nothing was removed: job 7 (tree 1; last packet "
            "20.0 ms ago); end the workers and wait 10 s, or pass --force\n");
  EXPECT_EQ(backend_.tree_changes, 0);
  EXPECT_EQ(run("tree remove leaf1 8").code, 0);
  EXPECT_EQ(run("tree remove --force leaf1 7").code, 0);
  EXPECT_TRUE(backend_.installed.empty());
}

TEST_F(CtlTest, the_root_of_a_tree_has_no_parent) {
  add_panama(backend_.running);
  backend_.installed = {{"leaf1", {part_of(7, 0)}}};
  backend_.installed["leaf1"][0].parent.reset();
  start();
  EXPECT_THAT(run("tree").output, testing::HasSubstr("h1,h2     (root) "));
}

TEST_F(CtlTest, relay_hands_over_requests_and_replies) {
  start();
  const std::string request = framed(request_text({5, "log.set", {{"level", "off"}}}));
  std::ofstream(directory_ / "request", std::ios::binary) << request;
  // The input stays open until the reply has come, as with ssh.
  const Ran outcome = run("relay", "(cat " + directory_ / "request" + "; sleep 0.3) | ");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_EQ(outcome.output, framed(reply_text(5, json{{"level", "off"}})));
}

TEST_F(CtlTest, shutdown_reaches_the_daemon) {
  start();
  EXPECT_EQ(run("shutdown").code, 0);
  EXPECT_EQ(backend_.shutdowns, 1);
}

TEST_F(CtlTest, doctor_needs_no_daemon) {
  const json findings = json::parse(run("-j doctor").output);
  EXPECT_GE(findings.size(), 8u);
  for (const json& finding : findings) {
    EXPECT_EQ(finding["remedy"].is_null(), finding["verdict"] == "ok") << finding.dump();
  }
}

}  // namespace
}  // namespace tributary::control
