// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "host/clock.h"
#include "host/datagram.h"
#include "host/error.h"
#include "host/outbox.h"
#include "host/transport/datagram_socket.h"

namespace tributary::host {

// Moves datagrams between machines and one socket with io_uring: one multishot receive into a ring
// of provided buffers, sends submitted in batches, payloads taken from where they lie. It sleeps
// when there is nothing to do.
class UringTransport {
 public:
  static Result<UringTransport> create(DatagramSocket socket, std::size_t datagram_bytes_max);
  UringTransport(UringTransport&&) noexcept;
  UringTransport& operator=(UringTransport&&) noexcept;
  ~UringTransport();

  // Sends from `outbox` as far as there are free slots, then waits until a datagram arrives, a slot
  // becomes free for what is left, or `until`. Yields what arrived; valid until the next call.
  Result<std::span<const Arrival>> exchange(Outbox& outbox, Time until);

  // Waits until no payload is needed any more. What arrives meanwhile is kept for exchange().
  Result<void> flush(Time until);

  // Does the same without waiting, for a thread that stands in for the usual one: nothing is left
  // with the kernel that needs this thread to go on. The datagrams that the usual thread was
  // notified of come first; others are read from the socket.
  Result<std::span<const Arrival>> attend(Outbox& outbox);
  // One of these is readable when attend() finds something.
  std::array<int, 2> descriptors() const;

  const DatagramSocket& socket() const;
  // Says how many datagrams the kernel refused, and why the last one was; empty if none.
  std::string trouble() const;
  void forget_trouble();

 private:
  struct State;
  explicit UringTransport(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tributary::host
