// SPDX-License-Identifier: BSD-3-Clause
#include "host/queue/fusion.h"

#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "lockstep.h"

namespace tributary::host::test {
namespace {

using Places = std::vector<std::size_t>;

Call of_type(Call call, wire::ElementType type) {
  call.buffers.type = type;
  return call;
}

TEST(Fuse, PutsAllreducesOfOneTypeAndOperatorTogether) {
  auto max = allreduce_of(4);
  max.buffers.op = wire::Operator::max;
  const std::vector<Call> calls{allreduce_of(4), max,
                                of_type(allreduce_of(4), wire::ElementType::i32), allreduce_of(6)};
  const auto batches = fuse(calls, 1024);
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(batches[0].calls, (Places{0, 3}));
  EXPECT_EQ(batches[0].bytes, 40u);
  EXPECT_EQ(batches[1].calls, Places{1});
  EXPECT_EQ(batches[2].calls, Places{2});
}

TEST(Fuse, KeepsToTheThreshold) {
  const std::vector<Call> calls{allreduce_of(4), allreduce_of(100), allreduce_of(4),
                                allreduce_of(4)};
  const auto batches = fuse(calls, 32);
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(batches[0].calls, (Places{0, 2}));
  EXPECT_EQ(batches[1].calls, Places{1});  // larger than the threshold
  EXPECT_EQ(batches[2].calls, Places{3});
  EXPECT_EQ(fuse(calls, 0).size(), 4u);
}

// Handlers may look at more than one element at a time.
TEST(Fuse, WhatHandlersCombineGoesAlone) {
  auto by_handler = allreduce_of(4);
  by_handler.buffers.op = wire::handler_operator(3);
  const std::vector<Call> calls{by_handler, by_handler, allreduce_of(4)};
  EXPECT_EQ(fuse(calls, 1024).size(), 3u);
}

TEST(Fuse, OtherCollectivesGoAlone) {
  auto broadcast = allreduce_of(4);
  broadcast.collective = Collective::broadcast;
  const std::vector<Call> calls{broadcast, broadcast, allreduce_of(4),
                                Call{Collective::barrier, {}, 0}, allreduce_of(4)};
  const auto batches = fuse(calls, 1024);
  ASSERT_EQ(batches.size(), 4u);
  EXPECT_EQ(batches[2].calls, (Places{2, 4}));
}

// In a vector together with other floats, sums may have other bits.
TEST(Fuse, ReproducibleSumsAndProductsOfFloatsGoAlone) {
  auto max = allreduce_of(4);
  max.buffers.op = wire::Operator::max;
  auto product = of_type(allreduce_of(4), wire::ElementType::f16);
  product.buffers.op = wire::Operator::prod;
  const auto integers = of_type(allreduce_of(4), wire::ElementType::i32);
  const std::vector<Call> calls{allreduce_of(4), allreduce_of(4), max,     max,
                                integers,        integers,        product, product};
  const auto batches = fuse(calls, 1024, true);
  ASSERT_EQ(batches.size(), 6u);
  EXPECT_EQ(batches[0].calls, Places{0});
  EXPECT_EQ(batches[1].calls, Places{1});
  EXPECT_EQ(batches[2].calls, (Places{2, 3}));
  EXPECT_EQ(batches[3].calls, (Places{4, 5}));
  EXPECT_EQ(fuse(calls, 1024).size(), 4u);
}

TEST(Fuse, ElementsGoToTheBufferAndResultsBack) {
  std::vector<float> first{1, 2, 3};
  const std::vector<float> second_in{4, 5};
  std::vector<float> second_out(2);
  const auto call_on = [](const std::vector<float>& in, std::vector<float>& out) {
    auto call = allreduce_of(in.size());
    call.buffers.in = reinterpret_cast<const std::byte*>(in.data());
    call.buffers.out = reinterpret_cast<std::byte*>(out.data());
    return call;
  };
  const std::vector<Call> calls{call_on(first, first), allreduce_of(0),
                                call_on(second_in, second_out)};
  const auto batches = fuse(calls, 1024);
  ASSERT_EQ(batches.size(), 1u);
  std::vector<std::byte> buffer;
  const auto all = gather(calls, batches[0], buffer);
  EXPECT_EQ(all.collective, Collective::allreduce);
  EXPECT_EQ(all.buffers.count, 5u);
  EXPECT_EQ(all.buffers.in, all.buffers.out);
  auto* const values = reinterpret_cast<float*>(buffer.data());
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(values[i], static_cast<float>(i + 1));
    values[i] *= 10;
  }
  scatter(buffer, calls, batches[0]);
  EXPECT_EQ(first, (std::vector<float>{10, 20, 30}));
  EXPECT_EQ(second_out, (std::vector<float>{40, 50}));
}

}  // namespace
}  // namespace tributary::host::test
