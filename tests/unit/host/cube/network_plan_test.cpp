// SPDX-License-Identifier: BSD-3-Clause
// Tests plans in worlds whose networks carry out a collective as soon as all ranks of the group are
// ready for it, in random order.
#include "host/cube/network_plan.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

struct PlannedShape {
  CubeLayout::Kind kind;
  std::uint32_t ranks;
  std::uint32_t interfaces;
  std::size_t count;
};

constexpr std::uint32_t pieces = 16;

class PlannedWorld {
 public:
  PlannedWorld(const PlannedShape& shape, bool in_place)
      : in_place_(in_place), count_(shape.count) {
    for (std::uint32_t rank = 0; rank < shape.ranks; ++rank) {
      ranks_.push_back(std::make_unique<Rank>(shape, rank, in_place));
    }
    for (std::size_t i = 0; i < count_; ++i) {
      std::int32_t sum = 0;
      for (const auto& rank : ranks_) {
        sum += rank->in[i];
      }
      expected_.push_back(sum);
    }
  }

  // Carries out everything that can be, one collective at a time.
  void run(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::size_t> order(ranks_.size() * networks());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (bool moved = true; moved;) {
      moved = false;
      std::shuffle(order.begin(), order.end(), random);
      for (const auto one : order) {
        moved |= try_to_carry_out(one % ranks_.size(), one / ranks_.size());
      }
    }
  }
  void expect_sums() const {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      EXPECT_TRUE(ranks_[rank]->is_over()) << "rank " << rank;
      EXPECT_TRUE(ranks_[rank]->out == expected_) << "rank " << rank;
      EXPECT_TRUE(in_place_ || ranks_[rank]->in == Rank::input(rank, count_)) << "rank " << rank;
    }
  }
  // Returns the vectors that each interface of each rank has sent, and received.
  std::set<double> vectors() const {
    std::set<double> all;
    for (const auto& rank : ranks_) {
      for (const auto elements : rank->moved) {
        all.insert(static_cast<double>(elements) / static_cast<double>(count_));
      }
    }
    return all;
  }
  std::size_t networks() const { return ranks_.front()->plan.networks(); }
  const NetworkPlan& plan() const { return ranks_.front()->plan; }

 private:
  struct Rank {
    Rank(const PlannedShape& shape, std::uint32_t rank, bool in_place)
        : in(input(rank, shape.count)),
          out(in_place ? in : std::vector<std::int32_t>(shape.count)),
          layout(*CubeLayout::of(shape.kind, rank, shape.ranks, shape.interfaces)),
          plan(call_of(Collective::allreduce, in_place ? out.data() : in.data(), out.data(),
                       shape.count, wire::ElementType::i32, wire::Operator::sum),
               layout, pieces),
          passed(plan.pieces()),
          step(plan.networks()),
          moved(std::size_t{2} * shape.interfaces) {}

    static std::vector<std::int32_t> input(std::size_t rank, std::size_t count) {
      std::vector<std::int32_t> values(count);
      std::iota(values.begin(), values.end(), static_cast<std::int32_t>(1000 * rank));
      return values;
    }
    // Returns the step that it is ready for.
    const NetworkPlan::Step* next(std::size_t network) const {
      const auto& steps = plan.steps(network);
      const bool is_ready = step[network] < steps.size() &&
                            passed[steps[step[network]].piece] == steps[step[network]].stage;
      return is_ready ? &steps[step[network]] : nullptr;
    }
    bool is_over() const {
      for (std::size_t network = 0; network < plan.networks(); ++network) {
        if (step[network] != plan.steps(network).size()) {
          return false;
        }
      }
      return true;
    }

    std::vector<std::int32_t> in;
    std::vector<std::int32_t> out;
    CubeLayout layout;
    NetworkPlan plan;
    std::vector<std::uint32_t> passed;
    std::vector<std::size_t> step;   // by network
    std::vector<std::size_t> moved;  // elements sent and received, by interface
  };

  static std::int32_t value(const std::byte* at, std::size_t i) {
    std::int32_t value;
    std::memcpy(&value, at + i * sizeof value, sizeof value);
    return value;
  }

  bool try_to_carry_out(std::size_t rank, std::size_t network) {
    const auto interface = static_cast<std::uint32_t>(
        network / NetworkPlan::networks_per_interface(ranks_[rank]->layout, pieces));
    std::vector<Rank*> group;
    std::vector<Call> calls;
    for (const auto member : ranks_[rank]->layout.group(interface)) {
      const auto* const step = ranks_[member]->next(network);
      if (step == nullptr) {
        return false;
      }
      group.push_back(ranks_[member].get());
      calls.push_back(step->call);
    }
    for (const auto& call : calls) {
      EXPECT_EQ(call.collective, calls.front().collective);
      EXPECT_EQ(call.buffers.count, calls.front().buffers.count);
    }
    carry_out(calls);
    for (std::size_t place = 0; place < group.size(); ++place) {
      auto& member = *group[place];
      count(calls[place], place, group.size(), &member.moved[std::size_t{2} * interface]);
      ++member.passed[member.next(network)->piece];
      ++member.step[network];
    }
    return true;
  }

  static void carry_out(const std::vector<Call>& calls) {
    const auto collective = calls.front().collective;
    std::vector<std::int32_t> result(calls.front().buffers.count);
    for (std::size_t place = 0; place < calls.size(); ++place) {
      const auto range = collective == Collective::allgather
                             ? share_of(result.size(), place, calls.size())
                             : Range{0, result.size()};
      for (auto i = range.begin; i < range.end; ++i) {
        result[i] += value(calls[place].buffers.in, i);
      }
    }
    for (std::size_t place = 0; place < calls.size(); ++place) {
      const auto range = collective == Collective::reduce_scatter
                             ? share_of(result.size(), place, calls.size())
                             : Range{0, result.size()};
      std::memcpy(calls[place].buffers.out + range.begin * sizeof result[0],
                  result.data() + range.begin, range.size() * sizeof result[0]);
    }
  }

  // To scatter, a rank sends the others' shares and gets the sum of its own; it is the other way
  // round to gather. An allreduce is one after the other.
  static void count(const Call& call, std::size_t place, std::size_t ranks, std::size_t* moved) {
    const auto own = share_of(call.buffers.count, place, ranks).size();
    const auto others = call.buffers.count - own;
    const bool scatters = call.collective != Collective::allgather;
    const bool gathers = call.collective != Collective::reduce_scatter;
    moved[0] += (scatters ? others : 0) + (gathers ? own : 0);
    moved[1] += (scatters ? own : 0) + (gathers ? others : 0);
  }

  bool in_place_;
  std::size_t count_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::vector<std::int32_t> expected_;
};

TEST(NetworkPlan, SumsAreExactInWhateverOrderNetworksGetOn) {
  std::uint64_t seed = 0;
  const auto bcube = CubeLayout::Kind::bcube;
  for (const auto& [kind, ranks, interfaces, most] :
       {PlannedShape{bcube, 4, 2, 200003}, PlannedShape{bcube, 9, 2, 150001},
        PlannedShape{bcube, 16, 2, 100003}, PlannedShape{bcube, 27, 3, 100003},
        PlannedShape{bcube, 3, 1, 20000}, PlannedShape{CubeLayout::Kind::mesh, 3, 2, 100003}}) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{7}, most}) {
      SCOPED_TRACE(std::to_string(ranks) + " ranks, " + std::to_string(count) + " elements");
      PlannedWorld world({kind, ranks, interfaces, count}, seed % 2 == 0);
      world.run(++seed);
      world.expect_sums();
    }
  }
}

TEST(NetworkPlan, PiecesTakeFewerBytesThanTheWholePart) {
  constexpr std::size_t count = 16 * 9 * 8 * 256;
  const auto vectors = [](CubeLayout::Kind kind, std::uint32_t ranks) {
    PlannedWorld world({kind, ranks, 2, count}, true);
    world.run(1);
    return world.vectors();
  };
  // (1 + 1/alpha)/beta, which a short vector has not.
  EXPECT_EQ(vectors(CubeLayout::Kind::bcube, 4), std::set{0.75});
  EXPECT_EQ(vectors(CubeLayout::Kind::bcube, 16), std::set{0.625});
  EXPECT_EQ(vectors(CubeLayout::Kind::mesh, 3), std::set{0.5});
  PlannedWorld shorter({CubeLayout::Kind::bcube, 16, 2, 16384}, true);
  shorter.run(1);
  EXPECT_EQ(shorter.vectors(), std::set{1.0});
}

TEST(NetworkPlan, AnInterfaceScattersAndGathersOverNetworksOfTheirOwn) {
  PlannedWorld bcube({CubeLayout::Kind::bcube, 9, 2, 200003}, true);
  ASSERT_EQ(bcube.networks(), 6u);
  constexpr Collective collectives[] = {Collective::allreduce, Collective::reduce_scatter,
                                        Collective::allgather};
  for (std::size_t network = 0; network < bcube.networks(); ++network) {
    for (const auto& step : bcube.plan().steps(network)) {
      EXPECT_EQ(step.call.collective, collectives[network % 3]);
    }
  }
  PlannedWorld mesh({CubeLayout::Kind::mesh, 3, 2, 200003}, true);
  EXPECT_EQ(mesh.networks(), 2u);
}

TEST(NetworkPlan, WithoutPiecesAPartIsAllreducedWhole) {
  std::vector<float> values(1 << 20);
  const auto layout = *CubeLayout::of(CubeLayout::Kind::bcube, 5, 9, 2);
  const NetworkPlan plan(call_of(Collective::allreduce, values.data(), values.data(), values.size(),
                                 wire::ElementType::f32, wire::Operator::sum),
                         layout, 1);
  ASSERT_EQ(plan.networks(), 2u);
  for (std::size_t network = 0; network < 2; ++network) {
    ASSERT_EQ(plan.steps(network).size(), 2u);
    EXPECT_EQ(plan.steps(network)[1].call.buffers.count, values.size() / 2);
  }
}

}  // namespace
}  // namespace tributary::host::test
