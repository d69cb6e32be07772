// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/handover.h"

#include <algorithm>
#include <utility>

#include <rte_errno.h>
#include <rte_prefetch.h>
#include <rte_ring.h>

namespace tributary::dataplane {
namespace {

constexpr unsigned ring_packets = 2048;
// So many packets in a ring are a congestion; the rest is for what has no device to wait in.
constexpr unsigned backlog_max = 512;

// The core that takes the packet needs these lines first: its headers, and where its payload
// begins.
void prefetch_frame(const Packet& packet) {
  for (std::size_t line = 0; line < 4; ++line) {
    rte_prefetch0(packet.data() + line * RTE_CACHE_LINE_SIZE);
  }
}

}  // namespace

void HandoverRings::Free::operator()(rte_ring* ring) const noexcept {
  rte_ring_free(ring);
}

tl::expected<HandoverRings, std::string> HandoverRings::create(unsigned cores) {
  HandoverRings rings;
  rings.cores_ = cores;
  for (unsigned core = 0; core < cores; ++core) {
    auto bell = Doorbell::create();
    if (!bell) {
      return tl::unexpected(bell.error());
    }
    rings.bells_.push_back(std::move(*bell));
  }
  rings.rings_.resize(std::size_t{cores} * cores);
  for (unsigned from = 0; from < cores; ++from) {
    for (unsigned to = 0; to < cores; ++to) {
      if (from == to) {
        continue;
      }
      const auto name = "handover-" + std::to_string(from) + "-" + std::to_string(to);
      auto* ring =
          rte_ring_create(name.c_str(), ring_packets, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
      if (ring == nullptr) {
        return tl::unexpected(std::string("cannot make the rings between cores: ") +
                              rte_strerror(rte_errno));
      }
      rings.rings_[from * cores + to].reset(ring);
    }
  }
  return rings;
}

Handover::Handover(const HandoverRings& rings, unsigned core, unsigned cores, PacketPool& pool)
    : pool_(pool), lanes_(cores) {
  for (unsigned other = 0; other < cores; ++other) {
    if (other != core) {
      lanes_[other].out = rings.between(core, other);
      lanes_[other].in = rings.between(other, core);
      lanes_[other].bell = &rings.bell(other);
    }
  }
}

// The threads have ended: what nobody took returns to the store by this core's pool.
Handover::~Handover() {
  PacketList left;
  for (auto& lane : lanes_) {
    for (unsigned i = 0; i < lane.count; ++i) {
      left.push(PacketPtr(static_cast<Packet*>(lane.staged[i])));
    }
  }
  while (receive(left) > 0) {
  }
}

void Handover::send(PacketPtr packet, unsigned to, PacketList& refused) {
  Lane& lane = lanes_[to];
  if (lane.count == burst) {
    flush(lane, refused);
  }
  lane.staged[lane.count++] = packet.release();
}

void Handover::flush(PacketList& refused) {
  for (auto& lane : lanes_) {
    if (lane.count > 0) {
      flush(lane, refused);
    }
  }
}

void Handover::flush(Lane& lane, PacketList& refused) {
  const auto sent = rte_ring_sp_enqueue_burst(lane.out, lane.staged.data(), lane.count, &lane.room);
  handed_over_ += sent;
  for (unsigned i = sent; i < lane.count; ++i) {
    refused.push(PacketPtr(static_cast<Packet*>(lane.staged[i])));
  }
  lane.count = 0;
  lane.bell->ring();
}

bool Handover::congested() {
  return std::any_of(lanes_.begin(), lanes_.end(), [](Lane& lane) {
    if (lane.out == nullptr || lane.room >= ring_packets - backlog_max) {
      return false;
    }
    lane.room = rte_ring_free_count(lane.out);
    return lane.room < ring_packets - backlog_max;
  });
}

bool Handover::nothing_comes() const {
  return std::all_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) {
    return lane.in == nullptr || rte_ring_empty(lane.in) != 0;
  });
}

bool Handover::empty() const {
  return std::all_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) {
    return lane.out == nullptr ||
           (lane.count == 0 && rte_ring_empty(lane.out) != 0 && rte_ring_empty(lane.in) != 0);
  });
}

std::size_t Handover::receive(PacketList& out) {
  std::size_t total = 0;
  for (auto& lane : lanes_) {
    if (lane.in == nullptr) {
      continue;
    }
    std::array<void*, burst> taken;
    const auto count = rte_ring_sc_dequeue_burst(lane.in, taken.data(), burst, nullptr);
    // Everything is in the cache of the core that sent it, so all of it is asked for before any is
    // looked at.
    for (unsigned i = 0; i < count; ++i) {
      __builtin_prefetch(taken[i], 1);
    }
    for (unsigned i = 0; i < count; ++i) {
      auto* packet = static_cast<Packet*>(taken[i]);
      packet->pool = &pool_;
      prefetch_frame(*packet);
      out.push(PacketPtr(packet));
    }
    total += count;
  }
  return total;
}

}  // namespace tributary::dataplane
