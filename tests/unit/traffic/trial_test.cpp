// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/trial.h"

#include <gtest/gtest.h>

#include "support/frames.h"

namespace tributary::traffic {
namespace {

using namespace std::chrono_literals;
using Phase = Trial::Phase;

// Traffic that sends as much as it may; nothing comes back until the test says so.
class OneWay : public Traffic {
 public:
  void send(std::size_t most, Time /*now*/, Pacer& pacer, Outbox& out) override {
    for (std::size_t i = 0; i < most && !is_closed() && pacer.ready(); ++i) {
      auto packet = test::make_frame(pool_, test::mac(1), test::mac(2), 0x88b5, 50);
      charge(*packet, pacer);
      ++counters_.begun;
      out[0].push(std::move(packet));
    }
  }
  void receive(PacketList arrivals, std::size_t, Time, Outbox&) override {
    while (arrivals.pop()) {
      ++counters_.done;
    }
  }
  std::uint64_t under_way() const override { return counters_.begun - counters_.done; }
  std::vector<Figure> figures() const override { return {{"epochs", epochs_}}; }

 private:
  void epoch_begins() override { ++epochs_; }

  HeapPacketPool pool_{64, 256};
  std::uint64_t epochs_ = 0;
};

class TrialTest : public testing::Test {
 protected:
  // Does a round of one frame; with `answered` the frames sent before come back first.
  void round(Trial& trial, Time now, bool answered = true) {
    if (answered) {
      traffic_.receive(std::move(out_[0]), 0, now, out_);
      out_[0] = {};
    }
    trial.run(1, now, out_);
  }

  const Time begin_ = Time{} + 100s;
  OneWay traffic_;
  Outbox out_ = Outbox(1);
};

TEST_F(TrialTest, WarmsUpMeasuresAndWaitsForWhatIsUnderWay) {
  TrialPlan plan;
  plan.warm_up = 1s;
  plan.duration = 2s;
  Trial trial(traffic_, plan, begin_);
  round(trial, begin_);
  round(trial, begin_ + 1s - 1ns);
  EXPECT_EQ(trial.phase(), Phase::warm_up);
  round(trial, begin_ + 1s);
  EXPECT_EQ(trial.phase(), Phase::measure);
  EXPECT_EQ(traffic_.counters().packets, 1u) << "what warmed up does not count";
  round(trial, begin_ + 3s - 1ns);
  EXPECT_EQ(trial.phase(), Phase::measure);
  round(trial, begin_ + 3s, false);
  EXPECT_EQ(trial.phase(), Phase::drain);
  EXPECT_EQ(traffic_.counters().packets, 2u) << "nothing begins any more";
  round(trial, begin_ + 3s + 1ms);
  EXPECT_EQ(trial.phase(), Phase::done);
  EXPECT_EQ(trial.deadline(), never);
  const auto result = trial.result(begin_ + 10s);
  EXPECT_EQ(result.seconds, 2);
  EXPECT_EQ(result.packets_per_second(), 1);
  EXPECT_EQ(result.lost(), 0u);
  EXPECT_FALSE(result.cut_short);
}

TEST_F(TrialTest, WaitsForWhatIsLostNoLongerThanItMay) {
  TrialPlan plan;
  plan.duration = 1s;
  plan.drain = 2s;
  Trial trial(traffic_, plan, begin_);
  round(trial, begin_);
  round(trial, begin_ + 1s, false);
  EXPECT_EQ(trial.deadline(), begin_ + 3s);
  round(trial, begin_ + 3s - 1ns, false);
  EXPECT_EQ(trial.phase(), Phase::drain);
  round(trial, begin_ + 3s, false);
  EXPECT_EQ(trial.phase(), Phase::done);
  EXPECT_EQ(trial.result(begin_ + 3s).lost(), 1u);
  EXPECT_EQ(trial.result(begin_ + 3s).loss(), 1);
}

TEST_F(TrialTest, EndsWhenSoManyPacketsWereSent) {
  TrialPlan plan;
  plan.packets = 5;
  Trial trial(traffic_, plan, begin_);
  trial.run(3, begin_, out_);
  trial.run(3, begin_ + 1ms, out_);
  EXPECT_EQ(traffic_.counters().packets, 5u) << "not one more";
  trial.run(3, begin_ + 2ms, out_);
  EXPECT_EQ(trial.phase(), Phase::drain);
  EXPECT_NEAR(trial.result(begin_ + 1s).seconds, 0.002, 1e-9);
}

TEST_F(TrialTest, IsCutShortByStop) {
  Trial trial(traffic_, {}, begin_);
  round(trial, begin_);
  trial.stop(begin_ + 1s);
  EXPECT_EQ(trial.phase(), Phase::drain);
  EXPECT_EQ(trial.result(begin_ + 9s).seconds, 1);
  EXPECT_TRUE(trial.result(begin_ + 9s).cut_short);
  round(trial, begin_ + 1s, false);
  EXPECT_EQ(trial.phase(), Phase::drain);
  trial.stop(begin_ + 1s);
  round(trial, begin_ + 1s, false);
  EXPECT_EQ(trial.phase(), Phase::done) << "who stops twice does not wait";
}

TEST_F(TrialTest, LeavesItsWarmUpByStop) {
  TrialPlan plan;
  plan.warm_up = 10s;
  Trial trial(traffic_, plan, begin_);
  round(trial, begin_);
  EXPECT_EQ(trial.deadline(), begin_) << "the pacer is ready";
  trial.stop(begin_ + 1s);
  EXPECT_EQ(trial.phase(), Phase::drain);
  EXPECT_EQ(trial.result(begin_ + 1s).counters.packets, 0u);
}

TEST(TrialResult, ReachesSoMuchOfTheRateThatWasAskedFor) {
  TrialResult result;
  result.seconds = 2;
  result.counters.packets = 100;
  result.counters.line_bytes = 8'400;
  EXPECT_EQ(result.reached(), 1) << "without a limit";
  result.rate = {Rate::Unit::packets, 200};
  EXPECT_EQ(result.reached(), 0.25);
  result.rate = {Rate::Unit::line_bits, 67'200};
  EXPECT_EQ(result.reached(), 0.5);
  result.seconds = 0;
  EXPECT_EQ(result.packets_per_second(), 0);
}

}  // namespace
}  // namespace tributary::traffic
