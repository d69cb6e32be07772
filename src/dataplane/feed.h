// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "dataplane/feed_ring.h"

namespace tributary::dataplane {

// These frames come by one queue of a device.
struct FeedSource {
  std::string device;  // of driver net_null, by its name
  std::uint16_t queue = 0;
  unsigned cpu = 0;  // of the core that polls it
  FeedFrames frames;
};

// A Feed is the far side of devices that receive nothing by themselves: it plays an adapter whose
// lines are always full, on a thread that is no packet core.
class Feed {
 public:
  struct Counters {
    std::uint64_t packets = 0;        // that cores received
    std::uint64_t cycles = 0;         // the time-stamp counter
    std::uint64_t cycles_waited = 0;  // by cores, for this feed
    std::uint64_t bursts_without_buffers = 0;
  };

  // Attaches the feed while the cores do not run yet. `sources` are in the order of the ports;
  // every core has `descriptors`, a power of two. From then on the devices' queues receive from
  // this feed, which has to outlive them; the pool has to outlive run().
  static tl::expected<std::unique_ptr<Feed>, std::string> attach(std::deque<FeedSource> sources,
                                                                 rte_mempool* mempool,
                                                                 std::uint32_t descriptors);

  void run(const std::atomic<bool>& stop);
  Counters counters() const;  // any thread may call it

 private:
  struct Hook {
    FeedRing* ring;
    unsigned queue;
  };
  explicit Feed(std::deque<FeedSource> sources) : sources_(std::move(sources)) {}
  tl::expected<void, std::string> attach(const FeedSource& source, FeedRing& ring);
  static std::uint16_t receive(std::uint16_t port, std::uint16_t queue, rte_mbuf** mbufs,
                               std::uint16_t count, std::uint16_t room, void* hook);

  std::deque<FeedSource> sources_;
  std::map<unsigned, FeedRing> rings_;  // by CPU
  std::deque<Hook> hooks_;
};

}  // namespace tributary::dataplane
