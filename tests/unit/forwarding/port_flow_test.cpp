// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/port_flow.h"

#include <gtest/gtest.h>

#include "forwarding/flow_plan.h"
#include "support/frames.h"
#include "unit/forwarding/start.h"

namespace tributary::forwarding {
namespace {

using namespace std::chrono_literals;

class PortFlows : public testing::Test {
 protected:
  PortFlows() {
    port_.mac = test::mac(1);
    port_.queue.rate_bps = 512'000'000;
    port_.flow.mode = FlowControl::pause;
    plan_ = plan_flow_control(std::vector{port_});
  }
  void fill() { buffers_[0].charge(0, plan_.ports[0].xoff + 1); }
  PortFlow flow() { return {{buffers_, 0, &pool_}, port_, plan_}; }
  // The PAUSE frame that the neighbour gets.
  static std::optional<wire::Pause> said(const PacketPtr& frame) {
    return frame ? wire::parse_pause(frame->bytes()) : std::nullopt;
  }

  HeapPacketPool pool_{1, 1600};
  std::vector<PortBuffer> buffers_ = std::vector<PortBuffer>(1);
  PortConfig port_;
  FlowPlan plan_;
};

TEST_F(PortFlows, SayWhatThePauseFrameOfThePortSays) {
  auto flow = this->flow();
  EXPECT_FALSE(flow.speak(start));
  fill();
  const auto frame = flow.speak(start);
  ASSERT_TRUE(said(frame));
  EXPECT_EQ(said(frame)->quanta.front(), plan_.ports[0].quanta);
  EXPECT_EQ(test::ethernet_of(*frame).source, test::mac(1));
  EXPECT_EQ(flow.deadline(), start + plan_.ports[0].again);
}

TEST_F(PortFlows, SayNothingWithoutAPoolOrABuffer) {
  fill();
  PortFlow mute({buffers_, 0, nullptr}, port_, plan_);
  EXPECT_FALSE(mute.speak(start));
  const auto last = pool_.allocate();
  auto flow = this->flow();
  EXPECT_FALSE(flow.speak(start));
}

TEST_F(PortFlows, HoldBackWhatIsInTheDeviceWhereTooMuchIsCharged) {
  const auto flow = this->flow();
  const auto& limits = plan_.ports[0];
  buffers_[0].charge(0, limits.full - 3 * limits.frame_bytes + 1);
  EXPECT_EQ(flow.room(), 2u);
  buffers_[0].charge(0, 2 * limits.frame_bytes - 1);
  EXPECT_EQ(flow.room(), 1u);
  buffers_[0].charge(0, 1);
  EXPECT_EQ(flow.room(), 0u);
  EXPECT_EQ(flow.charged_bytes(), limits.full - limits.frame_bytes + 1);
  buffers_[0].charge(0, limits.frame_bytes);
  EXPECT_EQ(flow.room(), 0u);
}

TEST_F(PortFlows, ForgetWhatWasAskedForWhenTheLinkIsCut) {
  auto flow = this->flow();
  fill();
  flow.speak(start);
  wire::Pause pause{.by_class = false, .classes = wire::all_classes, .quanta = {}};
  pause.quanta.fill(1000);
  flow.obey(pause, start);
  EXPECT_EQ(buffers_[0].silent(0), start + 1ms);
  flow.reset();
  EXPECT_EQ(buffers_[0].silent(0), Time{});
  EXPECT_EQ(flow.deadline(), never) << "nobody is silent on our account";
  EXPECT_TRUE(flow.speak(start)) << "who comes next has heard nothing";
}

TEST_F(PortFlows, DoNotObeyWhereFlowControlIsOff) {
  auto flow = this->flow();
  buffers_[0].charge(0, plan_.ports[0].full);
  port_.flow.mode = FlowControl::off;
  plan_.ports[0].mode = FlowControl::off;
  flow.reconfigure(port_, plan_);
  wire::Pause pause{.by_class = false, .classes = wire::all_classes, .quanta = {}};
  pause.quanta.fill(1000);
  flow.obey(pause, start);
  EXPECT_EQ(buffers_[0].silent(0), Time{});
  EXPECT_EQ(flow.room(), SIZE_MAX);
  EXPECT_FALSE(flow.speak(start));
}

TEST_F(PortFlows, TakeUpTheRateOfTheirLine) {
  auto flow = this->flow();
  port_.queue.rate_bps = 256'000'000;
  flow.reconfigure(port_, plan_);
  wire::Pause pause{.by_class = false, .classes = wire::all_classes, .quanta = {}};
  pause.quanta.fill(1000);
  flow.obey(pause, start);
  EXPECT_EQ(buffers_[0].silent(0), start + 2ms);
}

}  // namespace
}  // namespace tributary::forwarding
