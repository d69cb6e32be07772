// SPDX-License-Identifier: BSD-3-Clause
// Tests flow control between switches in virtual time, with drivers that poll from time to time,
// and cables between them.
#include <algorithm>
#include <array>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "forwarding/flow_plan.h"
#include "forwarding/port.h"
#include "support/frames.h"
#include "switch/switch.h"

namespace tributary::switching {
namespace {

using namespace std::chrono_literals;
using forwarding::FlowControl;
using forwarding::Port;
using forwarding::PortConfig;

constexpr std::uint32_t full_frame = 1226;  // 1250 on the line
constexpr std::size_t device_ring = 512;
constexpr std::size_t burst = 32;
constexpr std::uint8_t cs7 = 56 << 2;

PortConfig port(const std::string& name, std::uint64_t rate, FlowControl mode) {
  PortConfig config;
  config.name = name;
  config.mac = test::mac(static_cast<std::uint8_t>(name.back()), 9);
  config.queue.rate_bps = rate;
  config.queue.ecn_threshold_packets = 0;
  config.flow.mode = mode;
  return config;
}

// A bridge of one core, its devices, and their driver.
class Node {
 public:
  struct End {
    Node* node = nullptr;
    PortIndex port = 0;
  };

  Node(std::vector<PortConfig> ports, PacketPool& pool)
      : pool_(pool), buffers_(ports.size()), rings_(ports.size()), peers_(ports.size()) {
    config_.id = 1;
    config_.table_seed = 1;
    config_.ports = std::move(ports);
    for (const auto& port : config_.ports) {
      ports_.emplace_back(port);
    }
    reload();
  }

  // Frames for this MAC address leave by that port.
  void station(const wire::MacAddress& mac, PortIndex port) {
    config_.fdb.push_back({mac, config_.ports[port].name});
  }
  void start() { switch_ = std::make_unique<Switch>(config_, CoreShare{}, pool_); }
  void join(PortIndex port, Node& peer, PortIndex peer_port) {
    peers_[port] = {&peer, peer_port};
    peer.peers_[peer_port] = {this, port};
  }
  void reload() {
    const auto plan = plan_flow_control(config_.ports);
    for (PortIndex i = 0; i < ports_.size(); ++i) {
      ports_[i].reconfigure(config_.ports[i]);
      ports_[i].control_flow({buffers_, i, &pool_}, config_.ports[i], plan);
    }
  }

  // Gives the device a frame that comes out of the cable.
  void arrive(PortIndex port, PacketPtr frame) {
    if (rings_[port].size() >= device_ring) {
      ++missed;
      return;
    }
    rings_[port].push(std::move(frame));
  }
  // Runs the driver until there is nothing to do.
  void run(Time now) {
    bool worked = true;
    while (worked) {
      worked = run_ports(now);
      worked |= receive(now);
      worked |= run_ports(now);
    }
  }

  const Port& port(PortIndex port) const { return ports_[port]; }
  Port& port(PortIndex port) { return ports_[port]; }
  SwitchConfig& config() { return config_; }
  const Switch& logical() const { return *switch_; }
  std::uint64_t charged() const {
    std::uint64_t bytes = 0;
    for (const auto& buffer : buffers_) {
      bytes += buffer.bytes();
    }
    return bytes;
  }
  void clear() {
    for (auto& port : ports_) {
      port.clear();
    }
    for (auto& ring : rings_) {
      ring.clear();
    }
  }

  std::uint64_t missed = 0;  // by devices
  // Frames that left, by TOS: `crossed` by ports with a peer, `left` by ports without.
  std::map<std::uint8_t, std::uint64_t> crossed, left;

 private:
  bool run_ports(Time now) {
    bool worked = false;
    for (PortIndex i = 0; i < ports_.size(); ++i) {
      PacketList out;
      ports_[i].dequeue(now, out, burst);
      worked |= !out.empty();
      while (auto frame = out.pop()) {
        const auto& peer = peers_[i];
        if (!wire::parse_pause(frame->bytes())) {
          ++(peer.node != nullptr ? crossed : left)[test::ip_of(*frame).tos];
        }
        if (peer.node != nullptr) {
          peer.node->arrive(peer.port, std::move(frame));
        }
      }
    }
    return worked;
  }

  bool receive(Time now) {
    PacketList ready;
    for (PortIndex i = 0; i < ports_.size(); ++i) {
      for (auto most = std::min<std::size_t>(ports_[i].room(), burst);
           most > 0 && !rings_[i].empty(); --most) {
        auto frame = rings_[i].pop();
        frame->ingress = i;
        ports_[i].arrive(PacketList(std::move(frame)), now, ready);
      }
      if (rings_[i].empty() || ports_[i].room() == 0) {
        ports_[i].hear(now);
      }
    }
    if (ready.empty()) {
      return false;
    }
    Output output;
    switch_->receive(std::move(ready), now, output);
    output.departures.drain([&](std::uint32_t egress, PacketList run) {
      while (auto frame = run.pop()) {
        ports_[egress].enqueue(std::move(frame), now);
      }
    });
    while (const auto frame = output.controls.pop()) {
      ports_[frame->ingress].obey(*frame, now);
    }
    return true;
  }

  PacketPool& pool_;
  SwitchConfig config_;
  std::vector<forwarding::PortBuffer> buffers_;
  std::vector<Port> ports_;
  std::vector<PacketList> rings_;
  std::vector<End> peers_;
  std::unique_ptr<Switch> switch_;
};

// Senders, each a switch that a host feeds as fast as its up-link takes, before one switch with a
// slow line to the receiver.
class FlowControlTest : public testing::Test {
 protected:
  static constexpr std::uint64_t slow = 100'000'000;  // 10,000 full frames in a second
  static constexpr PortIndex feed = 0, up = 1;        // of a sender

  void build(FlowControl mode, std::size_t senders, std::vector<std::uint64_t> lines = {slow},
             std::uint32_t queue_bytes = 4 << 20) {
    std::vector<PortConfig> ports;
    for (std::size_t i = 0; i < senders; ++i) {
      ports.push_back(port("in" + std::to_string(i), fast_, mode));
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
      ports.push_back(port("out" + std::to_string(i), lines[i], FlowControl::off));
    }
    for (auto& config : ports) {
      config.queue.capacity_bytes = queue_bytes;
    }
    senders_ = senders;
    last_ = std::make_unique<Node>(std::move(ports), pool_);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      last_->station(receiver(i), static_cast<PortIndex>(senders + i));
    }
    last_->start();
    for (std::size_t i = 0; i < senders; ++i) {
      auto& node = *first_.emplace_back(std::make_unique<Node>(
          std::vector{port("feed", 0, FlowControl::off), port("up", fast_, mode)}, pool_));
      for (std::size_t line = 0; line < lines.size(); ++line) {
        node.station(receiver(line), up);
      }
      node.start();
      node.join(up, *last_, static_cast<PortIndex>(i));
    }
  }

  static wire::MacAddress receiver(std::size_t line) {
    return test::mac(static_cast<std::uint8_t>(100 + line));
  }
  PacketPtr frame(std::uint32_t bytes, std::uint8_t tos, std::size_t line) {
    const test::Endpoints ends{test::mac(1), receiver(line), test::Ip(10, 0, 0, 1),
                               test::Ip(10, 0, 0, 2)};
    auto packet = test::make_udp(pool_, ends, 1, 2, bytes - 14 - 20 - 8);
    test::ip_of(*packet).tos = tos;
    wire::finish_ipv4(test::ip_of(*packet));
    return packet;
  }
  // Feeds the sender by a host that has some frames on the way to each line, in its class.
  void feed_from(Node& node) {
    constexpr std::uint64_t on_the_way = 200;
    for (std::size_t line = 0; line < tos_.size(); ++line) {
      auto& fed = fed_[{&node, line}];
      for (; fed < node.crossed[tos_[line]] + on_the_way; ++fed) {
        node.arrive(feed, frame(bytes_, tos_[line], line));
      }
    }
  }
  // Runs the drivers every `period`, one after the other, and some of them later.
  void run(Duration duration, Duration period = 100us, Duration late = {}) {
    const auto end = now_ + duration;
    std::vector<Node*> nodes{last_.get()};
    for (auto& node : first_) {
      nodes.push_back(node.get());
    }
    while (now_ < end) {
      for (auto* node : nodes) {
        auto& next = next_[node];
        if (next <= now_) {
          node->run(now_);
          if (node != last_.get() && feeding_) {
            feed_from(*node);
            node->run(now_);
          }
          next = now_ + period + (random_() % 8 == 0 ? late : Duration{});
        }
      }
      now_ += 10us;
    }
  }
  std::uint64_t tail_drops(const Node& node) const {
    std::uint64_t drops = node.missed;
    for (PortIndex i = 0; i < senders_ + tos_.size(); ++i) {
      drops += node.port(i).counters().queue_tail_dropped;
    }
    return drops;
  }
  std::uint64_t tail_drops() const { return tail_drops(*last_); }
  std::uint64_t pauses_heard() const { return first_.front()->port(up).counters().rx_pauses; }

  ~FlowControlTest() override {
    last_->clear();
    for (auto& node : first_) {
      node->clear();
      EXPECT_TRUE(node->logical().ledger().balanced());
      EXPECT_EQ(node->charged(), 0u);
    }
    EXPECT_TRUE(last_->logical().ledger().balanced());
    EXPECT_EQ(last_->charged(), 0u);
    EXPECT_EQ(pool_.outstanding(), 0u);
  }

  HeapPacketPool pool_{32768, 1600};
  std::unique_ptr<Node> last_;
  std::vector<std::unique_ptr<Node>> first_;
  std::uint64_t fast_ = 1'000'000'000;
  std::size_t senders_ = 0;
  std::vector<std::uint8_t> tos_{0};
  std::uint32_t bytes_ = full_frame;
  bool feeding_ = true;
  std::map<std::pair<Node*, std::size_t>, std::uint64_t> fed_;
  std::map<Node*, Time> next_;
  std::mt19937 random_{1};
  Time now_ = Time{} + 100s;
};

TEST_F(FlowControlTest, WithoutItTheSlowLineDrops) {
  build(FlowControl::off, 1);
  run(1s);
  EXPECT_GT(tail_drops(), 50'000u);
  EXPECT_EQ(pauses_heard(), 0u);
}

TEST_F(FlowControlTest, WithItNothingIsLostAndTheSlowLineIsFull) {
  build(FlowControl::pause, 1);
  run(1s);
  EXPECT_EQ(tail_drops(), 0u);
  EXPECT_NEAR(static_cast<double>(last_->left[0]), 10'000, 100);
  EXPECT_GT(pauses_heard(), 10u);
  EXPECT_EQ(last_->port(0).counters().tx_pauses, pauses_heard());
  const Duration paused{first_.front()->port(up).counters().paused_ns};
  EXPECT_GT(paused, 800ms);
  EXPECT_LT(paused, 1s);
  EXPECT_GT(last_->port(0).charged_bytes(), 0u);
}

TEST_F(FlowControlTest, WhenTheSlowLineCatchesUpTheSenderGoesOn) {
  build(FlowControl::pause, 1);
  run(500ms);
  feeding_ = false;
  run(1s);
  EXPECT_EQ(last_->charged(), 0u);
  EXPECT_FALSE(first_.front()->port(up).paused());
  EXPECT_EQ(first_.front()->port(up).queue_packets(), 0u);
  feeding_ = true;
  const auto before = last_->left[0];
  run(1s);
  EXPECT_NEAR(static_cast<double>(last_->left[0] - before), 10'000, 150);
  EXPECT_EQ(tail_drops(), 0u);
}

TEST_F(FlowControlTest, SilenceIsAskedForAgain) {
  build(FlowControl::pause, 1, {10'000'000}, 8 << 20);
  run(300ms);
  const auto sent = first_.front()->port(up).counters().tx_packets;
  const auto heard = pauses_heard();
  run(100ms);
  EXPECT_EQ(first_.front()->port(up).counters().tx_packets, sent);
  EXPECT_NEAR(static_cast<double>(pauses_heard() - heard), 10, 1);
}

TEST_F(FlowControlTest, SeveralPortsShareOneLine) {
  build(FlowControl::pause, 3);
  run(1s, 1ms);
  EXPECT_EQ(tail_drops(), 0u);
  EXPECT_NEAR(static_cast<double>(last_->left[0]), 10'000, 100);
  for (const auto& node : first_) {
    EXPECT_GT(node->port(up).counters().tx_packets, 1'000u);
  }
}

TEST_F(FlowControlTest, SmallFramesAreNotLostEither) {
  bytes_ = 60;
  build(FlowControl::pause, 3);
  run(300ms, 200us);  // else the rings of the devices are too short
  EXPECT_EQ(tail_drops(), 0u);
  EXPECT_GT(pauses_heard(), 3u);
}

// The headroom allows for drivers that sleep for a millisecond. A driver that lacks the CPU for
// longer takes no more frames than there is room for, and makes up for no more than that.
TEST_F(FlowControlTest, DriversThatAreLateLoseNothing) {
  build(FlowControl::pause, 2, {slow}, 4 << 20);
  run(1s, 1ms, 3ms);
  EXPECT_EQ(tail_drops(), 0u);
  EXPECT_NEAR(static_cast<double>(last_->left[0]), 10'000, 500);
}

// It cannot ask for a longer pause meanwhile.
TEST_F(FlowControlTest, WhoIsKeptFromTheCpuWhileOthersAreSilentLosesNothing) {
  fast_ = slow;  // 200 ms are 2,000 frames, of which the device keeps 512
  build(FlowControl::pause, 1, {slow / 10});
  const auto& sender = first_.front()->port(up);
  while (!sender.paused() && now_ < Time{} + 110s) {
    run(1ms);
  }
  ASSERT_TRUE(sender.paused());
  next_[last_.get()] = now_ + 200ms;
  run(1s);
  EXPECT_EQ(tail_drops(), 0u);
}

TEST_F(FlowControlTest, ALargeBufferBeforeASlowLineIsNoDeadlock) {
  build(FlowControl::pause, 1, {slow / 10}, 8 << 20);
  run(4s);
  EXPECT_EQ(first_.front()->port(up).counters().pause_dropped, 0u);
  EXPECT_EQ(tail_drops(), 0u);
  EXPECT_GT(Duration(first_.front()->port(up).counters().paused_ns), 3s);
}

TEST_F(FlowControlTest, OneClassIsStoppedAndAnotherFlows) {
  tos_ = {cs7, 0};
  build(FlowControl::pfc, 1, {slow / 10, 4 * slow});
  run(1s);
  EXPECT_EQ(tail_drops(), 0u);
  EXPECT_NEAR(static_cast<double>(last_->left[cs7]), 1'000, 50);
  EXPECT_GT(last_->left[0], 30'000u);
  EXPECT_GT(pauses_heard(), 1u);
}

TEST_F(FlowControlTest, PauseStopsBoth) {
  tos_ = {cs7, 0};
  build(FlowControl::pause, 1, {slow / 10, 4 * slow});
  run(1s);
  EXPECT_EQ(tail_drops(), 0u);
  EXPECT_LT(last_->left[0], 10'000u);
}

TEST_F(FlowControlTest, ADeadlockIsBroken) {
  build(FlowControl::pause, 1);
  run(10ms);
  wire::Pause forever{false, wire::all_classes, {}};
  forever.quanta.fill(0xffff);
  for (int i = 0; i < 10 + forwarding::pause_watchdog / 10ms; ++i) {
    auto frame = pool_.allocate();
    const auto bytes = wire::make_pause(test::mac(66), forever);
    frame->length = bytes.size();
    std::copy(bytes.begin(), bytes.end(), frame->data());
    first_.front()->arrive(up, std::move(frame));
    feeding_ = i < 10;
    run(10ms);
  }
  EXPECT_GE(first_.front()->port(up).counters().pause_dropped, 100u);
  EXPECT_EQ(first_.front()->port(up).queue_packets(), 0u);
}

TEST_F(FlowControlTest, MayComeAndGo) {
  build(FlowControl::pause, 1);
  run(200ms);
  for (const auto mode : {FlowControl::pfc, FlowControl::off, FlowControl::pause}) {
    last_->config().ports[0].flow.mode = first_.front()->config().ports[up].flow.mode = mode;
    last_->reload();
    first_.front()->reload();
    if (mode == FlowControl::off) {
      EXPECT_EQ(last_->charged(), 0u);
    }
    const auto drops = tail_drops();
    run(300ms);
    EXPECT_EQ(tail_drops() > drops, mode == FlowControl::off);
  }
}

TEST_F(FlowControlTest, ALinkThatGoesTakesWhatWasAskedWithIt) {
  build(FlowControl::pause, 1);
  run(200ms);
  auto& port = first_.front()->port(up);
  EXPECT_TRUE(port.paused());
  port.set_up(false);
  port.set_up(true);
  PacketList out;
  port.dequeue(now_, out, 1);
  EXPECT_FALSE(port.paused());
}

// PAUSE ends at the port, whether it listens or not, and is not forwarded.
TEST_F(FlowControlTest, PauseFramesGoNoFurther) {
  build(FlowControl::off, 2);
  for (const auto mode : {FlowControl::off, FlowControl::pause}) {
    last_->config().ports[0].flow.mode = mode;
    last_->reload();
    auto frame = pool_.allocate();
    const auto bytes = wire::make_pause(test::mac(66), {false, wire::all_classes, {}});
    frame->length = bytes.size();
    std::copy(bytes.begin(), bytes.end(), frame->data());
    last_->arrive(0, std::move(frame));
    last_->run(now_);
  }
  const auto& ledger = last_->logical().ledger();
  EXPECT_EQ(ledger.received, 2u);
  EXPECT_EQ(ledger.absorbed, 2u);
  EXPECT_EQ(last_->port(0).counters().rx_pauses, 2u);
}

TEST(FlowPlan, IsNoneWithoutFlowControl) {
  EXPECT_FALSE(plan_flow_control(std::vector{port("a", 0, FlowControl::off)}).active());
}

// 200 Mbit/s for 3 ms are 75,000 bytes, and two frames of 1514.
TEST(FlowPlan, LeavesTheHeadroom) {
  auto ports = std::vector(4, port("a", 200'000'000, FlowControl::pause));
  const auto plan = plan_flow_control(ports);
  const std::uint64_t usable = (1 << 20) - 2048;
  const auto share = usable * 7 / 8 / 4;
  ASSERT_EQ(plan.ports.size(), 4u);
  EXPECT_TRUE(plan.ports[0].lossless);
  EXPECT_EQ(plan.ports[0].xoff, share - 75'000 - 2 * 1514);
  EXPECT_EQ(plan.ports[0].xon, plan.ports[0].xoff / 2);
  EXPECT_EQ(plan.others_bytes, usable - 4 * share);
  EXPECT_EQ(plan.ports[0].full, share);
  // The longest possible time of a PAUSE frame, 168 ms.
  EXPECT_EQ(plan.ports[0].quanta, 0xffff);
  EXPECT_EQ(plan.ports[0].again, 10ms);
}

TEST(FlowPlan, BoundsTheSilence) {
  const auto plan = plan_flow_control(std::vector(2, port("a", 10'000'000, FlowControl::pause)));
  EXPECT_EQ(plan.ports[0].quanta, 4882);  // 250 ms in units of 51.2 us
  const auto quick = plan_flow_control(std::vector(2, port("a", 0, FlowControl::pause)));
  EXPECT_LT(quick.ports[0].again, forwarding::pause_time(0xffff, 10'000'000'000));
}

TEST(FlowPlan, SaysWhatItWouldNeed) {
  auto ports = std::vector(4, port("a", 0, FlowControl::pause));
  ports.push_back(port("b", 0, FlowControl::off));
  auto plan = plan_flow_control(ports);
  EXPECT_FALSE(plan.ports[0].lossless) << "10 Gbit/s for 3 ms are 3.75 MB";
  EXPECT_GT(plan.ports[0].xoff, plan.ports[0].xon);
  EXPECT_GT(plan.capacity_needed, 4u * 3'750'000);
  for (auto& config : ports) {
    config.queue.capacity_bytes = static_cast<std::uint32_t>(plan.capacity_needed);
  }
  EXPECT_TRUE(plan_flow_control(ports).ports[0].lossless);
  for (auto& config : ports) {
    config.queue.capacity_bytes -= 100;
  }
  EXPECT_FALSE(plan_flow_control(ports).ports[0].lossless);
}

TEST(FlowPlan, TakesThresholdsThatFit) {
  auto ports = std::vector(2, port("a", 10'000'000, FlowControl::pfc));
  ports[0].flow.xoff_bytes = 100'000;
  ports[0].flow.xon_bytes = 90'000;
  ports[1].flow.xoff_bytes = 1'000'000;
  const auto plan = plan_flow_control(ports);
  EXPECT_TRUE(plan.by_class);
  EXPECT_TRUE(plan.ports[0].lossless);
  EXPECT_EQ(plan.ports[0].xoff, 100'000u);
  EXPECT_EQ(plan.ports[0].xon, 90'000u);
  EXPECT_FALSE(plan.ports[1].lossless);
}

}  // namespace
}  // namespace tributary::switching
