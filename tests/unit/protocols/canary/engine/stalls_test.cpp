// SPDX-License-Identifier: BSD-3-Clause
#include "fixture.h"

namespace tributary::canary {
namespace {

const wire::Ipv4Address stalled_leader{10, 0, 0, 99};
using Ranks = std::vector<std::uint16_t>;

class Stalls : public CanaryTest {
 protected:
  // The leader's answer to worker 1, which asked for a block.
  static CanarySpec pending(std::uint32_t id) {
    auto spec = worker(1);
    spec.kind = wire::CanaryKind::pending;
    spec.type = wire::ElementType::i16;
    spec.id = id;
    spec.hosts = 8;
    spec.counter = 5;
    spec.destination = worker(1).child_address;
    spec.child_address = stalled_leader;
    return spec;
  }
  void note(std::uint32_t id, const Ranks& missing, Time now) {
    EXPECT_EQ(feed(pending(id), missing, now).size(), 1u) << "it passes";
  }
  std::vector<engine::StallStatus> stalled(Time now) { return engine->stalled(now, 1000); }
};

TEST_F(Stalls, PendingNamesBlockLeaderAndRanks) {
  note(wire::canary_id(42, 2), Ranks{3, 260}, Time{1s});
  const auto rows = stalled(Time{1s} + 200ms);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].job, 7u);
  EXPECT_EQ(rows[0].block, 42u);
  EXPECT_EQ(rows[0].attempt, 2u);
  EXPECT_EQ(rows[0].leader, stalled_leader);
  EXPECT_EQ(rows[0].contributions, 5u);
  EXPECT_EQ(rows[0].hosts, 8u);
  EXPECT_EQ(rows[0].waiting, 200ms);
  EXPECT_EQ(rows[0].missing, (Ranks{3, 260}));
}

TEST_F(Stalls, NewestNoteCountsAndTheBlockWaitsSinceTheFirst) {
  note(wire::canary_id(42, 0), Ranks{2, 3, 4}, Time{1s});
  note(wire::canary_id(42, 1), Ranks{3}, Time{2s});
  const auto rows = stalled(Time{2s});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].missing, (Ranks{3}));
  EXPECT_EQ(rows[0].attempt, 1u);
  EXPECT_EQ(rows[0].waiting, 1s);
}

TEST(StallTable, ForgetsWhatExpired) {
  StallTable stalls;
  wire::CanaryHeader header;
  header.kind = wire::CanaryKind::pending;
  for (std::uint32_t id = 0; id < 2 * StallTable::entries_max; ++id) {
    header.id = id;
    stalls.note(header, {}, stalled_leader, Time{1s});
  }
  header.id = 7;
  stalls.note(header, {}, stalled_leader, Time{2s});
  stalls.expire(Time{1s} + StallTable::lifetime - 1ns);
  EXPECT_EQ(stalls.rows(Time{1s}).size(), StallTable::entries_max);
  stalls.expire(Time{1s} + StallTable::lifetime);
  EXPECT_EQ(stalls.rows(Time{1s}).size(), 1u);
  stalls.expire(Time{2s} + StallTable::lifetime);
  EXPECT_TRUE(stalls.empty());
}

TEST_F(Stalls, NotesExpire) {
  note(42, Ranks{3}, Time{1s});
  EXPECT_EQ(stalled(Time{4s} - 1ns).size(), 1u);
  EXPECT_TRUE(stalled(Time{4s}).empty());
  note(42, Ranks{3}, Time{5s});
  EXPECT_EQ(stalled(Time{6s}).at(0).waiting, 1s) << "a new stall";
}

TEST_F(Stalls, ResultThatPassesEndsThemWhateverTheAttempt) {
  note(wire::canary_id(42, 0), Ranks{3}, Time{});
  note(43, Ranks{3}, Time{});
  auto result = worker(1);
  result.kind = wire::CanaryKind::result;
  result.id = wire::canary_id(42, 1);
  result.counter = result.hosts;
  feed(result, Ints{1}, Time{});
  const auto rows = stalled(Time{});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].block, 43u);
}

TEST_F(Stalls, ResultForThisSwitchEndsThemToo) {
  auto first = worker(0);
  first.id = 42;
  feed(first, Ints{1});
  harness->expire(Time{1ms});
  note(42, Ranks{3}, Time{});
  feed(as_result(first), Ints{1});
  EXPECT_TRUE(stalled(Time{1s}).empty());
}

// A release ends one attempt, and the block may still wait under the next.
TEST_F(Stalls, ReleaseDoesNotEndThem) {
  auto first = worker(0);
  first.id = 42;
  feed(first, Ints{1});
  harness->expire(Time{1ms});
  note(42, Ranks{3}, Time{});
  auto release = as_result(first);
  release.kind = wire::CanaryKind::release;
  release.counter = 0;
  EXPECT_EQ(feed(release, Ints{}).size(), 1u) << "to the child";
  release.destination = worker(1).child_address;
  EXPECT_EQ(feed(release, Ints{}).size(), 1u) << "it passes";
  EXPECT_EQ(harness->figure("descriptors_in_use"), 0u);
  EXPECT_EQ(stalled(Time{300ms}).size(), 1u);
}

TEST_F(Stalls, FewRowsAreThoseThatWaitLongest) {
  note(1, Ranks{3}, Time{2s});
  note(2, Ranks{3}, Time{});
  note(3, Ranks{3}, Time{1s});
  note(2, Ranks{3}, Time{2s});
  const auto rows = engine->stalled(Time{2s}, 2);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].block, 2u);
  EXPECT_EQ(rows[1].block, 3u);
}

TEST_F(Stalls, FailureEndsThem) {
  note(42, Ranks{3}, Time{});
  auto failure = worker(1);
  failure.kind = wire::CanaryKind::failure;
  failure.counter = 0;
  failure.id = wire::canary_id(42, 1);
  feed(failure, Ints{}, Time{});
  EXPECT_TRUE(stalled(Time{}).empty());
}

TEST_F(Stalls, TooManyRanksAreCutAndOtherTypesAreNoRanks) {
  note(1, Ranks(100, 9), Time{});
  EXPECT_EQ(stalled(Time{}).at(0).missing.size(), Stall::missing_max);
  auto spec = pending(2);
  spec.type = wire::ElementType::i32;
  feed(spec, Ints{1, 2, 3}, Time{});
  const auto rows = stalled(Time{});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_TRUE(rows[1].missing.empty());
}

TEST_F(Stalls, TableIsBoundedAndTheOneHeardOfLongestAgoMakesRoom) {
  for (std::uint32_t id = 0; id < StallTable::entries_max + 10; ++id) {
    note(id, Ranks{3}, Time{id * 1ms});
  }
  auto rows = stalled(Time{300ms});
  ASSERT_EQ(rows.size(), StallTable::entries_max);
  for (const auto& row : rows) {
    EXPECT_GE(row.block, 10u);
  }
  EXPECT_EQ(engine->stalled(Time{300ms}, 3).size(), 3u);
}

TEST_F(Stalls, DescriptorsThatWaitLongAreStalledForUnknownReasons) {
  auto spec = worker(0);
  spec.id = wire::canary_id(42, 1);
  feed(spec, Ints{1});
  harness->expire(Time{1ms});
  EXPECT_TRUE(stalled(Time{100ms}).empty());
  const auto rows = stalled(Time{300ms});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].block, 42u);
  EXPECT_EQ(rows[0].attempt, 1u);
  EXPECT_EQ(rows[0].leader, spec.destination);
  EXPECT_EQ(rows[0].contributions, 1u);
  EXPECT_EQ(rows[0].hosts, 4u);
  EXPECT_EQ(rows[0].waiting, 300ms);
  EXPECT_TRUE(rows[0].missing.empty());
}

TEST_F(Stalls, NoteAndDescriptorOfOneBlockAreOneRow) {
  auto spec = worker(0);
  spec.id = 42;
  feed(spec, Ints{1});
  harness->expire(Time{1ms});
  note(42, Ranks{3}, Time{200ms});
  const auto rows = stalled(Time{300ms});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].missing, (Ranks{3}));
  EXPECT_EQ(rows[0].waiting, 300ms) << "the descriptor is older than the note";
}

// The result to this switch was lost; the leader answered the workers, which asked.
TEST_F(Stalls, DescriptorOfABlockThatIsDoneIsNotStalled) {
  for (const std::uint32_t attempt : {0u, 1u, 2u}) {
    auto spec = worker(0);
    spec.id = wire::canary_id(42, attempt);
    feed(spec, Ints{1});
  }
  harness->expire(Time{1ms});
  EXPECT_EQ(stalled(Time{300ms}).size(), 3u);
  auto answer = worker(0);
  answer.kind = wire::CanaryKind::result;
  answer.id = wire::canary_id(42, 2);
  answer.counter = answer.hosts;
  answer.destination = worker(0).child_address;
  feed(answer, Ints{1});
  EXPECT_TRUE(stalled(Time{300ms}).empty());
  EXPECT_EQ(harness->figure("descriptors_in_use"), 3u);
}

}  // namespace
}  // namespace tributary::canary
