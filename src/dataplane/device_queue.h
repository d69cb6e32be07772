// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "packet/clock.h"
#include "packet/list.h"
#include "packet/pool.h"

struct rte_mbuf;

namespace tributary::dataplane {

// A DeviceQueue is one receive and one transmit queue of a device, for the core that polls them.
// Queues of one device belong to different cores, so each lies on cache lines of its own.
class alignas(64) DeviceQueue {
 public:
  static constexpr std::uint16_t burst = 32;
  static constexpr Duration patience_usual = std::chrono::milliseconds(10);

  // The queue is paused at first. `sends` says that the device has a transmit queue of this number.
  DeviceQueue(std::uint16_t port, std::uint16_t queue, bool sends)
      : port_(port), queue_(queue), sends_(sends) {}

  // `descriptor` can be read while frames wait to be received.
  void set_input(int descriptor) { input_ = descriptor; }
  // Returns the descriptor to poll for frames; -1, which poll() passes over, while none come.
  int input() const { return paused_ ? -1 : input_; }
  // Says whether input() tells all that there is to do.
  bool announces() const { return paused_ || (input_ >= 0 && waiting_ == 0); }

  // A paused queue does not touch the device: nothing comes, and what waits is dropped. Once a core
  // has the queue, only that core calls it.
  void pause(bool paused);

  // Appends up to `most` packets, a burst if there are so many, owned by `pool` from now on.
  // Returns how many came.
  std::size_t receive(PacketPool& pool, PortIndex ingress, PacketList& out,
                      std::size_t most = burst);

  // Returns how many packets transmit() takes at most.
  std::size_t room() const { return sends_ && !paused_ ? burst - waiting_ : 0; }
  // Takes all of `packets`. What the device has no room for waits for the next call, for a while
  // (10 ms unless told); then it is dropped and counted. Returns how many the device took.
  std::size_t transmit(PacketList& packets, Time now);
  bool waiting() const { return waiting_ > 0; }
  std::size_t waiting_packets() const { return waiting_; }
  std::size_t waiting_bytes() const;
  void set_patience(Duration patience) { patience_ = patience; }
  std::uint64_t dropped() const { return dropped_; }
  void drop_waiting();
  // The kernel loses longer frames without a word: they are dropped and counted here. A tag of a
  // VLAN may come on top.
  void set_frame_bytes_max(std::uint32_t bytes) { frame_bytes_max_ = bytes; }
  // If true, the device sends frames of several segments as they are.
  void set_gathers(bool gathers) { gathers_ = gathers; }

  std::uint64_t refused() const { return refused_; }

 private:
  bool is_too_long(const Packet& packet) const;

  std::uint16_t port_;
  std::uint16_t queue_;
  bool sends_;
  bool gathers_ = false;
  std::uint32_t frame_bytes_max_ = UINT32_MAX;
  bool paused_ = true;
  int input_ = -1;  // none
  std::uint16_t waiting_ = 0;
  Time waiting_since_{};
  Duration patience_ = patience_usual;
  std::uint64_t dropped_ = 0;
  std::uint64_t refused_ = 0;  // frames in several segments that do not fit one buffer
  std::array<rte_mbuf*, burst> pending_{};
};

}  // namespace tributary::dataplane
