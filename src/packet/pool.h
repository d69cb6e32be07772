// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "packet/packet.h"

namespace tributary {

// A PacketPool is one core's stock of packets: a stack without locks, and a backing store that is
// asked once per batch. Packets that change core are re-homed by setting Packet::pool.
class PacketPool {
 public:
  static constexpr std::size_t batch = 64;

  PacketPool() = default;
  PacketPool(const PacketPool&) = delete;
  PacketPool& operator=(const PacketPool&) = delete;
  virtual ~PacketPool() = default;

  // Returns an empty packet (length 0, default headroom, no ports), or null when the store is
  // exhausted.
  PacketPtr allocate() {
    if (free_count_ == 0 && !restock()) {
      return nullptr;
    }
    Packet* packet = free_[--free_count_];
    packet->pool = this;
    packet->offset = default_headroom;
    packet->l4_offset = 0;
    packet->noted = 0;
    packet->length = 0;
    packet->ingress = no_port;
    packet->egress = no_port;
    packet->driver_tag = 0;
    packet->vlan = 0;
    packet->over_ipv6 = false;
    packet->marking = 0;
    return PacketPtr(packet);
  }

  // Returns a copy with the same frame, ports, VLAN, version of IP and marking, or null when the
  // store is exhausted.
  PacketPtr clone(const Packet& original) {
    auto copy = allocate();
    if (!copy || copy->capacity < original.offset + original.length) {
      return nullptr;
    }
    copy->offset = original.offset;
    copy->length = original.length;
    copy->ingress = original.ingress;
    copy->egress = original.egress;
    copy->vlan = original.vlan;
    copy->over_ipv6 = original.over_ipv6;
    copy->marking = original.marking;
    std::memcpy(copy->data(), original.data(), original.length);
    return copy;
  }

  // Makes the bytes of `body`, which nobody owns from now on, the end of `holders` frames (at least
  // one). Each of them names it in Packet::body and lets go of it when it is released.
  virtual void share(Packet& body, unsigned holders) noexcept = 0;
  // One holder does not need `body` any more; it goes back to its store with the last one.
  virtual void let_go(Packet& body) noexcept = 0;

  // Returns a frame with these bytes in front of `body`, or null, having let go of `body`, when the
  // store is exhausted.
  PacketPtr allocate_in_front_of(Packet& body, wire::Bytes bytes) {
    auto packet = allocate();
    if (!packet || packet->tailroom() < bytes.size()) {
      let_go(body);
      return nullptr;
    }
    packet->length = static_cast<std::uint32_t>(bytes.size());
    packet->ingress = body.ingress;
    packet->vlan = body.vlan;
    packet->over_ipv6 = body.over_ipv6;
    packet->marking = body.marking;
    packet->body = &body;
    std::memcpy(packet->data(), bytes.data(), bytes.size());
    return packet;
  }

  void release(Packet* packet) noexcept {
    if (packet->body != nullptr) {
      let_go(*std::exchange(packet->body, nullptr));
    }
    free_[free_count_++] = packet;
    if (free_count_ == free_.size()) {
      give_back(batch);
    }
  }

  // A packet is allocated with this room before its frame, for headers that are put in front of it
  // later.
  static constexpr std::uint16_t default_headroom = 128;

 protected:
  // Fetches up to `count` packets from the store into `out`; returns how many came. Their buffer
  // and capacity (no less than the default headroom) are set, and they have no body.
  virtual std::size_t fetch(Packet** out, std::size_t count) = 0;
  virtual void store(Packet** packets, std::size_t count) noexcept = 0;

  // Destructors of derived pools call this: everything that is free here goes back to the store.
  void give_back_all() noexcept { give_back(free_count_); }

 private:
  bool restock();
  void give_back(std::size_t count) noexcept;

  std::array<Packet*, 2 * batch> free_{};
  std::size_t free_count_ = 0;
};

// Copies the body of a frame behind its own bytes, for users that need it in one piece. Returns
// false if there is no room, which cannot happen where all buffers have one size and the body was
// the end of such a frame.
bool make_whole(Packet& packet) noexcept;

// HeapPacketPool keeps a fixed number of packets on the heap, for tests and simulators.
class HeapPacketPool final : public PacketPool {
 public:
  HeapPacketPool(std::size_t packets, std::uint32_t frame_bytes_max);
  ~HeapPacketPool() override;

  void share(Packet& body, unsigned holders) noexcept override { holders_of(body) = holders; }
  void let_go(Packet& body) noexcept override;

  // Counts packets that are out: allocated and neither released nor cached. Zero proves that none
  // leaked.
  std::size_t outstanding() noexcept;

 private:
  std::size_t fetch(Packet** out, std::size_t count) override;
  void store(Packet** packets, std::size_t count) noexcept override;
  unsigned& holders_of(const Packet& body) {
    return holders_[static_cast<std::size_t>(&body - packets_.data())];
  }

  std::vector<Packet> packets_;
  std::vector<unsigned> holders_;  // of each packet that is a body
  std::unique_ptr<std::byte[]> storage_;
  std::vector<Packet*> stock_;
};

inline void ReturnToPool::operator()(Packet* packet) const noexcept {
  packet->pool->release(packet);
}

}  // namespace tributary
