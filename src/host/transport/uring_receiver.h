// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <netinet/in.h>
#include <span>
#include <sys/socket.h>
#include <vector>

#include <liburing.h>

#include "host/datagram.h"
#include "host/error.h"
#include "host/transport/datagram_socket.h"
#include "host/transport/ecn_of.h"

namespace tributary::host {

// One multishot receive of a socket into a ring of provided buffers. The kernel must have let go of
// the buffers (the final completion, or the end of the ring) before this is destroyed.
class UringReceiver {
 public:
  // User data of its completions is `tag`.
  UringReceiver(io_uring& ring, const DatagramSocket& socket, std::uint64_t tag)
      : ring_(ring), socket_fd_(socket.fd.get()), tag_(tag) {
    message_.msg_controllen = socket.tells_ecn ? ecn_control_bytes : 0;
    message_.msg_namelen = socket.tells_source ? sizeof(sockaddr_in) : 0;
  }

  Result<void> open(std::size_t datagram_bytes_max);

  // Starts receiving unless it goes on already; the caller submits.
  void arm();
  bool armed() const { return armed_; }

  Result<void> complete(const io_uring_cqe& cqe);

  bool empty() const { return arrived_.empty(); }
  // What arrived since the last call; valid until recycle().
  std::span<const Arrival> take();
  // Gives the buffers of the last take() back to the kernel.
  void recycle();

 private:
  struct FreeDeleter {
    void operator()(void* memory) const { std::free(memory); }
  };

  io_uring& ring_;
  int socket_fd_;
  std::uint64_t tag_;
  bool armed_ = false;
  std::unique_ptr<io_uring_buf_ring, FreeDeleter> buffer_ring_;
  std::vector<std::byte> buffers_;
  std::size_t buffer_bytes_ = 0;
  msghdr message_{};  // says whether names and control messages are wanted
  std::vector<Arrival> arrived_;
  std::vector<Arrival> taken_;
  std::vector<unsigned> arrived_buffers_;
  std::vector<unsigned> taken_buffers_;
};

}  // namespace tributary::host
