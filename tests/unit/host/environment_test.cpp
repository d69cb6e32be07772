// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/communicator.h"
#include "host/launcher.h"
#include "host/parallel/parallel_communicator.h"
#include "host/protocol.h"
#include "host/variables.h"

namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;

constexpr const char* names[] = {"OMPI_COMM_WORLD_RANK",
                                 "OMPI_COMM_WORLD_SIZE",
                                 "OMPI_COMM_WORLD_LOCAL_SIZE",
                                 "PMI_RANK",
                                 "PMI_SIZE",
                                 "SLURM_PROCID",
                                 "SLURM_NTASKS",
                                 "SLURM_STEP_NODELIST",
                                 "SLURM_JOB_ID",
                                 "SLURM_STEP_ID",
                                 "SLURM_STEP_TASKS_PER_NODE",
                                 "SLURM_NODEID",
                                 "SLURM_LOCALID",
                                 "OMPI_COMM_WORLD_LOCAL_RANK",
                                 "MPI_LOCALRANKID",
                                 "MPI_LOCALNRANKS",
                                 "LOCAL_RANK",
                                 "LOCAL_WORLD_SIZE",
                                 "TORCHELASTIC_USE_AGENT_STORE",
                                 "RANK",
                                 "WORLD_SIZE",
                                 "MASTER_ADDR",
                                 "MASTER_PORT",
                                 "TRIBUTARY_SECRET",
                                 "TRIBUTARY_LOCAL_ADDRESS",
                                 "TRIBUTARY_INTERFACE",
                                 "TRIBUTARY_MTU",
                                 "TRIBUTARY_WINDOW",
                                 "TRIBUTARY_STALL_TIMEOUT",
                                 "TRIBUTARY_LATE_TIMEOUT",
                                 "TRIBUTARY_DEADLINE",
                                 "TRIBUTARY_ENCAPSULATION",
                                 "TRIBUTARY_MEMBERSHIP",
                                 "TRIBUTARY_JOIN_TIMEOUT",
                                 "TRIBUTARY_JOB",
                                 "TRIBUTARY_ALGORITHM",
                                 "TRIBUTARY_FALLBACK",
                                 "TRIBUTARY_REPRODUCIBLE",
                                 "TRIBUTARY_ATTEMPTS",
                                 "TRIBUTARY_CANARY_CONGESTION_CONTROL",
                                 "TRIBUTARY_TREES",
                                 "TRIBUTARY_CONGESTION_CONTROL",
                                 "TRIBUTARY_SHARE",
                                 "TRIBUTARY_NETREDUCE_RING",
                                 "TRIBUTARY_NETREDUCE_WINDOW",
                                 "TRIBUTARY_NETREDUCE_MESSAGE",
                                 "TRIBUTARY_NETREDUCE_MTU",
                                 "TRIBUTARY_RDMA_DEVICE",
                                 "TRIBUTARY_RDMA_TIMEOUT",
                                 "TRIBUTARY_FLARE_TREE",
                                 "TRIBUTARY_FLARE_WINDOW",
                                 "TRIBUTARY_FLARE_SPARSE_WINDOW"};

class Environment : public testing::Test {
 protected:
  void SetUp() override {
    clear();
    set({{"RANK", "2"},
         {"WORLD_SIZE", "4"},
         {"MASTER_ADDR", "10.0.0.1"},
         {"MASTER_PORT", "29500"}});
  }
  void TearDown() override { clear(); }

  static void clear() {
    for (const auto* name : names) {
      ::unsetenv(name);
    }
  }
  static void set(std::initializer_list<std::pair<const char*, const char*>> variables) {
    for (const auto& [name, value] : variables) {
      ::setenv(name, value, 1);
    }
  }
  static std::string message() {
    const auto options = CommunicatorOptions::from_environment();
    return options ? "" : options.error().message;
  }
};

TEST_F(Environment, IsReadAsTorchrunSetsIt) {
  const auto options = CommunicatorOptions::from_environment();
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->rank, 2u);
  EXPECT_EQ(options->world_size, 4u);
  EXPECT_EQ(options->rendezvous, "10.0.0.1:29500");
  EXPECT_FALSE(options->stall_timeout) << "the default";
  EXPECT_FALSE(options->deadline);
  EXPECT_EQ(options->encapsulation, wire::Encapsulation::udp);
  EXPECT_EQ(options->job, 0u);
  EXPECT_EQ(options->algorithm, "auto");
  EXPECT_EQ(options->fallback, Fallback::allow);
  EXPECT_FALSE(options->reproducible);
  EXPECT_TRUE(options->parameters.empty());
}

TEST_F(Environment, OverridesAreRead) {
  set({{"TRIBUTARY_SECRET", "of this job"},
       {"TRIBUTARY_LOCAL_ADDRESS", "10.0.0.7"},
       {"TRIBUTARY_MTU", "9000"},
       {"TRIBUTARY_WINDOW", "32"},
       {"TRIBUTARY_STALL_TIMEOUT", "500ms"},
       {"TRIBUTARY_LATE_TIMEOUT", "30min"},
       {"TRIBUTARY_DEADLINE", "2.5"},
       {"TRIBUTARY_ENCAPSULATION", "ethernet"},
       {"TRIBUTARY_JOB", "7"},
       {"TRIBUTARY_ALGORITHM", "canary"},
       {"TRIBUTARY_FALLBACK", "error"},
       {"TRIBUTARY_REPRODUCIBLE", "1"},
       {"TRIBUTARY_ATTEMPTS", "2"}});
  const auto options = CommunicatorOptions::from_environment();
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->secret, "of this job");
  EXPECT_EQ(options->local_address, "10.0.0.7");
  EXPECT_EQ(options->mtu, 9000);
  EXPECT_EQ(options->window, 32u);
  EXPECT_EQ(options->stall_timeout, std::chrono::milliseconds(500));
  EXPECT_EQ(options->late_timeout, std::chrono::minutes(30));
  EXPECT_EQ(options->deadline, std::chrono::milliseconds(2500));
  EXPECT_EQ(options->encapsulation, wire::Encapsulation::ethernet);
  EXPECT_EQ(options->job, 7u);
  EXPECT_EQ(options->algorithm, "canary");
  EXPECT_EQ(options->fallback, Fallback::error);
  EXPECT_TRUE(options->reproducible);
  EXPECT_EQ(options->parameters, (Parameters{{"attempts", "2"}}));
}

TEST_F(Environment, OtherLaunchersHaveOtherNames) {
  clear();
  set({{"SLURM_PROCID", "5"},
       {"SLURM_NTASKS", "8"},
       {"SLURM_STEP_NODELIST", "node[07-09,12],login"},
       {"SLURM_JOB_ID", "1001"},
       {"SLURM_STEP_ID", "2"},
       {"SLURM_STEP_TASKS_PER_NODE", "4(x2)"}});
  auto options = CommunicatorOptions::from_environment();
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->rank, 5u);
  EXPECT_EQ(options->world_size, 8u);
  EXPECT_EQ(options->local_world_size, 4u);
  EXPECT_EQ(options->rendezvous, "node07:21440");
  // Within an allocation of Slurm mpirun's variables count.
  set({{"OMPI_COMM_WORLD_RANK", "1"},
       {"OMPI_COMM_WORLD_SIZE", "2"},
       {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
       {"MASTER_ADDR", "10.0.0.1"},
       {"MASTER_PORT", "29500"}});
  options = CommunicatorOptions::from_environment();
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->rank, 1u);
  EXPECT_EQ(options->world_size, 2u);
  EXPECT_EQ(options->local_world_size, 2u);
  EXPECT_EQ(options->rendezvous, "10.0.0.1:29500");
}

// Nodes may have different numbers of tasks, as with -n 7 over three of them: each task knows its
// node.
TEST_F(Environment, SlurmsNodesHaveTheirOwnNumbersOfTasks) {
  clear();
  set({{"SLURM_PROCID", "5"}, {"SLURM_NTASKS", "7"}, {"SLURM_STEP_NODELIST", "a[1-3]"}});
  for (const auto& [list, node, tasks] : {std::tuple{"3(x2),1", "0", 3u},
                                          {"3(x2),1", "1", 3u},
                                          {"3(x2),1", "2", 1u},
                                          {"2,1,4", "2", 4u},
                                          {"2", "1", 2u}}) {
    set({{"SLURM_STEP_TASKS_PER_NODE", list}, {"SLURM_NODEID", node}});
    const auto options = CommunicatorOptions::from_environment();
    ASSERT_TRUE(options) << options.error().message;
    EXPECT_EQ(options->local_world_size, tasks) << list << ", node " << node;
  }
}

TEST_F(Environment, EachLauncherTellsTheRankOnItsMachine) {
  for (const auto& [rank, size] : {std::pair{"LOCAL_RANK", "LOCAL_WORLD_SIZE"},
                                   {"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
                                   {"MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
                                   {"SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE"}}) {
    SetUp();
    set({{rank, "1"}, {size, "2"}});
    const auto options = ParallelOptions::from_environment();
    ASSERT_TRUE(options) << options.error().message;
    EXPECT_EQ(options->local_rank, 1u) << rank;
    EXPECT_EQ(options->local_world_size, 2u) << size;
  }
}

// torchrun of PyTorch 2 starts a process in this way: its agent listens at MASTER_PORT.
TEST_F(Environment, RanksOfTorchrunMeetBesideItsAgent) {
  set({{"LOCAL_RANK", "0"}, {"LOCAL_WORLD_SIZE", "2"}, {"TORCHELASTIC_USE_AGENT_STORE", "True"}});
  auto options = CommunicatorOptions::from_environment();
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->rank, 2u);
  EXPECT_EQ(options->local_world_size, 2u);
  EXPECT_EQ(options->rendezvous, "10.0.0.1:20000");
  set({{"MASTER_PORT", "29501"}});
  options = CommunicatorOptions::from_environment();
  EXPECT_EQ(options->rendezvous, "10.0.0.1:20080");
  set({{"TORCHELASTIC_USE_AGENT_STORE", "False"}});
  options = CommunicatorOptions::from_environment();
  EXPECT_EQ(options->rendezvous, "10.0.0.1:29501");
  set({{"TORCHELASTIC_USE_AGENT_STORE", "True"}, {"MASTER_PORT", "many"}});
  EXPECT_NE(message().find("MASTER_PORT=many"), std::string::npos) << message();
}

TEST_F(Environment, APortThatAProgramGivesIsNotTorchrunsAgents) {
  set({{"TORCHELASTIC_USE_AGENT_STORE", "True"}});
  Variables variables;
  variables.set("MASTER_PORT", "31234");
  const auto options = options_of(variables);
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->rendezvous, "10.0.0.1:31234");
}

TEST_F(Environment, AnIpv6AddressToMeetAtNeedsNoBrackets) {
  for (const auto* address : {"2001:db8:64::1", "[2001:db8:64::1]"}) {
    set({{"MASTER_ADDR", address}});
    const auto options = CommunicatorOptions::from_environment();
    ASSERT_TRUE(options) << options.error().message;
    EXPECT_EQ(options->rendezvous, "[2001:db8:64::1]:29500");
  }
}

TEST(Launcher, TheFirstNodeOfSlurmsList) {
  for (const auto& [nodes, first] : {std::pair{"a", "a"},
                                     {"a,b", "a"},
                                     {"node[1-4]", "node1"},
                                     {"node[03,07-9]", "node03"},
                                     {"node[5]", "node5"},
                                     {"node[5-6]-a,node7", "node5-a"},
                                     {"rack[1-2]n[03-4],x", "rack1n03"},
                                     {"a1,node[5-6]", "a1"}}) {
    EXPECT_EQ(first_node(nodes), first);
  }
}

TEST_F(Environment, AnInterfaceStandsForItsAddress) {
  set({{"TRIBUTARY_INTERFACE", "lo"}});
  const auto options = CommunicatorOptions::from_environment();
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->local_address, "127.0.0.1");
  set({{"TRIBUTARY_LOCAL_ADDRESS", "127.0.0.9"}});
  EXPECT_EQ(CommunicatorOptions::from_environment()->local_address, "127.0.0.9");
  SetUp();
  set({{"TRIBUTARY_INTERFACE", "none-such"}});
  EXPECT_NE(message().find("TRIBUTARY_INTERFACE"), std::string::npos) << message();
}

// Tests what "auto" stands for with these variables, and by which row an algorithm is found.
TEST_F(Environment, ProtocolsWithParametersComeFirst) {
  const auto wanted = [] {
    const auto options = CommunicatorOptions::from_environment();
    return options ? std::string(protocol_of(*options)->name) : options.error().message;
  };
  EXPECT_EQ(wanted(), "canary");
  set({{"TRIBUTARY_FLARE_TREE", "239.192.0.3"}});
  EXPECT_EQ(wanted(), "flare");
  set({{"TRIBUTARY_NETREDUCE_RING", "0"}});
  EXPECT_EQ(wanted(), "netreduce");
  set({{"TRIBUTARY_TREES", "239.192.0.1,239.192.0.2"}});
  EXPECT_EQ(wanted(), "panama") << "in the order of the rows";
  for (const auto& [name, row] : {std::pair{"canary", "canary"},
                                  {"panama", "panama"},
                                  {"netreduce", "netreduce"},
                                  {"roce-ring", "netreduce"},
                                  {"flare", "flare"},
                                  {"ring", "canary"}}) {
    set({{"TRIBUTARY_ALGORITHM", name}});
    EXPECT_EQ(wanted(), row) << name;
  }
}

TEST_F(Environment, ADurationHasAUnitOrIsInSeconds) {
  for (const auto& [text, duration] : {std::pair<const char*, std::chrono::nanoseconds>{"10", 10s},
                                       {"10s", 10s},
                                       {"1.5s", 1500ms},
                                       {"500ms", 500ms},
                                       {"20us", 20us},
                                       {"7000ns", 7us},
                                       {"2min", 120s}}) {
    set({{"TRIBUTARY_DEADLINE", text}});
    const auto options = CommunicatorOptions::from_environment();
    ASSERT_TRUE(options) << options.error().message;
    EXPECT_EQ(options->deadline, duration) << text;
  }
}

TEST_F(Environment, WhoJoinsAWorldNeedsNoRank) {
  ::unsetenv("RANK");
  ::unsetenv("WORLD_SIZE");
  set({{"TRIBUTARY_MEMBERSHIP", "join"}, {"TRIBUTARY_JOIN_TIMEOUT", "2min"}});
  auto options = CommunicatorOptions::from_environment();
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->membership, Membership::join);
  EXPECT_EQ(options->join_timeout, 2min);
  for (const auto* other : {"elastic", "fixed"}) {
    set({{"TRIBUTARY_MEMBERSHIP", other}});
    EXPECT_NE(message().find("RANK is not set"), std::string::npos) << message();
  }
}

TEST_F(Environment, ErrorsNameTheVariable) {
  for (const auto* name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}) {
    SetUp();
    ::unsetenv(name);
    EXPECT_NE(message().find(std::string(name) + " is not set"), std::string::npos) << message();
  }
  for (const auto& [name, value] : {std::pair{"RANK", "two"},
                                    {"WORLD_SIZE", "-1"},
                                    {"MASTER_PORT", "65536"},
                                    {"TRIBUTARY_MTU", "1e3"},
                                    {"TRIBUTARY_WINDOW", "x"},
                                    {"TRIBUTARY_STALL_TIMEOUT", "0"},
                                    {"TRIBUTARY_STALL_TIMEOUT", "1h"},
                                    {"TRIBUTARY_DEADLINE", "nan"},
                                    {"TRIBUTARY_DEADLINE", "-3"},
                                    {"TRIBUTARY_DEADLINE", "0ms"},
                                    {"TRIBUTARY_DEADLINE", "ms"},
                                    {"TRIBUTARY_DEADLINE", "3h"},
                                    {"TRIBUTARY_DEADLINE", "3 s"},
                                    {"TRIBUTARY_DEADLINE", "3sec"},
                                    {"TRIBUTARY_DEADLINE", "1e9s"},
                                    {"TRIBUTARY_MEMBERSHIP", "1"},
                                    {"TRIBUTARY_JOIN_TIMEOUT", "never"},
                                    {"TRIBUTARY_ENCAPSULATION", "vxlan"},
                                    {"TRIBUTARY_JOB", "seven"},
                                    {"TRIBUTARY_ALGORITHM", "tree"},
                                    {"TRIBUTARY_FALLBACK", "no"},
                                    {"TRIBUTARY_REPRODUCIBLE", "yes"},
                                    {"TRIBUTARY_REPRODUCIBLE", "2"},
                                    {"TRIBUTARY_ATTEMPTS", "16"},
                                    {"TRIBUTARY_ATTEMPTS", "0"},
                                    {"TRIBUTARY_CONGESTION_CONTROL", "yes"},
                                    {"TRIBUTARY_SHARE", "0"},
                                    {"TRIBUTARY_SHARE", "1.1"},
                                    {"TRIBUTARY_SHARE", "nan"},
                                    {"TRIBUTARY_SHARE", "88%"},
                                    {"TRIBUTARY_NETREDUCE_MESSAGE", "65536"},
                                    {"TRIBUTARY_RDMA_TIMEOUT", "3h"},
                                    {"TRIBUTARY_FLARE_WINDOW", "0"},
                                    {"TRIBUTARY_FLARE_WINDOW", "4097"},
                                    {"TRIBUTARY_FLARE_SPARSE_WINDOW", "4097"}}) {
    SetUp();
    ::setenv(name, value, 1);
    EXPECT_NE(message().find(std::string(name) + "=" + value), std::string::npos) << message();
  }
}

// The reference has no table that is made of the sources here.
TEST_F(Environment, IsInTheReferenceVariableByVariable) {
  std::ifstream page(LIBRARY_DOCUMENT);
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  ASSERT_FALSE(text.empty());
  const Variables variables;
  ASSERT_TRUE(options_of(variables));
  for (const auto& name : variables.looked_for()) {
    const bool is_ours = name.starts_with("TRIBUTARY_");
    EXPECT_TRUE(!is_ours || text.find(name + "`") != std::string::npos ||
                text.find(name + "=") != std::string::npos)
        << name;
  }
}

}  // namespace
}  // namespace tributary::host::test
