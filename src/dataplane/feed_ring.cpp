// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/feed_ring.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include <rte_cycles.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_pause.h>

namespace tributary::dataplane {
namespace {

constexpr std::size_t line_bytes = 64;
// A core that waits longer does not come to its mailbox.
constexpr std::uint64_t patience_cycles = 20'000;

// One thread writes such a number, and others only look at it.
void add(std::atomic<std::uint64_t>& number, std::uint64_t more) {
  number.store(number.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

// A driver writes this of a raw buffer from a descriptor that is done.
rte_mbuf* arrived(rte_mbuf* mbuf, std::uint32_t length) {
  mbuf->data_off = RTE_PKTMBUF_HEADROOM;
  mbuf->nb_segs = 1;
  mbuf->ol_flags = 0;
  mbuf->packet_type = 0;
  mbuf->pkt_len = length;
  mbuf->data_len = static_cast<std::uint16_t>(length);
  return mbuf;
}

}  // namespace

void FeedFrames::add(const std::byte* data, std::uint32_t length) {
  const std::size_t at = bytes_.size();
  bytes_.resize(at + (length + line_bytes - 1) / line_bytes * line_bytes);
  std::memcpy(bytes_.data() + at, data, length);
  frames_.push_back({at, length});
}

FeedRing::FeedRing(rte_mempool* mempool, std::uint32_t descriptors)
    : mempool_(mempool), descriptors_(descriptors) {
  assert((descriptors & (descriptors - 1)) == 0 && descriptors >= 2 * burst);
}

unsigned FeedRing::add_queue(const FeedFrames& frames) {
  queues_.push_back({&frames, 0});
  return static_cast<unsigned>(queues_.size() - 1);
}

bool FeedRing::post() {
  std::vector<void*> buffers(descriptors_.size());
  if (rte_mempool_get_bulk(mempool_, buffers.data(), static_cast<unsigned>(buffers.size())) != 0) {
    return false;
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    descriptors_[i].mbuf = static_cast<rte_mbuf*>(buffers[i]);
  }
  return true;
}

// This looks at no mbuf, as an adapter does not: where its data begin follows from where it lies.
bool FeedRing::fill() {
  const auto filled = filled_.load(std::memory_order_relaxed);
  if (received_.load(std::memory_order_acquire) + descriptors_.size() - filled < burst) {
    return false;
  }
  auto& queue = queues_[filling_];
  const auto& frames = queue.frames->frames();
  for (std::size_t i = 0; i < burst; ++i) {
    auto& descriptor = descriptors_[(filled + i) & (descriptors_.size() - 1)];
    const auto& frame = frames[queue.next];
    std::memcpy(rte_mbuf_buf_addr(descriptor.mbuf, mempool_) + RTE_PKTMBUF_HEADROOM,
                queue.frames->data(frame), frame.length);
    descriptor.length = frame.length;
    queue.next = queue.next + 1 == frames.size() ? 0 : queue.next + 1;
  }
  filling_ = after(filling_);
  filled_.store(filled + burst, std::memory_order_release);
  return true;
}

bool FeedRing::await_burst() {
  if (burst_is_there()) {
    return true;
  }
  const auto since = rte_rdtsc();
  std::uint64_t waited = 0;
  bool there = false;
  while (!there && waited < patience_cycles) {
    rte_pause();
    there = burst_is_there();
    waited = rte_rdtsc() - since;
  }
  add(waited_, std::min(waited, patience_cycles));  // a longer wait was for the CPU
  return there;
}

std::uint16_t FeedRing::receive(unsigned number, rte_mbuf** out, std::uint16_t room) {
  if (number != receiving_ || room < burst || !await_burst()) {
    return 0;
  }
  std::array<void*, burst> fresh;
  if (rte_mempool_get_bulk(mempool_, fresh.data(), burst) != 0) {
    add(starved_, 1);
    return 0;
  }
  const auto received = received_.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < burst; ++i) {
    auto& descriptor = descriptors_[(received + i) & (descriptors_.size() - 1)];
    out[i] = arrived(std::exchange(descriptor.mbuf, static_cast<rte_mbuf*>(fresh[i])),
                     descriptor.length);
  }
  receiving_ = after(receiving_);
  received_.store(received + burst, std::memory_order_release);
  return burst;
}

}  // namespace tributary::dataplane
