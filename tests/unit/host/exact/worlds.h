// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/call.h"
#include "host/element_types.h"
#include "host/exact/steps.h"
#include "reduce/combine.h"
#include "unit/host/values.h"

// Whole worlds of ranks that carry out a collective in steps, and a plain reduction in random order
// that carries out each step.
namespace tributary::host::exact::test {

using host::test::Elements;
using Random = std::mt19937_64;

template <typename T>
Elements elements_of(std::span<const T> values) {
  Elements bytes(values.size_bytes());
  if (!bytes.empty()) {
    std::memcpy(bytes.data(), values.data(), bytes.size());
  }
  return bytes;
}
template <typename T>
Elements elements_of(const std::vector<T>& values) {
  return elements_of(std::span<const T>(values));
}
template <typename T>
std::vector<T> values_of(const Elements& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) {
    std::memcpy(values.data(), bytes.data(), bytes.size());
  }
  return values;
}

// One call of the ranks, all in the same step.
class World {
 public:
  // `in` has the inputs by rank. In place the results replace the inputs.
  World(const Call& shape, std::vector<Elements> in, bool in_place = false)
      : in_(std::move(in)), out_(in_), scratch_(in_.size()) {
    const auto ranks = static_cast<std::uint32_t>(in_.size());
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      auto call = shape;
      call.buffers.in = in_place ? out_[rank].data() : in_[rank].data();
      call.buffers.out = out_[rank].data();
      steps_.emplace_back(call, rank, ranks, scratch_[rank]);
    }
  }

  // Carries out all steps, and returns the number of collectives.
  int carry_out(Random& random) {
    int carried = 0;
    for (auto calls = next(); !calls.empty(); calls = next()) {
      bring_together(calls, random);
      ++carried;
    }
    return carried;
  }
  const Elements& out(std::size_t rank) const { return out_[rank]; }
  const Elements& in(std::size_t rank) const { return in_[rank]; }

 private:
  // Returns the next step of all ranks, or nothing after the last.
  std::vector<Call> next() {
    for (;;) {
      std::vector<Call> calls;
      bool needed = false;
      for (auto& steps : steps_) {
        const auto step = steps.next();
        if (!step) {
          EXPECT_TRUE(calls.empty()) << "some ranks have more steps than others";
          continue;
        }
        EXPECT_TRUE(calls.empty() || step->needed == needed) << "ranks differ in what is needed";
        needed = step->needed;
        calls.push_back(step->call);
      }
      if (needed || calls.empty()) {
        return calls;
      }
    }
  }

  // Any two partial results may be the next ones that meet.
  static void bring_together(const std::vector<Call>& calls, Random& random) {
    const auto& shape = calls.front();
    std::vector<Elements> parts;
    for (const auto& call : calls) {
      ASSERT_EQ(call.buffers.count, shape.buffers.count);
      ASSERT_EQ(call.buffers.type, shape.buffers.type);
      ASSERT_EQ(call.buffers.op, shape.buffers.op);
      parts.emplace_back(call.buffers.in, call.buffers.in + call.buffers.bytes());
    }
    while (parts.size() > 1) {
      std::swap(parts[random() % parts.size()], parts.back());
      const auto one = std::move(parts.back());
      parts.pop_back();
      add(parts[random() % parts.size()], one, shape.buffers);
    }
    for (std::uint32_t rank = 0; rank < calls.size(); ++rank) {
      if (shape.collective == Collective::allreduce || shape.root == rank) {
        std::copy(parts[0].begin(), parts[0].end(), calls[rank].buffers.out);
      }
    }
  }
  static void add(Elements& sum, const Elements& part, const Buffers& shape) {
    host::test::with_type(shape.type, [&]<typename T>(T) {
      if constexpr (host::test::is_exact_type<T>) {
        for (std::size_t i = 0; i < shape.count; ++i) {
          const auto one = load<T>(sum.data(), i);
          store(sum.data(), i, reduce::combine(shape.op, one, load<T>(part.data(), i)));
        }
      } else {
        ADD_FAILURE() << "what is rounded has no place in a step";
      }
    });
  }

  std::vector<Elements> in_;
  std::vector<Elements> out_;
  std::vector<Scratch> scratch_;
  std::vector<Steps> steps_;
};

inline Call call_of(std::size_t count, wire::ElementType type,
                    wire::Operator op = wire::Operator::sum,
                    Collective collective = Collective::allreduce, std::uint32_t root = 0) {
  return {collective, {nullptr, nullptr, count, type, op}, root};
}

// Returns the result, after a check that all ranks have the same one.
inline Elements reduced(const Call& shape, const std::vector<Elements>& in,
                        std::uint64_t seed = 1) {
  Random random(seed);
  World world(shape, in, seed % 2 == 0);
  world.carry_out(random);
  for (std::size_t rank = 1; rank < in.size(); ++rank) {
    EXPECT_EQ(world.out(rank), world.out(0)) << "rank " << rank;
  }
  return world.out(0);
}

}  // namespace tributary::host::exact::test
