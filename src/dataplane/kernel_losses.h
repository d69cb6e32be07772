// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dataplane/interface.h"

namespace tributary::dataplane {

// Frames of one port that the kernel loses, of which DPDK's drivers say nothing: those for which
// the driver's sockets had no room, and those that the interface lost.
class KernelLosses {
 public:
  // What the interface sends, the port receives: of a TAP.
  enum class Side : std::uint8_t { near, far };

  // To be made before the driver opens its sockets, which are known by being new. `interface` is
  // empty where there is none.
  KernelLosses(std::string interface, Side side);

  // The driver has opened its sockets, and keeps them open as long as count() is called.
  void watch();
  // A packet socket forgets what it has told: nobody else may ask those of the driver.
  void count();

  // As of the last count().
  std::uint64_t missed() const { return missed_; }  // were to come
  std::uint64_t unsent() const { return unsent_; }  // were to go

 private:
  void count_interface();

  std::string interface_;
  Side side_;
  InterfaceLosses told_;      // by the interface, the last time
  std::vector<int> sockets_;  // until watch(): those of others
  std::uint64_t told_by_rings_ = 0;
  std::uint64_t missed_ = 0;
  std::uint64_t unsent_ = 0;
};

}  // namespace tributary::dataplane
