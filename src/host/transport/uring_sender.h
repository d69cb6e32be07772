// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <sys/uio.h>
#include <vector>

#include <liburing.h>

#include "host/datagram.h"
#include "host/error.h"
#include "host/outbox.h"
#include "host/transport/datagram_socket.h"

namespace tributary::host {

// Sends datagrams, each as one sendmsg of header, payload and trailer. Until a send completes, its
// payload is in use.
class UringSender {
 public:
  static constexpr unsigned slot_count = 256;

  // The user data of its completions are the slots, below slot_count. The socket outlives the
  // sender.
  UringSender(io_uring& ring, const DatagramSocket& socket);

  // Prepares sends from `outbox` as far as there are free slots; the caller submits.
  void queue(Outbox& outbox);
  Result<void> complete(unsigned slot, int result);

  bool idle() const { return free_slots_.size() == slot_count; }
  bool has_room() const { return !free_slots_.empty(); }
  // Tells whether there are sends to be tried again by queue().
  bool retries() const { return !retries_.empty(); }
  // Says how many datagrams the kernel refused, and why the last one was; empty if none.
  std::string trouble() const;
  void forget_trouble() { refused_ = 0; }

 private:
  struct Slot {
    int fd;
    std::array<std::byte, Datagram::header_bytes_max> header;
    std::array<std::byte, Datagram::trailer_bytes_max> trailer;
    iovec parts[3];
    union {
      sockaddr_in6 internet;  // of either version of IP
      sockaddr_ll link;
    } destination;
    msghdr message;
  };

  void fill(Slot& slot, const Datagram& datagram) const;
  bool prepare(unsigned slot);

  io_uring& ring_;
  const DatagramSocket& socket_;
  std::vector<Slot> slots_;
  std::vector<unsigned> free_slots_;
  std::vector<unsigned> retries_;
  std::uint64_t refused_ = 0;
  int last_refusal_ = 0;
};

}  // namespace tributary::host
