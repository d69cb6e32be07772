// SPDX-License-Identifier: BSD-3-Clause
// Tests the program `tributaryctl fabric` with one switch.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "ctl_fixture.h"
#include "protocols/flare/engine/config.h"
#include "protocols/panama/engine/config.h"
#include "tree_parts.h"

namespace tributary::control {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

class FabricCtlTest : public CtlTest {
 protected:
  FabricCtlTest() { add_panama(backend_.running); }

  std::string fabric(const std::string& more = "", const std::string& point = "") const {
    return file("version = 1\n[[switch]]\nname = \"leaf1\"\ncontrol = \"" + options_.socket +
                "\"\n" + point +
                "[[host]]\nname = \"a\"\nport = \"leaf1:h1\"\n"
                "[[host]]\nname = \"b\"\nport = \"leaf1:h2\"\n"
                "[[job]]\nid = 7\nhosts = [\"b\", \"a\"]\n" +
                more);
  }
  RuntimeTrees placed() const {
    return {
        {"leaf1",
         {{7, 0, wire::Ipv4Address(239, 192, 0, 1), {"h2", "h1"}, {}, 2, 2, 2, {}, {}, "panama"}}}};
  }
};

TEST_F(FabricCtlTest, plan_changes_nothing) {
  start();
  const Ran plan = run("fabric plan " + fabric());
  EXPECT_EQ(plan.code, 0) << plan.output;
  EXPECT_EQ(plan.output,
            "JOB  TREE  GROUP        SWITCH  CHILDREN  PARENT  WORKERS-BELOW  QUORUM\n"
            "  7     0  239.192.0.1  leaf1   h2,h1     (root)              2  2 of 2\n"
            "`tributaryctl fabric apply` changes leaf1\n");
  EXPECT_EQ(backend_.tree_changes, 0);
  const json program = json::parse(run("-j fabric plan " + fabric()).output);
  EXPECT_EQ(program["jobs"][0]["trees"][0]["root"], "leaf1");
  EXPECT_EQ(program["jobs"][0]["environment"]["TRIBUTARY_TREES"], "239.192.0.1");
  EXPECT_EQ(program["changes"][0]["switch"], "leaf1");
}

TEST_F(FabricCtlTest, apply_twice_changes_once) {
  start();
  const Ran first = run("fabric apply --env " + directory_ / "env" + " " + fabric());
  EXPECT_EQ(first.code, 0) << first.output;
  EXPECT_EQ(first.output,
            "tributaryctl: made the directory " + directory_ / "env" + "\n" +
                "changed: leaf1\n"
                "job 7: TRIBUTARY_ALGORITHM=panama TRIBUTARY_JOB=7 TRIBUTARY_TREES=239.192.0.1\n");
  EXPECT_EQ(backend_.installed, placed());
  const Ran second = run("fabric apply " + fabric());
  EXPECT_THAT(second.output, HasSubstr("nothing to change"));
  EXPECT_EQ(backend_.tree_changes, 1);
  std::stringstream env;
  env << std::ifstream(directory_ / "env/job-7.env").rdbuf();
  EXPECT_EQ(env.str(),
            "TRIBUTARY_ALGORITHM=panama\nTRIBUTARY_JOB=7\nTRIBUTARY_TREES=239.192.0.1\n");
}

TEST_F(FabricCtlTest, watch_brings_about_what_the_file_asks_for) {
  start();
  const Ran watched = run("fabric watch --count 3 --interval 0.05 " + fabric());
  EXPECT_EQ(watched.code, 0) << watched.output;
  EXPECT_EQ(watched.output, "changed: leaf1\nthe switches have what the file asks for\n");
  EXPECT_EQ(backend_.installed, placed());
  EXPECT_EQ(backend_.tree_changes, 1);
}

TEST_F(FabricCtlTest, watch_writes_what_workers_set_when_that_changes) {
  start();
  const std::string env = directory_ / "env";
  const auto written = [&] {
    std::stringstream text;
    text << std::ifstream(env + "/job-7.env").rdbuf();
    return text.str();
  };
  const std::string watch = "fabric watch --env " + env + " --count 2 --interval 0.05 ";
  EXPECT_EQ(run(watch + fabric()).code, 0);
  EXPECT_EQ(written(),
            "TRIBUTARY_ALGORITHM=panama\nTRIBUTARY_JOB=7\nTRIBUTARY_TREES=239.192.0.1\n");
  EXPECT_EQ(run(watch + fabric("share = 0.5\n")).code, 0);
  EXPECT_THAT(written(), HasSubstr("TRIBUTARY_SHARE=0.5\n"));
}

TEST_F(FabricCtlTest, watch_writes_what_workers_set_when_an_ended_job_comes_back) {
  start();
  const auto comes_true = [](const auto& condition) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    bool is_true = condition();
    for (; !is_true && std::chrono::steady_clock::now() < until; is_true = condition()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return is_true;
  };
  const std::string job = "[[job]]\nid = 8\nhosts = [\"a\", \"b\"]\n";
  const std::string path = fabric(job);
  const std::string all = directory_ / "all.toml";
  std::filesystem::copy_file(path, all);
  const std::string environment = directory_ / "env/job-8.env";
  const auto is_written = [&] { return std::filesystem::exists(environment); };
  const std::string stop = directory_ / "stop";
  std::jthread watch([&] {
    run("fabric watch --interval 0.05 --env " + directory_ / "env" + " " + path +
        " & watch=$!; until [ -e " + stop + " ]; do sleep 0.05; done; kill $watch; true");
  });
  EXPECT_TRUE(comes_true(is_written));
  fabric();
  EXPECT_TRUE(comes_true(
      [&] { return run("fabric show " + all).output.find("missing") != std::string::npos; }));
  EXPECT_TRUE(is_written()) << "the file of an ended job stays";
  std::filesystem::remove(environment);
  fabric(job);
  EXPECT_TRUE(comes_true(is_written));
  std::ofstream(stop) << "";
}

TEST_F(FabricCtlTest, watch_of_a_job_that_is_refused_writes_nothing_for_it) {
  start();
  const std::string env = directory_ / "env";
  run("fabric watch --env " + env + " --count 2 --interval 0.05 " + fabric("trees = 2\n"));
  EXPECT_FALSE(std::filesystem::exists(env + "/job-7.env"));
}

TEST_F(FabricCtlTest, watch_says_what_it_cannot_do_once) {
  start();
  const std::string path = fabric("trees = 2\n");
  const Ran watched = run("fabric watch --count 3 --interval 0.05 " + path);
  EXPECT_EQ(watched.code, 1);
  EXPECT_EQ(watched.output, path +
                                ":12:6: job 7: 2 trees, but only 1 disjoint root: leaf1 (at "
                                "most trees = 1)\n");
}

TEST_F(FabricCtlTest, watch_does_what_it_can_beside_a_job_that_a_switch_refuses) {
  backend_.running.switches[0].config.protocols.get<panama::PanamaConfig>().trees.push_back(
      {{8, wire::Ipv4Address(239, 1, 1, 1), {0, 1}, 2, 4, 2}, 0, 4});
  start();
  const Ran watched = run("fabric watch --count 5 --interval 0.05 " +
                          fabric("[[job]]\nid = 8\nhosts = [\"a\", \"b\"]\n"));
  EXPECT_EQ(watched.code, 1);
  const std::string why = "the job is in the configuration file";
  EXPECT_THAT(watched.output, HasSubstr("changed: leaf1"));
  const auto first = watched.output.find(why);
  const auto second = watched.output.find(why, first + 1);
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(watched.output.find(why, second + 1), std::string::npos) << watched.output;
  ASSERT_EQ(backend_.installed["leaf1"].size(), 1u);
  EXPECT_EQ(backend_.installed["leaf1"][0].job, 7u);
}

TEST_F(FabricCtlTest, an_environment_needs_a_directory_that_can_be) {
  start();
  const std::string path = fabric();
  const Ran refused = run("fabric apply --env " + path + "/env " + path);
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.output, HasSubstr("the trees are installed, but cannot make the directory"));
  EXPECT_THAT(refused.output, HasSubstr("/env: Not a directory"));
}

TEST_F(FabricCtlTest, a_full_disk_leaves_the_old_environment) {
  start();
  EXPECT_EQ(run("fabric apply --env " + directory_ / "env " + fabric()).code, 0);
  const std::string fresh = directory_ / "env/job-7.env.new";
  std::filesystem::create_symlink("/dev/full", fresh);
  const Ran full = run("fabric apply --env " + directory_ / "env " + fabric("share = 0.5\n"));
  EXPECT_EQ(full.code, 1);
  EXPECT_THAT(full.output, HasSubstr("the trees are installed, but"));
  EXPECT_THAT(full.output, HasSubstr("job-7.env: No space left on device"));
  std::stringstream env;
  env << std::ifstream(directory_ / "env/job-7.env").rdbuf();
  EXPECT_THAT(env.str(), HasSubstr("TRIBUTARY_TREES=239.192.0.1\n"));
  EXPECT_FALSE(std::filesystem::is_symlink(fresh));
}

TEST_F(FabricCtlTest, a_changed_job_is_replaced_and_others_are_left_alone) {
  backend_.installed = {{"leaf1", {part_of(9, 0)}}};
  start();
  EXPECT_EQ(run("fabric apply " + fabric()).code, 0);
  const Ran second = run("fabric apply " + fabric("share = 0.5\n"));
  EXPECT_THAT(second.output, HasSubstr("TRIBUTARY_TREES=239.192.0.2 TRIBUTARY_SHARE=0.5"));
  ASSERT_EQ(backend_.installed["leaf1"].size(), 2u);
  EXPECT_EQ(backend_.installed["leaf1"][0].quorum, 1);
  EXPECT_EQ(backend_.installed["leaf1"][1], part_of(9, 0));
}

TEST_F(FabricCtlTest, hosts_are_told_the_share_that_switches_were_placed_with) {
  start();
  const Ran applied = run("fabric apply " + fabric("share = 0.4999999\n"));
  EXPECT_THAT(applied.output, HasSubstr("TRIBUTARY_SHARE=0.4999999\n"));
  EXPECT_EQ(backend_.installed["leaf1"][0].quorum, 1);
}

TEST_F(FabricCtlTest, show_tells_drift) {
  start();
  const Ran missing = run("fabric show " + fabric());
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.output, HasSubstr("missing"));
  EXPECT_EQ(run("fabric apply " + fabric()).code, 0);
  const Ran good = run("fabric show " + fabric());
  EXPECT_EQ(good.code, 0) << good.output;
  EXPECT_THAT(good.output, HasSubstr("the switches have what the file asks for"));
  backend_.installed["leaf1"][0].quorum = 1;
  backend_.installed["leaf1"].push_back(part_of(7, 1));
  backend_.installed["leaf1"].push_back(part_of(8, 2));
  const json rows = json::parse(run("-j fabric show " + fabric()).output)["rows"];
  EXPECT_EQ(rows[0]["state"], "different");
  EXPECT_EQ(rows[1]["state"], "surplus");
  EXPECT_EQ(rows[2]["state"], "of others");
}

TEST_F(FabricCtlTest, show_says_why_a_job_has_no_place) {
  start();
  EXPECT_EQ(run("fabric apply " + fabric()).code, 0);
  const std::string path = fabric("trees = 2\n[[job]]\nid = 8\nhosts = [\"a\", \"b\"]\n");
  const Ran shown = run("fabric show " + path);
  EXPECT_EQ(shown.code, 1);
  EXPECT_EQ(
      shown.output,
      "JOB  TREE  GROUP        SWITCH  CHILDREN  PARENT  STATE\n"
      "  7     0  239.192.0.1  leaf1   h2,h1     (root)  no place\n"
      "  8     0  239.192.0.2  leaf1   h1,h2     (root)  missing\n" +
          path +
          ":12:6: job 7: 2 trees, but only 1 disjoint root: leaf1 (at most trees = 1)\n"
          "not every job of the file has a place; `tributaryctl fabric apply` changes nothing "
          "before that is mended\n");
  const json program = json::parse(run("-j fabric show " + path).output);
  EXPECT_EQ(program["rows"][0]["state"], "no place");
  EXPECT_EQ(program["refusals"][0]["line"], 12);
}

TEST_F(FabricCtlTest, remove_refuses_to_take_what_is_in_use) {
  start();
  EXPECT_EQ(run("fabric apply " + fabric()).code, 0);
  engine::TreeStatus used;
  used.job = 7;
  backend_.states = {{"leaf1", used, std::chrono::milliseconds(9500), "panama"}};
  const Ran refused = run("fabric remove " + fabric());
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(refused.output,
            "tributaryctl: trees are in use, and nothing was removed: job 7 (tree 0; last packet "
            "9.5 s ago); end the workers and wait 10 s, or pass --force\n");
  const json error = json::parse(run("-j fabric remove " + fabric()).output)["error"];
  EXPECT_EQ(error["code"], "in_use");
  EXPECT_EQ(error["details"]["in_use"], json::parse(R"([{"job":7,"trees":[0],"switches":["leaf1"],
                                                         "idle_seconds":9.5}])"));
  EXPECT_EQ(backend_.installed, placed());
  EXPECT_EQ(run("fabric remove --force " + fabric()).output, "removed from leaf1\n");
  EXPECT_TRUE(backend_.installed.empty());
}

TEST_F(FabricCtlTest, remove_asks_only_whether_its_own_jobs_rest) {
  backend_.installed = {{"leaf1", {part_of(8, 0), part_of(9, 0)}}};
  engine::TreeStatus used;
  used.job = 9;
  used.active = true;
  engine::TreeStatus rests;
  rests.job = 8;
  backend_.states = {{"leaf1", used, {}, "panama"},
                     {"leaf1", rests, std::chrono::seconds(10), "panama"}};
  start();
  EXPECT_THAT(run("fabric remove --job 8 --job 9 " + fabric()).output,
              HasSubstr("job 9 (tree 0; active)"));
  EXPECT_EQ(run("fabric remove --job 8 " + fabric()).code, 0);
  EXPECT_EQ(backend_.installed, (RuntimeTrees{{"leaf1", {part_of(9, 0)}}}));
}

TEST_F(FabricCtlTest, remove_names_the_jobs_there_are) {
  backend_.installed = {{"leaf1", {part_of(8, 1)}}};
  backend_.running.switches[0].config.protocols.get<panama::PanamaConfig>().trees.push_back(
      {{3, wire::Ipv4Address(239, 1, 1, 1), {0, 1}, 2, 4, 2}, 0, 4});
  start();
  const std::string path = fabric();
  const Ran unknown = run("fabric remove --job 8 --job 99 " + path);
  EXPECT_EQ(unknown.code, 1);
  EXPECT_EQ(unknown.output, "tributaryctl: there is no job 99 in " + path +
                                " or on its switches; there are 7, 8\n");
  const json error = json::parse(run("-j fabric remove --job 99 " + path).output)["error"];
  EXPECT_EQ(error["code"], "no_job");
  EXPECT_EQ(error["details"]["known_jobs"], json({7, 8}));
  EXPECT_EQ(run("fabric remove --job 3 " + path).output,
            "tributaryctl: job 3 is in the configuration of switch leaf1; take it out there\n");
  EXPECT_EQ(backend_.tree_changes, 0);
  EXPECT_EQ(run("fabric remove --job 7 " + path).output, "nothing to remove\n");
}

TEST_F(FabricCtlTest, remove_takes_the_file_s_jobs_or_those_that_are_named) {
  start();
  EXPECT_EQ(run("fabric apply " + fabric()).code, 0);
  backend_.installed["leaf1"].push_back(part_of(9, 1));
  // The file is no job, whatever stands behind it; and a job that is named twice is one.
  EXPECT_EQ(run("fabric remove --job 9 --job 9 " + fabric() + " --force").code, 0);
  EXPECT_EQ(backend_.installed, placed());
  EXPECT_EQ(run("fabric remove " + fabric()).output, "removed from leaf1\n");
  EXPECT_TRUE(backend_.installed.empty());
  EXPECT_EQ(run("fabric remove " + fabric()).output, "nothing to remove\n");
}

TEST_F(FabricCtlTest, what_does_not_fit_is_refused_where_the_job_is) {
  start();
  const Ran refused = run("fabric plan " + fabric("trees = 2\n"));
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.output, HasSubstr("c.toml:12:6: job 7: 2 trees, but only 1 disjoint root: "
                                        "leaf1 (at most trees = 1)"));
  const json error = json::parse(run("-j fabric apply " + fabric("trees = 2\n")).output)["error"];
  EXPECT_EQ(error["code"], "refused");
  EXPECT_EQ(error["details"][0]["line"], 12);
  EXPECT_EQ(backend_.tree_changes, 0);
}

TEST_F(FabricCtlTest, a_file_that_is_wrong_is_said_with_its_place) {
  const Ran wrong = run("fabric plan " + fabric("tress = 2\n"));
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.output, HasSubstr("c.toml:14:1: unknown key `tress` in [job] (did you mean "
                                      "`trees`?)"));
}

TEST_F(FabricCtlTest, ports_that_are_not_there_or_down_are_said) {
  start();
  EXPECT_THAT(run("fabric plan " + fabric("[[host]]\nname = \"c\"\nport = \"leaf1:h9\"\n")).output,
              HasSubstr("there is no port leaf1:h9, which host c needs"));
  backend_.port_up = false;
  EXPECT_THAT(run("fabric plan " + fabric()).output,
              HasSubstr("worker b cannot be reached (port leaf1:h2 is down)"));
}

TEST_F(FabricCtlTest, a_switch_without_panama_is_said) {
  backend_.running.switches[0].config.protocols.reset<panama::PanamaConfig>();
  start();
  EXPECT_THAT(run("fabric plan " + fabric()).output, HasSubstr("has no [switch.panama]"));
}

TEST_F(FabricCtlTest, a_data_plane_that_refuses_leaves_what_was_there) {
  backend_.trees_refused = "no space left";
  start();
  const Ran refused = run("fabric apply " + fabric());
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.output, HasSubstr("switch leaf1 refused: no space left; the others have what "
                                        "they had before"));
}

TEST_F(FabricCtlTest, without_a_daemon_nothing_is_changed) {
  const Ran plan = run("fabric apply " + fabric());
  EXPECT_EQ(plan.code, 3);
  EXPECT_THAT(plan.output, HasSubstr("no switch answers: leaf1"));
  EXPECT_EQ(run("fabric show " + fabric()).code, 1);
  EXPECT_THAT(run("fabric plan --skip-unreachable " + fabric()).output,
              HasSubstr("worker b cannot be reached (switch leaf1 does not answer)"));
}

// Two leaves with a host each, and two spines, of one daemon; a job of Flare.
class FlareCtlTest : public CtlTest {
 protected:
  FlareCtlTest() {
    backend_.running.switches.clear();
    for (const std::string& name : leaves_) {
      add_switch(name, {"h", "spine1", "spine2"});
    }
    for (const std::string& name : spines_) {
      add_switch(name, leaves_);
    }
  }

  flare::FlareConfig& flare_of(std::size_t sw) {
    return backend_.running.switches[sw].config.protocols.get<flare::FlareConfig>();
  }
  std::string fabric(const std::string& more = "") const {
    std::string text = "version = 1\n";
    for (const char* name : {"leaf1", "leaf2", "spine1", "spine2"}) {
      text += std::string("[[switch]]\nname = \"") + name + "\"\ncontrol = \"" + options_.socket +
              "\"\n";
    }
    for (const std::string& leaf : leaves_) {
      text += "[[host]]\nname = \"of-" + leaf + "\"\nport = \"" + leaf + ":h\"\n";
      for (const std::string& spine : spines_) {
        text +=
            "[[link]]\na = \"" + leaf + ":" + spine + "\"\nb = \"" + spine + ":" + leaf + "\"\n";
      }
    }
    return file(text +
                "[[job]]\nid = 7\nalgorithm = \"flare\"\nhosts = [\"of-leaf1\", \"of-leaf2\"]\n"
                "settings = { window = 16 }\n" +
                more);
  }
  std::vector<std::string> switches_with_trees() const {
    std::vector<std::string> names;
    for (const auto& entry : backend_.installed) {
      names.push_back(entry.first);
    }
    return names;
  }

 private:
  void add_switch(const std::string& name, const std::vector<std::string>& ports) {
    auto& section = backend_.running.switches.emplace_back();
    section.config.name = name;
    for (const std::string& port : ports) {
      section.config.ports.emplace_back().name = port;
    }
    section.devices.resize(ports.size(), RingDevice{"r"});
    section.config.protocols.emplace<flare::FlareConfig>();
  }

  const std::vector<std::string> leaves_ = {"leaf1", "leaf2"};
  const std::vector<std::string> spines_ = {"spine1", "spine2"};
};

TEST_F(FlareCtlTest, workers_are_told_tree_and_window) {
  start();
  EXPECT_EQ(run("fabric apply " + fabric()).output,
            "changed: leaf1, leaf2, spine1\n"
            "job 7: TRIBUTARY_ALGORITHM=flare TRIBUTARY_JOB=7 TRIBUTARY_FLARE_TREE=239.192.0.1 "
            "TRIBUTARY_FLARE_WINDOW=16\n");
}

TEST_F(FlareCtlTest, jobs_of_other_engines_have_groups_of_their_own_and_keep_them) {
  for (auto& section : backend_.running.switches) {
    section.config.protocols.emplace<panama::PanamaConfig>().packet_memory = 8;
  }
  start();
  const auto path = fabric("[[job]]\nid = 8\nhosts = [\"of-leaf1\", \"of-leaf2\"]\n");
  const Ran applied = run("fabric apply " + path);
  EXPECT_THAT(applied.output, HasSubstr("TRIBUTARY_FLARE_TREE=239.192.0.1 "));
  EXPECT_THAT(applied.output, HasSubstr("TRIBUTARY_TREES=239.192.0.2"));
  const auto changes = backend_.tree_changes;
  EXPECT_EQ(run("fabric apply " + path).output,
            "nothing to change\n" + applied.output.substr(applied.output.find("job 7")));
  EXPECT_EQ(backend_.tree_changes, changes);
}

TEST_F(FlareCtlTest, a_job_goes_around_a_switch_that_has_no_memory_for_it) {
  flare_of(2).working_memory = 100;
  start();
  const std::string path = fabric();
  const std::string said = "tributaryctl: job 7 goes around switch spine1, which refuses it: ";
  EXPECT_THAT(run("fabric plan " + path).output, StartsWith(said));
  EXPECT_EQ(backend_.tree_changes, 0);
  const Ran applied = run("fabric apply " + path);
  EXPECT_EQ(applied.code, 0) << applied.output;
  EXPECT_THAT(applied.output, StartsWith(said));
  EXPECT_THAT(applied.output, HasSubstr("`working_memory` has no room"));
  EXPECT_EQ(switches_with_trees(), (std::vector<std::string>{"leaf1", "leaf2", "spine2"}));
  EXPECT_EQ(run("fabric show " + path).code, 0);
}

TEST_F(FlareCtlTest, programs_are_told_of_detours) {
  flare_of(2).working_memory = 100;
  start();
  const json plan = json::parse(run("-j fabric plan " + fabric()).output);
  ASSERT_EQ(plan["detours"].size(), 1u);
  EXPECT_EQ(plan["detours"][0]["job"], 7);
  EXPECT_EQ(plan["detours"][0]["switch"], "spine1");
}

TEST_F(FlareCtlTest, watch_goes_around_it_too_and_says_so_once) {
  flare_of(2).working_memory = 100;
  start();
  const Ran watched = run("fabric watch --count 3 --interval 0.05 " + fabric());
  EXPECT_EQ(watched.code, 0) << watched.output;
  EXPECT_THAT(watched.output, StartsWith("job 7 goes around switch spine1"));
  EXPECT_THAT(watched.output, HasSubstr("changed: leaf1, leaf2, spine2\n"
                                        "the switches have what the file asks for\n"));
}

TEST_F(FlareCtlTest, watch_does_not_ask_at_every_look_who_refuses) {
  flare_of(2).working_memory = 100;
  flare_of(3).working_memory = 100;
  start();
  std::stringstream text;
  text << std::ifstream(fabric()).rdbuf();
  std::string there = text.str();  // the same, over what sees all requests
  const std::string point = "control = \"" + options_.socket + "\"\n";
  for (auto at = there.find(point); at != std::string::npos; at = there.find(point, at + 1)) {
    there.insert(at + point.size(), "ssh = \"root@there\"\n");
  }
  const std::string path = file(there);
  const std::string requests = directory_ / "requests";
  std::ofstream(directory_ / "ssh") << "#!/bin/sh\ntee -a " << requests << " | " << TRIBUTARYCTL
                                    << " --socket " << options_.socket << " relay\n";
  std::filesystem::permissions(directory_ / "ssh", std::filesystem::perms::owner_all);
  const auto asked_in = [&](const std::string& looks) {
    std::filesystem::remove(requests);
    const Ran watched = run("fabric watch --interval 0.05 --count " + looks + " " + path,
                            "TRIBUTARY_SSH='" + directory_ / "ssh" + "' ");
    EXPECT_THAT(watched.output, HasSubstr("no way joins all of its workers"));
    std::stringstream seen;
    seen << std::ifstream(requests).rdbuf();
    std::size_t count = 0;
    const auto all = seen.str();
    for (auto at = all.find("tree.install"); at != std::string::npos;
         at = all.find("tree.install", at + 1)) {
      ++count;
    }
    return count;
  };
  const auto once = asked_in("2");
  EXPECT_GT(once, 0u);
  EXPECT_EQ(asked_in("12"), once);
}

TEST_F(FlareCtlTest, a_job_that_has_no_way_left_is_refused) {
  flare_of(2).working_memory = 100;
  flare_of(3).working_memory = 100;
  start();
  const Ran refused = run("fabric apply " + fabric());
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.output, HasSubstr("job 7: no way joins all of its workers"));
  EXPECT_THAT(refused.output, HasSubstr("`working_memory` has no room"));
  EXPECT_EQ(backend_.tree_changes, 0);
}

TEST_F(FlareCtlTest, a_leaf_cannot_be_gone_around) {
  flare_of(1).working_memory = 100;
  start();
  EXPECT_THAT(run("fabric apply " + fabric()).output,
              HasSubstr("job 7: switch leaf2 refuses it (switch leaf2, tree 0 of job 7: "));
  EXPECT_EQ(backend_.tree_changes, 0);
}

// A leaf below two spines that have two cores each, so that leaf and spines have several up-ports.
// There is no job.
class LevelsCtlTest : public CtlTest {
 protected:
  LevelsCtlTest() {
    backend_.running.switches.clear();
    add_switch("leaf", {"h", "spine1", "spine2"});
    for (const std::string spine : {"spine1", "spine2"}) {
      add_switch(spine, {"leaf", "core1", "core2"});
      links_ += link("leaf:" + spine, spine + ":leaf");
      for (const std::string core : {"core1", "core2"}) {
        add_switch(spine + core, {"spine"});
        links_ += link(spine + ":" + core, spine + core + ":spine");
      }
    }
  }

  std::string fabric() const {
    std::string text = "version = 1\n";
    for (const auto& section : backend_.running.switches) {
      text += "[[switch]]\nname = \"" + section.config.name + "\"\ncontrol = \"" + options_.socket +
              "\"\n";
    }
    return file(text + "[[host]]\nname = \"a\"\nport = \"leaf:h\"\n" + links_);
  }
  std::uint64_t& seed_of(std::size_t sw) {
    return backend_.running.switches[sw].config.selection.reduction_seed;
  }

 private:
  static std::string link(const std::string& a, const std::string& b) {
    return "[[link]]\na = \"" + a + "\"\nb = \"" + b + "\"\n";
  }
  void add_switch(const std::string& name, const std::vector<std::string>& ports) {
    auto& section = backend_.running.switches.emplace_back();
    section.config.name = name;
    for (const std::string& port : ports) {
      section.config.ports.emplace_back().name = port;
    }
    section.devices.resize(ports.size(), RingDevice{"r"});
  }

  std::string links_;
};

const RuntimeSeeds level_seeds = {{"leaf", 1}, {"spine1", 2}, {"spine2", 2}};

TEST_F(LevelsCtlTest, plan_says_which_seeds_are_missing_and_gives_none) {
  start();
  const Ran plan = run("fabric plan " + fabric());
  EXPECT_EQ(plan.code, 0) << plan.output;
  EXPECT_THAT(plan.output,
              HasSubstr("`tributaryctl fabric apply` gives reduction_seed 1 to leaf; 2 "
                        "to spine1, spine2\n"));
  EXPECT_EQ(backend_.seed_changes, 0);
}

TEST_F(LevelsCtlTest, apply_gives_each_level_a_seed_once) {
  start();
  const std::string path = fabric();
  EXPECT_THAT(run("fabric show " + path).output,
              HasSubstr("levels 1 and 2 have the same reduction_seed, 0"));
  const json applied = json::parse(run("-j fabric apply " + path).output);
  EXPECT_EQ(applied["seeds"][0], json({{"switch", "leaf"}, {"reduction_seed", 1}}));
  EXPECT_EQ(applied["seed_problems"], json::array());
  EXPECT_EQ(backend_.given_seeds, level_seeds);
  EXPECT_THAT(run("fabric apply " + path).output, HasSubstr("nothing to change\n"));
  EXPECT_EQ(backend_.seed_changes, 3);
  EXPECT_EQ(json::parse(run("-j fabric show " + path).output)["seed_problems"], json::array());
}

TEST_F(LevelsCtlTest, watch_gives_them_to_a_switch_that_has_lost_its_own) {
  backend_.given_seeds = {{"leaf", 1}, {"spine1", 2}};
  start();
  const Ran watched = run("fabric watch --count 3 --interval 0.05 " + fabric());
  EXPECT_EQ(watched.code, 0) << watched.output;
  EXPECT_EQ(watched.output,
            "gave reduction_seed 2 to spine2\nthe switches have what the file asks for\n");
  EXPECT_EQ(backend_.given_seeds, level_seeds);
}

TEST_F(LevelsCtlTest, what_is_configured_stays_and_its_faults_are_told) {
  seed_of(0) = seed_of(1) = 5;
  start();
  const Ran applied = run("fabric apply " + fabric());
  EXPECT_EQ(applied.code, 0) << applied.output;
  EXPECT_THAT(applied.output, HasSubstr("levels 1 and 2 have the same reduction_seed, 5"));
  EXPECT_EQ(backend_.given_seeds.size(), 1u) << "spine2, as spine1";
}

TEST_F(LevelsCtlTest, a_switch_that_does_not_take_its_seed_is_told_of) {
  backend_.seeds_refused = "no space left";
  start();
  const Ran applied = run("fabric apply " + fabric());
  EXPECT_EQ(applied.code, 1);
  EXPECT_THAT(applied.output,
              HasSubstr("switch leaf does not take reduction_seed 1: no space left\n"));
  EXPECT_EQ(run("-j fabric apply " + fabric()).code, 1);
}

// Several switches of one daemon, which has only leaf1.
class SharedDaemonTest : public FabricCtlTest {
 protected:
  std::string shared() const {
    std::string more;
    for (const char* name : {"leaf2", "spine1", "spine2"}) {
      more += std::string("[[switch]]\nname = \"") + name + "\"\ncontrol = \"" + options_.socket +
              "\"\n";
    }
    return fabric(more);
  }
};

TEST_F(SharedDaemonTest, what_it_lacks_is_said_once) {
  start();
  const std::string path = shared();
  const Ran plan = run("fabric plan " + path);
  EXPECT_EQ(plan.code, 1);
  EXPECT_EQ(plan.output, "tributaryctl: the fabric is not as described; nothing was changed\n" +
                             path + ": the daemon at " + options_.socket +
                             " has no switch leaf2, spine1, spine2; it has leaf1\n");
  EXPECT_THAT(run("fabric show " + path).output,
              HasSubstr("the fabric is not as the file describes it"));
}

TEST_F(SharedDaemonTest, its_silence_is_said_once) {
  const std::string path = shared();
  const std::string why =
      "no daemon serves " + options_.socket + "; start tributaryd, or correct `control` in " + path;
  EXPECT_EQ(run("fabric plan " + path).output,
            "tributaryctl: nothing was changed, as no switch answers: leaf1, leaf2, spine1, spine2 "
            "(" +
                why + ")\n");
  EXPECT_THAT(run("fabric show " + path).output,
              StartsWith("tributaryctl: each of leaf1, leaf2, spine1, spine2 does not answer: " +
                         why + "\n"));
  const json error = json::parse(run("-j fabric plan " + path).output)["error"];
  EXPECT_EQ(error["code"], "no_daemon");
  EXPECT_EQ(error["details"]["unreachable"].size(), 4u);
}

// Runs the commands that ssh would run on a machine.
class SshTest : public FabricCtlTest {
 protected:
  SshTest() {
    const std::string bin = directory_ / "bin";
    std::filesystem::create_directory(bin);
    std::filesystem::create_symlink(TRIBUTARYCTL, bin + "/tributaryctl");
    std::ofstream(directory_ / "ssh")
        << "#!/bin/sh\necho \"$1\" >> " << directory_.path() << "/called\nshift\nPATH=" << bin
        << ":$PATH\nexec sh -c \"$*\"\n";
    std::filesystem::permissions(directory_ / "ssh", std::filesystem::perms::owner_all);
  }
  // Describes so many switches, each on a machine of its own.
  std::string machines(int number) const {
    std::string text = "version = 1\n";
    for (int i = 1; i <= number; ++i) {
      const auto name = "s" + std::to_string(i);
      text +=
          "[[switch]]\nname = \"" + name + "\"\ncontrol = \"/c\"\nssh = \"root@" + name + "\"\n";
    }
    return file(text +
                "[[host]]\nname = \"a\"\nport = \"s1:h1\"\n"
                "[[host]]\nname = \"b\"\nport = \"s1:h2\"\n"
                "[[job]]\nid = 7\nhosts = [\"a\", \"b\"]\n");
  }
  std::string ssh() const { return "TRIBUTARY_SSH='" + directory_ / "ssh" + "' "; }
};

TEST_F(SshTest, sockets_of_other_machines_are_reached) {
  start();
  const std::string path = fabric("", "ssh = \"root@leaf1\"\n");
  const Ran applied = run("fabric apply " + path, ssh());
  EXPECT_EQ(applied.code, 0) << applied.output;
  EXPECT_EQ(backend_.installed, placed());
  std::stringstream called;
  called << std::ifstream(directory_ / "called").rdbuf();
  EXPECT_EQ(called.str(), "root@leaf1\n");
}

TEST_F(SshTest, watch_keeps_its_connection_from_look_to_look) {
  start();
  const std::string path = fabric("", "ssh = \"root@leaf1\"\n");
  const Ran watched = run("fabric watch --count 4 --interval 0.05 " + path, ssh());
  EXPECT_EQ(watched.code, 0) << watched.output;
  std::stringstream called;
  called << std::ifstream(directory_ / "called").rdbuf();
  EXPECT_EQ(called.str(), "root@leaf1\n");
}

TEST_F(SshTest, machines_are_asked_side_by_side) {
  // Each command waits until all have been called.
  const std::string called = directory_ / "called";
  const std::string meet = "mkdir -p " + called + "; touch " + called + "/$$; until [ $(ls " +
                           called + " | wc -l) -ge 8 ]; do sleep 0.05; done; exit 255;";
  EXPECT_THAT(
      run("--timeout 60 fabric plan " + machines(8), "TRIBUTARY_SSH='" + meet + "' ").output,
      HasSubstr("ssh cannot reach root@s1"));
}

TEST_F(SshTest, at_most_eight_machines_are_asked_at_a_time) {
  const std::string present = directory_ / "present";
  const std::string counts = directory_ / "counts";
  const std::string count = "mkdir -p " + present + "; touch " + present + "/$$; sleep 0.3; ls " +
                            present + " | wc -l >> " + counts + "; sleep 0.3; rm " + present +
                            "/$$; exit 255;";
  EXPECT_THAT(
      run("--timeout 60 fabric plan " + machines(12), "TRIBUTARY_SSH='" + count + "' ").output,
      HasSubstr("ssh cannot reach root@s1"));
  std::ifstream counted(counts);
  int asked = 0;
  for (int together = 0; counted >> together; ++asked) {
    EXPECT_LE(together, 8);
  }
  EXPECT_EQ(asked, 12);
}

TEST_F(SshTest, what_fails_there_is_told_apart) {
  const std::string path = fabric("", "ssh = \"root@leaf1\"\n");
  const Ran none = run("fabric plan " + path, ssh());
  EXPECT_EQ(none.code, 3);
  EXPECT_THAT(none.output, HasSubstr("no daemon serves the socket on root@leaf1"));
  EXPECT_THAT(run("fabric plan " + path, "TRIBUTARY_SSH='exit 255;' ").output,
              HasSubstr("ssh cannot reach root@leaf1"));
  EXPECT_THAT(run("fabric plan " + path, "TRIBUTARY_SSH='exit 127;' ").output,
              HasSubstr("there is no tributaryctl on root@leaf1"));
  EXPECT_EQ(run("--timeout 0.2 fabric plan " + path, "TRIBUTARY_SSH='sleep 60 #' ").code, 5);
  const auto busy = run("fabric plan " + path, "TRIBUTARY_SSH='exit 5;' ");
  EXPECT_EQ(busy.code, 5);
  EXPECT_THAT(busy.output, HasSubstr("takes no more connections"));
}

}  // namespace
}  // namespace tributary::control
