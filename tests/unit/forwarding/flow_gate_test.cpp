// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/flow_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "forwarding/occupancy.h"
#include "support/frames.h"
#include "unit/forwarding/start.h"

namespace tributary::forwarding {
namespace {

using namespace std::chrono_literals;

constexpr PortIndex guarded = 1;
constexpr PortIndex unguarded = 2;
constexpr std::uint8_t class_7 = 56 << 2;

class FlowGates : public testing::Test {
 protected:
  PacketPtr frame(std::uint32_t bytes, PortIndex ingress, std::uint8_t tos = 0) {
    const test::Endpoints ends{test::mac(1), test::mac(2), test::Ip(10, 0, 0, 1),
                               test::Ip(10, 0, 0, 2)};
    auto packet = test::make_udp(pool_, ends, 1, 2, bytes - 14 - 20 - 8);
    test::ip_of(*packet).tos = tos;
    packet->ingress = ingress;
    packet->queued_at = start;
    return packet;
  }
  // The gate of the queue of port 0, in which 2,000 bytes are for traffic that is not guarded.
  FlowGate gate(FlowControl mode) {
    FlowPlan plan;
    plan.ports.resize(3);
    plan.ports[0].mode = plan.ports[guarded].mode = mode;
    plan.others_bytes = 2'000;
    plan.by_class = mode == FlowControl::pfc;
    return {buffers_, 0, plan};
  }
  void silence(std::uint8_t classes, Time until) {
    for (std::size_t priority = 0; priority < wire::priority_classes; ++priority) {
      if (((classes >> priority) & 1) != 0) {
        buffers_[0].silence(priority, until);
      }
    }
  }
  // Puts the packet into the queue, if there is room.
  bool put(FlowGate& gate, PacketPtr packet) {
    const bool fits = gate.admits(*packet);
    if (fits) {
      gate.charge(*packet);
      waiting_.push(std::move(packet));
    }
    return fits;
  }

  HeapPacketPool pool_{16, 1600};
  std::vector<PortBuffer> buffers_ = std::vector<PortBuffer>(3);
  PacketList waiting_;
  PauseCounters counters_;
};

TEST_F(FlowGates, HaveRoomAgainForWhatIsNotGuardedWhenSomeOfItHasGone) {
  for (const auto mode : {FlowControl::pause, FlowControl::pfc}) {
    auto gate = this->gate(mode);
    const auto bytes = mode == FlowControl::pfc ? 1'000u : 1'500u;
    for (int i = 0; i < 5; ++i) {
      EXPECT_TRUE(put(gate, frame(bytes, unguarded)));
      EXPECT_FALSE(put(gate, frame(bytes, unguarded)));
      EXPECT_TRUE(gate.next(waiting_));
    }
  }
}

TEST_F(FlowGates, HaveRoomAgainWhenWhatWasStoppedTooLongIsDropped) {
  auto gate = this->gate(FlowControl::pause);
  put(gate, frame(1'500, unguarded));
  silence(wire::all_classes, never);
  gate.look(start, counters_);
  EXPECT_TRUE(gate.overdue(start + pause_watchdog - 1ns, waiting_).empty());
  EXPECT_FALSE(gate.overdue(start + pause_watchdog, waiting_).empty());
  EXPECT_TRUE(put(gate, frame(1'500, unguarded)));
}

TEST_F(FlowGates, AreFullToTheLastByte) {
  auto gate = this->gate(FlowControl::pause);
  EXPECT_TRUE(put(gate, frame(1'000, unguarded)));
  EXPECT_TRUE(put(gate, frame(1'000, unguarded, class_7)));
  EXPECT_FALSE(put(gate, frame(60, unguarded)));
  EXPECT_TRUE(put(gate, frame(1'500, guarded))) << "which has room of its own";
}

TEST_F(FlowGates, TakeASmallFrameForTheBufferThatItTakes) {
  auto gate = this->gate(FlowControl::pause);
  int fit = 0;
  while (fit < 16 && put(gate, frame(60, unguarded))) {
    ++fit;
  }
  EXPECT_EQ(fit, static_cast<int>(2'000 / buffer_bytes_min));
  while (gate.next(waiting_)) {
  }
}

TEST_F(FlowGates, OfferTheirDeadlineForWhatMayGo) {
  auto gate = this->gate(FlowControl::pfc);
  const auto line = start + 7us;
  EXPECT_EQ(gate.deadline(waiting_, line), never);
  put(gate, frame(100, guarded));
  EXPECT_EQ(gate.deadline(waiting_, line), line);
  silence(wire::all_classes, start + 3ms);
  gate.look(start, counters_);
  EXPECT_EQ(gate.deadline(waiting_, line), start + 3ms) << "the silence ends";
  gate.put_urgent(frame(100, no_port));
  EXPECT_EQ(gate.deadline(waiting_, line), line);
  EXPECT_TRUE(gate.next(waiting_));
  silence(wire::all_classes, start + 60s);
  EXPECT_EQ(gate.deadline(waiting_, line), start + pause_watchdog) << "or it is overdue";
}

TEST_F(FlowGates, GiveUpAllFramesAndGoOnCounting) {
  auto before = gate(FlowControl::pfc);
  put(before, frame(100, guarded));
  silence(0x01, never);
  before.look(start, counters_);
  EXPECT_FALSE(before.next(waiting_));
  auto frames = before.take_all(waiting_);
  auto after = gate(FlowControl::pfc);
  after.inherit(before);
  put(after, frames.pop());
  EXPECT_TRUE(frames.empty());
  after.look(start + 4s, counters_);
  EXPECT_FALSE(after.next(waiting_));
  EXPECT_FALSE(after.overdue(start + pause_watchdog, waiting_).empty());
}

TEST_F(FlowGates, DropOnlyTheClassThatWasStoppedForTooLong) {
  auto gate = this->gate(FlowControl::pfc);
  put(gate, frame(100, guarded, class_7));
  put(gate, frame(200, guarded));
  silence(0x80, never);
  gate.look(start, counters_);
  silence(0x01, never);
  gate.look(start + 1s, counters_);
  EXPECT_FALSE(gate.next(waiting_));
  put(gate, frame(300, guarded, class_7));
  auto dropped = gate.overdue(start + pause_watchdog, waiting_);
  std::vector<std::uint32_t> lengths;
  while (const auto packet = dropped.pop()) {
    lengths.push_back(packet->length);
  }
  EXPECT_THAT(lengths, testing::UnorderedElementsAre(100, 300)) << "put aside, and behind";
  EXPECT_FALSE(gate.overdue(start + pause_watchdog + 1s, waiting_).empty());
  EXPECT_EQ(buffers_[guarded].bytes(), 0u);
}

TEST_F(FlowGates, CountTheTimeOfASilenceUpToItsEnd) {
  auto gate = this->gate(FlowControl::pause);
  silence(wire::all_classes, start + 3ms);
  gate.look(start, counters_);
  gate.look(start + 2ms, counters_);
  EXPECT_EQ(counters_.paused, 2ms);
  gate.look(start + 9ms, counters_);
  gate.look(start + 10ms, counters_);
  EXPECT_EQ(counters_.paused, 3ms);
  EXPECT_EQ(gate.opened(), start + 3ms);
}

}  // namespace
}  // namespace tributary::forwarding
