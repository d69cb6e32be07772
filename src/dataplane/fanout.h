// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

namespace tributary::dataplane {

// The kernel deals the frames of a port among its packet sockets, which are a group (packet(7),
// PACKET_FANOUT). DPDK's driver numbers such groups by process and interface, and those numbers
// clash among the processes of a network namespace: the later one could not open its port. While a
// FanoutGroup lives, the sockets that its thread puts into a group come into one that the kernel
// has numbered, that is nobody else's, and whose fragments come as they are. A thread has one at a
// time.
class FanoutGroup {
 public:
  FanoutGroup();
  ~FanoutGroup();
  FanoutGroup(const FanoutGroup&) = delete;
  FanoutGroup& operator=(const FanoutGroup&) = delete;

  // Does as setsockopt() with PACKET_FANOUT and `asked`, of which the number is not obeyed, nor
  // that fragments be put together.
  int join(int socket, unsigned asked);

 private:
  std::optional<unsigned> number_;  // set when the first socket has joined
};

}  // namespace tributary::dataplane
