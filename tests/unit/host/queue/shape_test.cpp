// SPDX-License-Identifier: BSD-3-Clause
#include "host/queue/shape.h"

#include <gtest/gtest.h>

namespace tributary::host {
namespace {

using wire::ElementType;
using wire::Operator;

TEST(Shape, IsWhatRanksHaveToPostAlike) {
  std::byte mine{};
  std::byte others{};
  const Call call{Collective::reduce, {&mine, &mine, 8, ElementType::i32, Operator::max}, 2};
  EXPECT_EQ(shape_of(call), (Shape{Collective::reduce, ElementType::i32, Operator::max, 2, 8}));
  auto alike = call;
  alike.buffers.in = alike.buffers.out = &others;
  EXPECT_EQ(shape_of(call), shape_of(alike));
  for (const int what : {0, 1, 2, 3, 4}) {
    auto other = call;
    other.collective = what == 0 ? Collective::allreduce : call.collective;
    other.buffers.type = what == 1 ? ElementType::f32 : call.buffers.type;
    other.buffers.op = what == 2 ? Operator::sum : call.buffers.op;
    other.root = what == 3 ? 1 : call.root;
    other.buffers.count = what == 4 ? 9 : call.buffers.count;
    EXPECT_NE(shape_of(call), shape_of(other)) << what;
  }
}

TEST(Shape, IsToldWithWhatItsCollectiveHas) {
  Shape shape{Collective::allreduce, ElementType::f32, Operator::sum, 2, 100};
  EXPECT_EQ(to_string(shape), "allreduce of 100 f32, sum");
  shape.collective = Collective::reduce;
  EXPECT_EQ(to_string(shape), "reduce of 100 f32, sum, to rank 2");
  shape.collective = Collective::broadcast;
  EXPECT_EQ(to_string(shape), "broadcast of 100 f32 from rank 2");
  shape.collective = Collective::barrier;
  EXPECT_EQ(to_string(shape), "barrier");
}

}  // namespace
}  // namespace tributary::host
