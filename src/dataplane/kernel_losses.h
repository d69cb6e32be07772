// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dataplane/interface.h"

namespace tributary::dataplane {

// The kernel loses frames of a port of which DPDK's drivers say nothing: those for which the
// driver's sockets had no room, and those that the interface lost.
class KernelLosses {
 public:
  // A TAP's port is at the far side: it receives what the interface sends.
  enum class Side : std::uint8_t { near, far };

  // This is to be made before the driver opens its sockets, which are known by being new.
  // `interface` is empty where there is none.
  KernelLosses(std::string interface, Side side);

  // The driver has opened its sockets, and keeps them open as long as count() is called.
  void watch();
  // Returns them, in the order in which they were opened. They can be read while frames wait.
  const std::vector<int>& sockets() const { return sockets_; }
  // A packet socket forgets what it has told, so nobody else may ask those of the driver.
  void count();

  // Both are as of the last count().
  std::uint64_t missed() const { return missed_; }  // frames that were to come
  std::uint64_t unsent() const { return unsent_; }  // frames that were to go

 private:
  void count_interface();

  std::string interface_;
  Side side_;
  InterfaceLosses told_;      // by the interface, the last time
  std::vector<int> sockets_;  // of the driver; until watch(), those of others
  std::uint64_t told_by_rings_ = 0;
  std::uint64_t missed_ = 0;
  std::uint64_t unsent_ = 0;
};

}  // namespace tributary::dataplane
