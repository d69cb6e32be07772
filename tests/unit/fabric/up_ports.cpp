// SPDX-License-Identifier: BSD-3-Clause
#include "unit/fabric/up_ports.h"

#include <chrono>
#include <cstddef>
#include <deque>
#include <random>
#include <span>

#include "forwarding/hop_group.h"
#include "forwarding/shaper.h"
#include "support/fat_tree.h"
#include "support/frames.h"
#include "support/virtual_fabric.h"
#include "unit/fabric/workers.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t link_bps = 20'000'000;
constexpr std::uint32_t queue_bytes = 72 * 1024;
constexpr std::size_t background_payload = 1472;  // of a full packet of the background
constexpr std::size_t background_frame = 14 + 20 + 8 + background_payload;
constexpr std::size_t message_packets = 22;  // 32 KiB; then another peer
constexpr Duration packet_time{forwarding::line_bytes(background_frame) * 8 * 1'000'000'000 /
                               link_bps};
constexpr std::uint32_t reducing = 8;

FabricSpec fabric_of(const UpPortPolicy& policy, const UpPortCase& of) {
  FatTree shape;
  shape.hosts_per_leaf = 4;
  shape.spines = 4;
  shape.rate_bps = link_bps;
  shape.canary.timeout = 20ms;
  shape.canary.hash_seed = of.seed;
  auto spec = make_fat_tree(shape);
  spec.seed = of.seed;
  for (auto& section : spec.switches) {
    auto& config = section.config;
    config.bfd = policy.bfd;
    config.selection.policies.reduction = policy.reduction;
    config.selection.trees = policy.trees;
    config.selection.tree_seed = of.seed;
    for (auto& port : config.ports) {
      port.queue.capacity_bytes = queue_bytes;
    }
  }
  for (auto& host : spec.hosts) {
    host.rate_bps = link_bps;
  }
  return spec;
}

// Sends full packets at line rate, each message to a random peer.
class LineRateSender {
 public:
  LineRateSender(VirtualFabric& fabric, PacketPool& pool, std::span<const std::uint16_t> hosts,
                 std::size_t self, std::uint64_t seed)
      : fabric_(fabric), pool_(pool), hosts_(hosts), self_(self), random_(seed * 64 + self) {
    const auto phase = static_cast<Duration::rep>(random_() % packet_time.count());
    fabric_.at(fabric_.now() + Duration(phase), [this] { send(); });
  }
  LineRateSender(const LineRateSender&) = delete;
  LineRateSender& operator=(const LineRateSender&) = delete;

 private:
  void send() {
    if (sent_++ % message_packets == 0) {
      peer_ = (self_ + 1 + random_() % (hosts_.size() - 1)) % hosts_.size();
    }
    const Endpoints ends{{},
                         {},
                         fabric_.endpoint(hosts_[self_], 9).address,
                         fabric_.endpoint(hosts_[peer_], 9).address};
    fabric_.inject(hosts_[self_], make_udp(pool_, ends, 9, 9, background_payload));
    fabric_.at(fabric_.now() + packet_time, [this] { send(); });
  }

  VirtualFabric& fabric_;
  PacketPool& pool_;
  std::span<const std::uint16_t> hosts_;
  std::size_t self_;
  std::size_t peer_ = 0;
  std::size_t sent_ = 0;
  std::mt19937_64 random_;
};

void settle(VirtualFabric& fabric) {
  bool settled = false;  // queues are as full as they become, and sessions are up
  fabric.at(fabric.now() + 3s, [&settled] { settled = true; });
  fabric.run_while([&settled] { return !settled; }, 5s);
}

}  // namespace

std::optional<double> goodput_of(const UpPortPolicy& policy, const UpPortCase& of) {
  HeapPacketPool pool(VirtualFabric::pool_packets, VirtualFabric::frame_bytes_max);
  VirtualFabric fabric(fabric_of(policy, of), &pool);
  const auto drawn = forwarding::draw_order(fabric.host_count(), of.seed);
  const auto others = std::span(drawn).subspan(reducing);
  std::deque<LineRateSender> senders;
  for (std::size_t self = 0; of.congested && self < others.size(); ++self) {
    senders.emplace_back(fabric, pool, others, self, of.seed);
  }
  settle(fabric);
  Workers workers(fabric, {.world_size = reducing,
                           .payload_bytes = 1408,
                           .window = 40,
                           .seed = of.seed,
                           .hosts = {drawn.begin(), drawn.begin() + reducing}});
  const auto start = fabric.now();
  workers.begin(of.bytes / sizeof(std::int32_t), 120s);
  fabric.run(120s);
  if (!workers.all_done() || !workers.never_wrong()) {
    return std::nullopt;
  }
  return static_cast<double>(of.bytes) * 8 /
         std::chrono::duration<double>(fabric.now() - start).count();
}

}  // namespace tributary::test
