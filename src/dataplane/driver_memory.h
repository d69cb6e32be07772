// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tributary::dataplane {

// A DriverUser is a thread that calls the receive and transmit functions of devices. DPDK's memif
// driver unmaps the rings of a peer that leaves on another thread, whoever is in them. While a
// DriverUser lives, munmap() waits on all other threads until this one has been between two bursts.
class DriverUser {
 public:
  // Registers the calling thread; `number` is that of no other DriverUser, and below RTE_MAX_LCORE.
  explicit DriverUser(unsigned number);
  ~DriverUser();
  DriverUser(const DriverUser&) = delete;
  DriverUser& operator=(const DriverUser&) = delete;

  // Says that the thread is in no driver now. It is to be called in every round.
  void between_bursts() const;
  // Nobody waits for a thread that is away, and it is in no driver until it is back.
  void leave() const;
  void come_back() const;

 private:
  unsigned number_;
};

}  // namespace tributary::dataplane
