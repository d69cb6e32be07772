// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bindings/nccl/listener.h"
#include "bindings/nccl/socket.h"

namespace tributary::nccl {

// By a Star, ranks tell each other something before they have a communicator, by the handles alone:
// all come to rank 0, which tells everybody. That is done once.
class Star {
 public:
  // `listener` is this rank's own, at which rank 0 is met; `first` is the handle of rank 0.
  Star(const Listener& listener, const Handle& first, std::uint32_t rank, std::uint32_t ranks,
       std::chrono::milliseconds patience)
      : listener_(listener), first_(first), rank_(rank), ranks_(ranks), patience_(patience) {}

  // tributary_comm_create_with() calls this.
  static int allgather(void* self, const void* in, void* out, std::size_t bytes);

  // Tells why it has failed, if it has.
  const std::string& failure() const { return failure_; }

 private:
  using Clock = std::chrono::steady_clock;

  bool host(const void* in, std::byte* out, std::size_t bytes);
  bool visit(const void* in, std::byte* out, std::size_t bytes);
  bool believe(Guest& guest, std::byte* out, std::size_t bytes);
  bool tell_all(const std::byte* all, std::size_t bytes);
  bool fail(std::string why);

  const Listener& listener_;
  const Handle first_;
  const std::uint32_t rank_;
  const std::uint32_t ranks_;
  const std::chrono::milliseconds patience_;
  Clock::time_point until_;
  std::vector<Socket> others_;  // by rank
  std::string failure_;
};

}  // namespace tributary::nccl
