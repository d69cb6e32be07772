// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/feed.h"

#include <cerrno>
#include <utility>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_pause.h>

namespace tributary::dataplane {

tl::expected<std::unique_ptr<Feed>, std::string> Feed::attach(std::deque<FeedSource> sources,
                                                              rte_mempool* mempool,
                                                              std::uint32_t descriptors) {
  std::unique_ptr<Feed> feed(new Feed(std::move(sources)));
  for (const auto& source : feed->sources_) {
    auto& ring = feed->rings_.try_emplace(source.cpu, mempool, descriptors).first->second;
    if (const auto attached = feed->attach(source, ring); !attached) {
      return tl::unexpected(attached.error());
    }
  }
  for (auto& [cpu, ring] : feed->rings_) {
    if (!ring.post()) {
      return tl::unexpected("too few buffers for " + std::to_string(descriptors) +
                            " descriptors; make daemon.packets larger");
    }
  }
  return feed;
}

tl::expected<void, std::string> Feed::attach(const FeedSource& source, FeedRing& ring) {
  auto& hook = hooks_.emplace_back(Hook{&ring, ring.add_queue(source.frames)});
  std::uint16_t port = 0;
  if (rte_eth_dev_get_port_by_name(source.device.c_str(), &port) != 0) {
    return tl::unexpected("cannot feed " + source.device + ": there is no such device");
  }
  if (rte_eth_add_rx_callback(port, source.queue, &Feed::receive, &hook) == nullptr) {
    return tl::unexpected(
        "cannot feed queue " + std::to_string(source.queue) + " of " + source.device + ": " +
        (rte_errno == ENOTSUP ? "this DPDK has no receive callbacks; use one that is built with "
                                "RTE_ETHDEV_RXTX_CALLBACKS"
                              : rte_strerror(rte_errno)));
  }
  return {};
}

// The device itself brings nothing, so its arguments are not looked at.
std::uint16_t Feed::receive(std::uint16_t /*port*/, std::uint16_t /*queue*/, rte_mbuf** mbufs,
                            std::uint16_t /*count*/, std::uint16_t room, void* hook) {
  const auto& [ring, queue] = *static_cast<const Hook*>(hook);
  return ring->receive(queue, mbufs, room);
}

void Feed::run(const std::atomic<bool>& stop) {
  while (!stop.load(std::memory_order_relaxed)) {
    bool filled = false;
    for (auto& [cpu, ring] : rings_) {
      filled |= ring.fill();
    }
    if (!filled) {
      rte_pause();
    }
  }
}

Feed::Counters Feed::counters() const {
  Counters sum;
  sum.cycles = rte_rdtsc();
  for (const auto& [cpu, ring] : rings_) {
    sum.packets += ring.received();
    sum.cycles_waited += ring.cycles_waited();
    sum.bursts_without_buffers += ring.bursts_without_buffers();
  }
  return sum;
}

}  // namespace tributary::dataplane
