// SPDX-License-Identifier: BSD-3-Clause
// Tests a link that a Canary job has for itself, or shares with a flow that yields to marks.
#include <map>
#include <utility>

#include <gtest/gtest.h>

#include "forwarding/shaper.h"
#include "support/fat_tree.h"
#include "support/virtual_fabric.h"
#include "unit/fabric/dctcp_flow.h"
#include "unit/fabric/workers.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t bottleneck_bps = 1'000'000'000;
constexpr std::uint64_t hosts_bps = 10'000'000'000;
constexpr std::uint32_t unmarked_most = 20;  // packets that wait unmarked
constexpr std::uint32_t block_bytes = 1408;
constexpr std::size_t full_frame_bytes = 14 + 20 + 8 + 64 + block_bytes;
// The time of a full frame on a line, like those of the flow.
constexpr Duration full_frame_time{forwarding::line_bytes(full_frame_bytes) * 8 * 1'000'000'000 /
                                   bottleneck_bps};
constexpr Duration long_cable = 25us;  // so that the path holds twenty

// Two leaves and one spine: all packets between the leaves share the links up from them, which are
// slower than those of the hosts.
FabricSpec two_leaves() {
  FatTree shape;
  shape.leaves = 2;
  shape.spines = 1;
  shape.hosts_per_leaf = 3;
  auto spec = make_fat_tree(shape);
  spec.cable_delay = long_cable;
  for (auto& section : spec.switches) {
    for (auto& port : section.config.ports) {
      port.queue.ecn_threshold_packets = unmarked_most;
      port.queue.rate_bps = port.name.starts_with("h") ? hosts_bps : bottleneck_bps;
    }
  }
  for (auto& host : spec.hosts) {
    host.rate_bps = hosts_bps;
  }
  return spec;
}

// Two ranks on each leaf.
const Workers::Options two_on_each_leaf{
    .world_size = 4, .payload_bytes = block_bytes, .window = 512, .hosts = {0, 1, 3, 4}};

// Watches the packets from leaf 1 to the spine, and the queue length that the flow's packets find
// there.
class LinkWatch {
 public:
  explicit LinkWatch(VirtualFabric& fabric) {
    fabric.trace([this](const Hop& hop) { see(hop); });
  }
  // Counts from now on.
  void start() { *this = LinkWatch(); }

  std::uint64_t bytes_of_flow = 0;
  std::uint64_t bytes_of_job = 0;
  double share_of_flow() const {
    return static_cast<double>(bytes_of_flow) / static_cast<double>(bytes_of_flow + bytes_of_job);
  }
  double queue_mean() const { return static_cast<double>(queued_) / static_cast<double>(probes_); }
  std::uint64_t probes() const { return probes_; }

 private:
  LinkWatch() = default;

  void see(const Hop& hop) {
    if (hop.at_host) {
      return;
    }
    wire::Cursor cursor(hop.frame);
    cursor.take<wire::EthernetHeader>();
    cursor.take<wire::Ipv4Header>();
    const auto* udp = cursor.take<wire::UdpHeader>();
    const auto* number = cursor.take<wire::be32>();
    if (number == nullptr) {
      return;
    }
    const bool of_flow = udp->destination_port.value() == FlowEnd::udp_port;
    if (hop.switch_name == "leaf1" && hop.port == "h3" && of_flow) {
      came_[number->value()] = hop.at;
    } else if (hop.switch_name == "spine1" && hop.port == "leaf1") {
      (of_flow ? bytes_of_flow : bytes_of_job) += hop.frame.size();
      note_wait(hop, of_flow ? came_.find(number->value()) : came_.end());
    }
  }
  void note_wait(const Hop& hop, const std::map<std::uint32_t, Time>::iterator& came) {
    if (came != came_.end()) {
      queued_ += static_cast<std::uint64_t>((hop.at - came->second - long_cable) / full_frame_time);
      ++probes_;
      came_.erase(came);
    }
  }

  std::map<std::uint32_t, Time> came_;
  std::uint64_t queued_ = 0;
  std::uint64_t probes_ = 0;
};

void run_for(VirtualFabric& fabric, Duration duration) {
  bool over = false;
  fabric.at(fabric.now() + duration, [&over] { over = true; });
  fabric.run_while([&over] { return !over; }, 2 * duration);
}

TEST(CanaryCongestion, SharesALinkWithAFlowOfDctcpAndKeepsItsQueueShort) {
  constexpr Duration measured = 6'000 * full_frame_time;
  VirtualFabric fabric(two_leaves());
  LinkWatch link(fabric);
  Workers workers(fabric, two_on_each_leaf);
  DctcpFlow flow(fabric, 2, 5, 2 * full_frame_time);
  workers.begin(block_bytes / 4 * 9'000, 60s);
  run_for(fabric, 6'000 * full_frame_time);
  link.start();
  run_for(fabric, measured);
  EXPECT_GT(link.share_of_flow(), 0.35);
  EXPECT_LT(link.share_of_flow(), 0.65);
  EXPECT_GT(link.probes(), 1000u);
  EXPECT_LT(link.queue_mean(), 2 * unmarked_most);
  const auto carried = (link.bytes_of_flow + link.bytes_of_job) / full_frame_bytes;
  EXPECT_GT(carried * full_frame_time, measured * 97 / 100) << "nothing is left unused";
  EXPECT_FALSE(workers.none_running());
}

// Returns the time of an allreduce of so many blocks, and the number of blocks that queues have
// marked.
std::pair<Duration, std::uint64_t> alone(int blocks, const Workers::Options& options) {
  VirtualFabric fabric(two_leaves());
  Workers workers(fabric, options);
  const auto start = fabric.now();
  workers.begin(block_bytes / 4 * blocks, 60s);
  fabric.run(60s);
  EXPECT_TRUE(workers.all_done());
  EXPECT_TRUE(workers.never_wrong());
  return {fabric.now() - start, workers.machine(0).statistics().blocks_marked};
}

TEST(CanaryCongestion, AloneItIsAsFastAsWithAFixedWindow) {
  constexpr int blocks = 4000;
  auto fixed = two_on_each_leaf;
  fixed.window = 128;
  fixed.congestion_control = false;
  const auto [fixed_took, fixed_marked] = alone(blocks, fixed);
  const auto [took, marked] = alone(blocks, two_on_each_leaf);
  EXPECT_LT(took, fixed_took * 103 / 100);
  EXPECT_GT(marked, 0u) << "it finds the queue";
  EXPECT_LT(marked, fixed_marked / 2) << "and keeps it short";
}

}  // namespace
}  // namespace tributary::test
