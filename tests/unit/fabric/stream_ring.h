// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "unit/fabric/cluster.h"
#include "unit/host/ring/pipes.h"

namespace tributary::test {

// The hosts' ring in virtual time: the schedules that ranks carry out over TCP (a Stream is a
// RingSchedule or a SparseSchedule), and between them the links of a cluster. In the order of the
// ranks no link has two streams in one direction, so that each has a line of its own, along which
// switches store and forward segments. Of TCP only the headers are modelled: there are no
// acknowledgements, no slow start and no loss. Hosts take no time.
template <typename Stream>
class StreamRing {
 public:
  StreamRing(const Cluster& cluster, std::vector<Stream> streams)
      : cluster_(cluster),
        streams_(std::move(streams)),
        pipes_(streams_.size()),
        arrived_(streams_.size()),
        sending_(streams_.size()) {}

  // Returns whether all ranks ended.
  bool run() {
    for (std::size_t rank = 0; rank < streams_.size(); ++rank) {
      go_on(rank);
    }
    while (!events_.empty()) {
      const auto event = events_.top();
      events_.pop();
      now_ = event.at;
      if (event.bytes == 0) {
        sending_[event.rank] = false;
      } else {
        arrived_[event.rank] += event.bytes;
      }
      go_on(event.rank);
    }
    return std::all_of(streams_.begin(), streams_.end(),
                       [](const auto& stream) { return stream.finished(); });
  }

  Duration time() const { return now_; }
  std::uint64_t line_bytes() const { return line_bytes_; }  // over all links
  const std::vector<Stream>& streams() const { return streams_; }

 private:
  struct Event {
    Duration at{};
    std::uint64_t order = 0;
    std::size_t rank = 0;
    std::size_t bytes = 0;  // that come to the rank; 0: its line is free

    bool operator<(const Event& other) const {
      return std::tie(at, order) > std::tie(other.at, other.order);
    }
  };

  // Bytes that were sent may make room for bytes that have come.
  void go_on(std::size_t rank) {
    take(rank);
    if (!sending_[rank] && send(rank)) {
      take(rank);
    }
  }

  void take(std::size_t rank) {
    for (;;) {
      const auto room = streams_[rank].receivable().size();
      const auto bytes = std::min(room, arrived_[rank]);
      if (bytes == 0) {
        return;
      }
      pipes_.receive(streams_[rank], rank, bytes);
      arrived_[rank] -= bytes;
    }
  }

  bool send(std::size_t rank) {
    const auto bytes = std::min(streams_[rank].sendable().size(), segment_bytes_max);
    if (bytes == 0) {
      return false;
    }
    const auto next = (rank + 1) % streams_.size();
    const auto links = cluster_.links(rank, next);
    const auto on_line = cluster_.on_line(segment_line_bytes(bytes));
    pipes_.send(streams_[rank], rank, bytes);
    sending_[rank] = true;
    line_bytes_ += links * segment_line_bytes(bytes);
    events_.push({now_ + on_line, order_++, rank, 0});
    events_.push({now_ + links * (on_line + cluster_.cable_delay), order_++, next, bytes});
    return true;
  }

  Cluster cluster_;
  std::vector<Stream> streams_;
  host::test::RingPipes pipes_;
  std::vector<std::size_t> arrived_;  // bytes that wait to be taken
  std::vector<bool> sending_;
  std::priority_queue<Event> events_;
  std::uint64_t order_ = 0;
  std::uint64_t line_bytes_ = 0;
  Duration now_{};
};

}  // namespace tributary::test
