// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "dataplane/doorbell.h"
#include "packet/list.h"
#include "packet/pool.h"

struct rte_ring;

namespace tributary::dataplane {

// The core that takes a handed-over packet does this with it.
enum class HandoverKind : std::uint32_t {
  receive,  // it owns the block: Switch::receive on switch `index`
  depart,   // it sends for the egress port: HomePort::depart on port `index`
  arrive,   // it owns the far end of an internal link: Port::arrive on port `index`
  learn,    // Switch::learn on switch `index`
  merge,    // it owns the block of a partial sum: Switch::merge on switch `index`
};

// The kind and the index travel in Packet::driver_tag.
inline constexpr unsigned handover_index_bits = 29;
constexpr std::uint32_t handover_tag(HandoverKind kind, std::uint32_t index) {
  return (static_cast<std::uint32_t>(kind) << handover_index_bits) | index;
}
constexpr HandoverKind kind_of(std::uint32_t tag) {
  return static_cast<HandoverKind>(tag >> handover_index_bits);
}
constexpr std::uint32_t index_of(std::uint32_t tag) {
  return tag & ((std::uint32_t{1} << handover_index_bits) - 1);
}

// Between the cores there is one single-producer, single-consumer ring for each ordered pair. Each
// core has a bell that rings when something is put into one of its rings.
class HandoverRings {
 public:
  static tl::expected<HandoverRings, std::string> create(unsigned cores);
  rte_ring* between(unsigned from, unsigned to) const { return rings_[from * cores_ + to].get(); }
  Doorbell& bell(unsigned core) const { return *bells_[core]; }

 private:
  struct Free {
    void operator()(rte_ring* ring) const noexcept;
  };
  unsigned cores_ = 0;
  std::vector<std::unique_ptr<rte_ring, Free>> rings_;  // null on the diagonal
  std::vector<std::unique_ptr<Doorbell>> bells_;        // by core
};

// A Handover is one core's end of the rings. Packets are collected and handed over in bursts.
class Handover {
 public:
  static constexpr std::size_t burst = 32;

  // `pool` is the core's own.
  Handover(const HandoverRings& rings, unsigned core, unsigned cores, PacketPool& pool);
  ~Handover();
  Handover(const Handover&) = delete;
  Handover& operator=(const Handover&) = delete;

  // Takes the packet. What does not fit its ring at the next flush is appended to `refused`.
  void send(PacketPtr packet, unsigned to, PacketList& refused);
  void flush(PacketList& refused);

  // Appends packets that the other cores sent here, now of this core's pool; at most a burst from
  // each.
  std::size_t receive(PacketList& out);

  // Says whether another core does not keep up: then what is taken from a device now would wait
  // until it has left the caches, or be dropped after all the work. It is better that it waits in
  // the device.
  bool congested();

  // Says whether nothing is on its way to here.
  bool nothing_comes() const;
  // Says whether nothing is on its way from here or to here.
  bool empty() const;

  std::uint64_t handed_over() const { return handed_over_; }

 private:
  struct Lane {
    rte_ring* out = nullptr;
    rte_ring* in = nullptr;
    Doorbell* bell = nullptr;  // of the other core
    std::array<void*, burst> staged{};
    unsigned count = 0;
    unsigned room = 0;  // in `out`, at least, when it was last looked at
  };
  void flush(Lane& lane, PacketList& refused);

  PacketPool& pool_;
  std::vector<Lane> lanes_;  // by core; the core's own is unused
  std::uint64_t handed_over_ = 0;
};

}  // namespace tributary::dataplane
