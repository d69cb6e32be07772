// SPDX-License-Identifier: BSD-3-Clause
#include "host/parallel/parallel_communicator.h"

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/parallel/slabs.h"
#include "loopback.h"
#include "ports.h"
#include "values.h"

// These tests use real sockets between addresses of the loopback interface.
namespace tributary::host::test {
namespace {

using wire::ElementType;
using wire::Operator;
using namespace std::chrono_literals;

ParallelOptions options_of(std::uint32_t rank, std::uint32_t machines, std::uint32_t per_machine,
                           Hierarchy hierarchy, std::uint16_t port) {
  ParallelOptions options;
  options.communicator.rank = rank;
  options.communicator.world_size = machines * per_machine;
  options.communicator.rendezvous = "127.0.0.1:" + std::to_string(port);
  options.communicator.local_address = "127.0.0." + std::to_string(rank / per_machine + 1);
  options.communicator.deadline = 20s;
  options.communicator.algorithm = "ring";  // the loopback has no switch that aggregates
  options.communicator.on_notice = [](const std::string&) {};
  options.local_rank = rank % per_machine;
  options.local_world_size = per_machine;
  options.hierarchy = hierarchy;
  return options;
}

using Layout = std::tuple<std::uint32_t, std::uint32_t, Hierarchy>;  // machines, ranks of each

class Layouts : public testing::TestWithParam<Layout> {
 protected:
  static void run(const std::function<void(std::uint32_t, ParallelCommunicator&)>& body) {
    const auto [machines, per_machine, hierarchy] = GetParam();
    const auto port = next_ports(static_cast<std::uint16_t>(1 + per_machine));
    std::vector<std::jthread> threads;
    for (std::uint32_t rank = 0; rank < machines * per_machine; ++rank) {
      const auto options = options_of(rank, machines, per_machine, hierarchy, port);
      threads.emplace_back([=, &body] {
        auto communicator = ParallelCommunicator::create(options);
        ASSERT_TRUE(communicator) << communicator.error().message;
        body(rank, *communicator);
      });
    }
  }
  static std::uint32_t world() { return std::get<0>(GetParam()) * std::get<1>(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Parallel, Layouts,
                         testing::Combine(testing::Values(1, 2, 3), testing::Values(1, 2, 3),
                                          testing::Values(Hierarchy::parallel,
                                                          Hierarchy::tencent)));

TEST_P(Layouts, ReduceEveryTypeExactly) {
  run([](std::uint32_t rank, ParallelCommunicator& communicator) {
    for (const auto& [type, op] : {std::pair{ElementType::f32, Operator::sum},
                                   {ElementType::bf16, Operator::sum},
                                   {ElementType::i8, Operator::bit_xor},
                                   {ElementType::i64, Operator::prod},
                                   {ElementType::f64, Operator::min},
                                   {ElementType::f8e4m3, Operator::sum},
                                   {ElementType::f64_i32, Operator::maxloc}}) {
      // Lengths are smaller than the number of ranks of a machine, odd, and longer than the shared
      // memory holds.
      const std::size_t longest = type == ElementType::i64 ? 600001 : 10007;
      for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{5}, longest}) {
        const auto in = input(rank, count, type, op);
        Elements out(in.size());
        const auto done = communicator.allreduce(in.data(), out.data(), count, type, op);
        ASSERT_TRUE(done) << done.error().message;
        ASSERT_EQ(wrong_elements(out, world(), count, type, op), 0u) << count;
      }
    }
  });
}

TEST_P(Layouts, SendOneVectorPerMachine) {
  run([](std::uint32_t rank, ParallelCommunicator& communicator) {
    const auto [machines, per_machine, hierarchy] = GetParam();
    const bool takes_part = hierarchy == Hierarchy::parallel || rank % per_machine == 0;
    ASSERT_EQ(communicator.between_machines() != nullptr, takes_part);
    if (takes_part) {
      EXPECT_EQ(communicator.between_machines()->world_size(), machines);
    }
  });
}

std::string refusal(const ParallelOptions& options) {
  const auto made = ParallelCommunicator::create(options);
  return made ? "" : made.error().message;
}

TEST(ParallelOptions, ThatDoNotFitAreRefused) {
  auto options = options_of(3, 2, 2, Hierarchy::parallel, 29500);
  options.local_rank = 0;
  EXPECT_NE(refusal(options).find("rank 3 has LOCAL_RANK 1, not 0"), std::string::npos);
  options.local_rank = 2;
  EXPECT_NE(refusal(options).find("LOCAL_RANK is below LOCAL_WORLD_SIZE"), std::string::npos);
  options = options_of(3, 2, 2, Hierarchy::parallel, 29500);
  options.communicator.world_size = 5;
  EXPECT_NE(refusal(options).find("which divides WORLD_SIZE"), std::string::npos);
  options = options_of(3, 2, 2, Hierarchy::parallel, 65534);
  EXPECT_NE(refusal(options).find("choose a lower one"), std::string::npos);
  options = options_of(3, 2, 2, Hierarchy::parallel, 29500);
  options.communicator.set("trees", "239.0.0.1").algorithm = "panama";
  EXPECT_NE(refusal(options).find("PANAMA"), std::string::npos);
  options.communicator.set("flare_tree", "239.0.0.1").algorithm = "flare";
  EXPECT_NE(refusal(options).find("Flare"), std::string::npos);
  options = options_of(3, 2, 2, Hierarchy::parallel, 29500);
  options.communicator.reproducible = true;
  EXPECT_NE(refusal(options).find("TRIBUTARY_REPRODUCIBLE=0"), std::string::npos);
}

// A machine has one vector for the trees, however many ranks it has.
TEST(ParallelOptions, AutomaticallyFollowTheProtocol) {
  const auto port = next_ports(3);
  const auto chosen = [&](std::uint32_t rank, const CommunicatorOptions& like) {
    auto options = options_of(rank, 1, 2, Hierarchy::automatic, port);
    options.communicator.algorithm = like.algorithm;
    options.communicator.parameters = like.parameters;
    options.communicator.job = 7;
    const auto made = ParallelCommunicator::create(options);
    EXPECT_TRUE(made) << made.error().message;
    return made ? std::optional(made->hierarchy()) : std::nullopt;
  };
  CommunicatorOptions panama;
  panama.algorithm = "panama";
  panama.set("trees", "239.0.0.1");
  run_ranks(2, [&](std::uint32_t rank) { EXPECT_EQ(chosen(rank, panama), Hierarchy::tencent); });
  run_ranks(2, [&](std::uint32_t rank) { EXPECT_EQ(chosen(rank, {}), Hierarchy::parallel); });
}

TEST(ParallelOptions, ThatDifferInTheHierarchyAreRefused) {
  const auto port = next_ports(3);
  run_ranks(2, [&](std::uint32_t rank) {
    const auto hierarchy = rank == 0 ? Hierarchy::parallel : Hierarchy::tencent;
    const auto made = ParallelCommunicator::create(options_of(rank, 1, 2, hierarchy, port));
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, Error::Code::rendezvous);
    EXPECT_NE(made.error().message.find("different hierarchies, this one " +
                                        std::string(name(hierarchy)) + "; give all of them"),
              std::string::npos)
        << made.error().message;
  });
}

TEST(Hierarchy, IsReadByItsName) {
  for (const auto each : {Hierarchy::parallel, Hierarchy::tencent, Hierarchy::automatic}) {
    EXPECT_EQ(hierarchy_of(name(each)), each);
  }
  EXPECT_FALSE(hierarchy_of("flat"));
}

TEST_P(Layouts, FailOnAllRanksOfAMachineWithInvalidArguments) {
  run([](std::uint32_t, ParallelCommunicator& communicator) {
    std::vector<float> data(8);
    EXPECT_FALSE(communicator.allreduce(data.data(), data.data(), data.size(), ElementType::f32,
                                        Operator::bit_and));
    EXPECT_FALSE(
        communicator.allreduce(nullptr, data.data(), data.size(), ElementType::f32, Operator::sum));
    EXPECT_FALSE(communicator.allreduce(data.data(), data.data() + 1, data.size() - 1,
                                        ElementType::f32, Operator::sum))
        << "they overlap";
    EXPECT_TRUE(communicator.allreduce(data.data(), data.data(), data.size(), ElementType::f32,
                                       Operator::sum));
  });
}

// The ranks of the first machine disagree, or one of them refuses, while the other machine is in
// the call already. Nothing of that call may be in the next one.
void expect_in_step(std::uint32_t rank, ParallelCommunicator& communicator, bool refused) {
  const bool is_wrong = rank == 1;
  const std::size_t count = !refused && is_wrong ? 9 : 8;
  std::vector<float> first(9, 1.0f);
  auto* const data = refused && is_wrong ? nullptr : first.data();
  EXPECT_FALSE(communicator.allreduce(data, data, count, ElementType::f32, Operator::sum)) << rank;
  std::vector<float> second(8, 100.0f);
  const auto done = communicator.allreduce(second.data(), second.data(), second.size(),
                                           ElementType::f32, Operator::sum);
  if (done) {  // it may be given up together, but it is not another sum
    EXPECT_EQ(second, std::vector<float>(8, 400.0f)) << rank;
  }
}

class TwoOfTwo : public Layouts {};
INSTANTIATE_TEST_SUITE_P(Parallel, TwoOfTwo,
                         testing::Combine(testing::Values(2), testing::Values(2),
                                          testing::Values(Hierarchy::parallel,
                                                          Hierarchy::tencent)));
TEST_P(TwoOfTwo, StayInStepWhereTheRanksOfAMachineDisagree) {
  run([](std::uint32_t rank, ParallelCommunicator& communicator) {
    expect_in_step(rank, communicator, false);
  });
}
TEST_P(TwoOfTwo, StayInStepWhereARankRefuses) {
  run([](std::uint32_t rank, ParallelCommunicator& communicator) {
    expect_in_step(rank, communicator, true);
  });
}

TEST(ParallelCommunicator, ARankThatRefusesACallHasThoseBesideItFail) {
  const auto port = next_ports(3);
  run_ranks(2, [&](std::uint32_t rank) {
    auto communicator =
        ParallelCommunicator::create(options_of(rank, 1, 2, Hierarchy::parallel, port));
    ASSERT_TRUE(communicator) << communicator.error().message;
    std::vector<float> vector(8, 1.0f);
    auto* const data = rank == 1 ? nullptr : vector.data();
    const auto refused = communicator->allreduce(data, data, 8, ElementType::f32, Operator::sum);
    EXPECT_FALSE(refused);
    const auto done =
        communicator->allreduce(vector.data(), vector.data(), 8, ElementType::f32, Operator::sum);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(vector, std::vector<float>(8, 2.0f));
  });
}

TEST_P(TwoOfTwo, CountACallOnceThatGoesInPieces) {
  run([](std::uint32_t, ParallelCommunicator& communicator) {
    std::vector<float> vector(3 * slab_bytes / sizeof(float), 1.0f);
    const auto done = communicator.allreduce(vector.data(), vector.data(), vector.size(),
                                             ElementType::f32, Operator::sum);
    ASSERT_TRUE(done) << done.error().message;
    if (const auto* const between = communicator.between_machines(); between != nullptr) {
      EXPECT_EQ(between->statistics()["collectives_by_ring"], 1u);
    }
  });
}

TEST(ParallelCommunicator, TheReportHasACallOnceThatGoesInPieces) {
  std::mutex mutex;
  std::string said;
  const auto port = next_ports(3);
  run_ranks(4, [&](std::uint32_t rank) {
    auto options = options_of(rank, 2, 2, Hierarchy::parallel, port);
    options.communicator.set("report", "on");
    options.communicator.on_notice = [&](const std::string& line) {
      const std::lock_guard lock(mutex);
      said += line + "\n";
    };
    auto communicator = ParallelCommunicator::create(options);
    ASSERT_TRUE(communicator) << communicator.error().message;
    std::vector<float> vector(2 * slab_bytes / sizeof(float), 1.0f);
    EXPECT_TRUE(communicator->allreduce(vector.data(), vector.data(), vector.size(),
                                        ElementType::f32, Operator::sum));
  });
  // A half of the vector goes by this rank.
  EXPECT_THAT(said, testing::ContainsRegex("allreduce +4 MiB ring +1 "));
  EXPECT_EQ(said.find("allreduce "), said.rfind("allreduce ")) << said;
}

// Handlers would see other pieces of a vector than elsewhere.
TEST_P(Layouts, HandlersAreRefused) {
  run([](std::uint32_t, ParallelCommunicator& communicator) {
    std::vector<std::int32_t> data(4);
    const auto done = communicator.allreduce(data.data(), data.data(), data.size(),
                                             ElementType::i32, wire::handler_operator(5));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Error::Code::invalid_argument);
  });
}

}  // namespace
}  // namespace tributary::host::test
