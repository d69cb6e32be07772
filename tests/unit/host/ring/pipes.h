// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <vector>

namespace tributary::host::test {

// The bytes on their way from each rank of a ring to the next. A Stream is a RingSchedule,
// RingChain or SparseSchedule.
class RingPipes {
 public:
  explicit RingPipes(std::size_t ranks) : pipes_(ranks) {}

  // Moves up to `most` bytes from or to the stream of a rank, and returns whether any moved.
  template <typename Stream>
  bool send(Stream& stream, std::size_t rank, std::size_t most) {
    const auto bytes = stream.sendable();
    const auto n = std::min(most, bytes.size());
    auto& pipe = pipes_[(rank + 1) % pipes_.size()];
    pipe.insert(pipe.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
    if (n != 0) {
      stream.sent(n);
    }
    return n != 0;
  }
  template <typename Stream>
  bool receive(Stream& stream, std::size_t rank, std::size_t most) {
    auto& pipe = pipes_[rank];
    const auto room = stream.receivable();
    const auto n = std::min({most, room.size(), pipe.size()});
    std::copy_n(pipe.begin(), n, room.begin());
    pipe.erase(pipe.begin(), pipe.begin() + static_cast<std::ptrdiff_t>(n));
    if (n != 0) {
      stream.received(n);
    }
    return n != 0;
  }

 private:
  std::vector<std::deque<std::byte>> pipes_;  // to each rank
};

}  // namespace tributary::host::test
