// SPDX-License-Identifier: BSD-3-Clause
#include "host/cube/schedule.h"

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/object_bytes.h"
#include "support/cube_world.h"
#include "unit/host/values.h"

namespace tributary::host::test {
namespace {

using Kind = CubeLayout::Kind;
using testing::HasSubstr;
using wire::ElementType;
using wire::Operator;

struct Shape {
  Kind kind;
  std::uint32_t ranks;
  std::uint32_t interfaces;
};

// An allreduce in memory, in which every rank moves a random number of bytes at a time.
class MemoryCube {
 public:
  MemoryCube(const Shape& shape, std::size_t count, ElementType type, Operator op, bool in_place)
      : count_(count), type_(type), op_(op) {
    for (std::uint32_t rank = 0; rank < shape.ranks; ++rank) {
      in_.push_back(input(rank, count, type, op));
      out_.push_back(in_place ? in_.back() : Elements(in_.back().size()));
    }
    world_ = std::make_unique<CubeWorld>(shape.kind, shape.ranks, shape.interfaces);
    for (std::uint32_t rank = 0; rank < shape.ranks; ++rank) {
      const auto* const from = in_place ? out_[rank].data() : in_[rank].data();
      world_->begin(rank, {from, out_[rank].data(), count, type, op});
    }
  }

  bool run(std::size_t most, unsigned seed = 11) {
    std::mt19937 random(seed);
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t rank = 0; rank < world_->size(); ++rank) {
        for (std::size_t stream = 0; stream < world_->streams(rank); ++stream) {
          moved |= world_->send(rank, stream, 1 + random() % most) != 0;
          moved |= world_->receive(rank, stream, 1 + random() % most) != 0;
        }
      }
    }
    bool finished = true;
    for (std::size_t rank = 0; rank < world_->size(); ++rank) {
      finished = finished && world_->finished(rank);
    }
    return finished;
  }

  std::size_t wrong() const {
    std::size_t sum = 0;
    for (const auto& vector : out_) {
      sum += wrong_elements(vector, static_cast<std::uint32_t>(out_.size()), count_, type_, op_);
    }
    return sum;
  }
  const std::vector<Elements>& results() const { return out_; }
  CubeWorld& world() { return *world_; }

 private:
  std::vector<Elements> in_;
  std::vector<Elements> out_;
  std::unique_ptr<CubeWorld> world_;
  std::size_t count_;
  ElementType type_;
  Operator op_;
};

class CubeShapes : public testing::TestWithParam<Shape> {};
INSTANTIATE_TEST_SUITE_P(Shapes, CubeShapes,
                         testing::Values(Shape{Kind::bcube, 4, 2}, Shape{Kind::bcube, 9, 2},
                                         Shape{Kind::bcube, 16, 2}, Shape{Kind::bcube, 8, 3},
                                         Shape{Kind::bcube, 3, 1}, Shape{Kind::mesh, 5, 1},
                                         Shape{Kind::mesh, 2, 2}, Shape{Kind::mesh, 6, 3}));

TEST_P(CubeShapes, ReduceEveryLength) {
  for (const std::size_t count : {1, 2, 7, 8, 9, 17, 997}) {
    for (const bool in_place : {false, true}) {
      MemoryCube cube(GetParam(), count, ElementType::f32, Operator::sum, in_place);
      EXPECT_TRUE(cube.run(13)) << count;
      EXPECT_EQ(cube.wrong(), 0u) << count;
    }
  }
}

// The bits do not depend on who was faster, and are the same on all ranks.
TEST_P(CubeShapes, HaveTheSameBitsEveryTime) {
  MemoryCube once(GetParam(), 20011, ElementType::f32, Operator::sum, false);
  MemoryCube again(GetParam(), 20011, ElementType::f32, Operator::sum, true);
  ASSERT_TRUE(once.run(3000, 1));
  ASSERT_TRUE(again.run(90000, 2));
  for (const auto& vector : once.results()) {
    EXPECT_EQ(vector, once.results().front());
  }
  EXPECT_EQ(once.results(), again.results());
}

// A rank sends 2 (n - 1)/n of a vector in all, as in a ring, but each interface has its share of
// it.
TEST_P(CubeShapes, SendEachByteOnceOverOneInterface) {
  const auto& [kind, ranks, interfaces] = GetParam();
  const std::size_t share = 64;  // elements
  MemoryCube cube(GetParam(), share * ranks * interfaces, ElementType::f32, Operator::sum, true);
  ASSERT_TRUE(cube.run(400));
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (std::uint32_t interface = 0; interface < interfaces; ++interface) {
      EXPECT_EQ(cube.world().bytes_sent(rank, interface), 2 * (ranks - 1) * share * sizeof(float));
    }
  }
}

TEST(CubeSchedule, ReducesEveryTypeWithEveryOperator) {
  for (std::size_t type = 0; type < wire::element_type_count; ++type) {
    for (std::size_t op = 0; op < wire::operator_count; ++op) {
      const auto element_type = static_cast<ElementType>(type);
      const auto reduced = static_cast<Operator>(op);
      if (!wire::is_valid(element_type, reduced)) {
        continue;
      }
      MemoryCube cube({Kind::bcube, 4, 2}, 211, element_type, reduced, false);
      EXPECT_TRUE(cube.run(29));
      EXPECT_EQ(cube.wrong(), 0u) << name(element_type) << " " << name(reduced);
    }
  }
}

TEST(CubeFrames, RanksThatDisagreeFindOut) {
  std::vector<float> values(600);
  CubeWorld world(Kind::bcube, 4, 2);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    auto* const at = std::as_writable_bytes(std::span(values)).data() + rank * 400;
    world.begin(rank, {at, at, rank == 3 ? 99u : 100u, ElementType::f32, Operator::sum});
  }
  for (int round = 0; round < 100; ++round) {
    for (std::size_t rank = 0; rank < 4; ++rank) {
      for (std::size_t stream = 0; stream < 2; ++stream) {
        world.send(rank, stream, 1000);
        world.receive(rank, stream, 1000);
      }
    }
  }
  for (std::size_t rank = 0; rank < 4; ++rank) {
    ASSERT_TRUE(world.failure(rank)) << rank;
    EXPECT_EQ(world.failure(rank)->code, Error::Code::mismatch);
    EXPECT_THAT(world.failure(rank)->message, HasSubstr("is in another collective"));
  }
}

// A rank that is no neighbour of the failed one hears of the failure through others.
TEST(CubeFrames, LastWordsGoRound) {
  MemoryCube cube({Kind::bcube, 9, 2}, 90000, ElementType::f32, Operator::sum, true);
  cube.world().send(4, 0, 30000);  // a frame is cut
  cube.world().receive(3, 0, 100);
  cube.world().fail(4, {Error::Code::network, "rank 4 over eth1: no carrier"});
  cube.run(5000);
  for (std::size_t rank = 0; rank < 9; ++rank) {
    ASSERT_TRUE(cube.world().failure(rank)) << rank;
    EXPECT_EQ(cube.world().failure(rank)->message, "rank 4 over eth1: no carrier");
    EXPECT_EQ(cube.world().failure(rank)->code, Error::Code::network);
  }
}

// A rank that has all that it needs of a neighbour hears of its failure in a call that others
// delay.
TEST(CubeFrames, LastWordsAreHeardBehindAllElements) {
  MemoryCube cube({Kind::bcube, 4, 2}, 1000, ElementType::f32, Operator::sum, true);
  cube.world().cut_stream(0, 0);  // between 0 and 1
  cube.run(5000);
  EXPECT_FALSE(cube.world().failure(2));
  cube.world().fail(0, {Error::Code::network, "rank 0 over eth0: no carrier"});
  cube.run(5000);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    ASSERT_TRUE(cube.world().failure(rank)) << rank;
    EXPECT_EQ(cube.world().failure(rank)->message, "rank 0 over eth0: no carrier");
  }
}

// A rank that has finished begins the next call while others are still in this one.
TEST(CubeFrames, TheNextCallMayComeEarly) {
  std::vector<float> values(4 * 100, 1.0f);
  CubeWorld world(Kind::mesh, 2, 1);
  const auto buffers = [&](std::size_t rank) {
    auto* const at = std::as_writable_bytes(std::span(values)).data() + rank * 400;
    return Buffers{at, at, 100, ElementType::f32, Operator::sum};
  };
  const auto move = [&](std::size_t rank) {
    for (int i = 0; i < 20; ++i) {
      world.receive(rank, 0, 1000);
      world.send(rank, 0, 1000);
    }
  };
  world.begin(0, buffers(0));
  world.begin(1, buffers(1));
  move(0);
  move(1);
  move(0);
  ASSERT_TRUE(world.finished(0));
  world.begin(0, buffers(2));
  move(0);
  move(1);
  ASSERT_TRUE(world.finished(1));
  world.begin(1, buffers(3));
  move(1);
  move(0);
  move(1);
  EXPECT_TRUE(world.finished(0));
  EXPECT_TRUE(world.finished(1));
  EXPECT_EQ(values, std::vector<float>(400, 2.0f));
}

TEST(CubeFrames, NonsenseIsRefused) {
  std::vector<float> values(4);
  auto* const at = std::as_writable_bytes(std::span(values)).data();
  const Buffers buffers{at, at, 4, ElementType::f32, Operator::sum};
  CubeSchedule schedule(buffers, *CubeLayout::of(Kind::bcube, 0, 4, 2));
  const auto mine = RingAnnouncement::of(RingAnnouncement::Kind::allreduce, buffers, 0);
  for (const auto kind : {CubeFrame::Kind::elements, CubeFrame::Kind::announcement,
                          CubeFrame::Kind::failure, static_cast<CubeFrame::Kind>(9)}) {
    CubeHeader header;
    CubeReader reader(schedule, 0, mine, header);
    CubeFrame frame;
    frame.kind = kind;
    frame.bytes = 5000;
    std::ranges::copy(bytes_of(frame), reader.receivable().begin());
    const auto taken = reader.received(sizeof frame, "rank 1");
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().code, Error::Code::mismatch);
  }
}

}  // namespace
}  // namespace tributary::host::test
