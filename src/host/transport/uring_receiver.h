// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <netinet/in.h>
#include <span>
#include <sys/socket.h>
#include <thread>
#include <vector>

#include <liburing.h>

#include "host/datagram.h"
#include "host/error.h"
#include "host/transport/datagram_socket.h"
#include "host/transport/ecn_of.h"

namespace tributary::host {

// A multishot receive of a socket into a ring of provided buffers. The kernel must have let go of
// the buffers (idle(), or the end of the ring) before this is destroyed.
class UringReceiver {
 public:
  // The user data of completions that tell nothing.
  static constexpr std::uint64_t ignored_tag = ~std::uint64_t{0} >> 32;

  // The user data of its completions has `tag` in its low half.
  UringReceiver(io_uring& ring, const DatagramSocket& socket, std::uint32_t tag)
      : ring_(ring), socket_fd_(socket.fd.get()), tag_(tag) {
    message_.msg_controllen = socket.tells_ecn ? ecn_control_bytes : 0;
    message_.msg_namelen = socket.tells_source ? name_bytes : 0;
  }

  Result<void> open(std::size_t datagram_bytes_max);

  // Starts receiving unless it goes on already; the caller submits. The kernel goes on with it when
  // the thread that has started it enters the kernel, so that another thread starts anew.
  void arm();
  bool armed() const { return armed_; }
  // Tells whether every receive that was started has ended.
  bool idle() const { return outstanding_ == 0; }
  bool is_own(std::uint64_t user_data) const {
    return static_cast<std::uint32_t>(user_data) == tag_;
  }

  Result<void> complete(const io_uring_cqe& cqe);

  bool empty() const { return arrived_.empty(); }
  // Returns what arrived since the last call; valid until recycle().
  std::span<const Arrival> take();
  // Gives the buffers of the last take() back to the kernel.
  void recycle();

 private:
  std::uint64_t user_data() const { return generation_ << 32 | tag_; }

  // Holds the name of a sender. What is behind it in a buffer, control data and payload, is aligned
  // as the buffer is.
  static constexpr unsigned name_bytes = (sizeof(sockaddr_in6) + 7) / 8 * 8;

  struct FreeDeleter {
    void operator()(void* memory) const { std::free(memory); }
  };

  io_uring& ring_;
  int socket_fd_;
  std::uint32_t tag_;
  std::uint64_t generation_ = 0;  // of the receive that was started last
  bool armed_ = false;
  std::thread::id armed_by_;
  unsigned outstanding_ = 0;
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
