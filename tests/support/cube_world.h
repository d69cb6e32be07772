// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/cube/frames.h"
#include "host/cube/layout.h"
#include "host/cube/schedule.h"
#include "host/text.h"

namespace tributary::host::test {

// A CubeWorld has the ranks of a job over several interfaces, in memory: what each has written for
// a neighbour lies in a pipe until that reads it. Whoever drives it says who begins an allreduce,
// who moves, and how much. A rank that fails tells its neighbours why, as one on sockets does.
class CubeWorld {
 public:
  CubeWorld(CubeLayout::Kind kind, std::uint32_t size, std::uint32_t interfaces) {
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      ranks_.push_back(std::make_unique<Rank>(*CubeLayout::of(kind, rank, size, interfaces)));
    }
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      for (const auto& [interface, peer, place] : ranks_[rank]->neighbours) {
        ranks_[rank]->back.push_back(stream_between(peer, rank, interface));
      }
    }
  }

  // Begins the rank's next allreduce, when the one before is over.
  void begin(std::size_t rank, const Buffers& buffers, std::size_t grain = 1) {
    auto& one = *ranks_[rank];
    one.mine = RingAnnouncement::of(RingAnnouncement::Kind::allreduce, buffers, 0);
    one.mine.sequence = one.begun++;
    one.writers.clear();
    one.readers.clear();
    one.schedule = std::make_unique<CubeSchedule>(buffers, one.layout, grain);
    for (std::size_t stream = 0; stream < one.neighbours.size(); ++stream) {
      one.writers.emplace_back(*one.schedule, stream, one.mine);
      one.readers.emplace_back(*one.schedule, stream, one.mine, one.headers[stream]);
    }
  }
  std::size_t size() const { return ranks_.size(); }
  std::size_t streams(std::size_t rank) const { return ranks_[rank]->neighbours.size(); }
  // Moves up to `most` bytes to or from the pipe of a stream, and returns how many.
  std::size_t send(std::size_t rank, std::size_t stream, std::size_t most) {
    auto& one = *ranks_[rank];
    if (one.failure || !one.schedule) {
      return 0;
    }
    const auto [control, elements] = one.writers[stream].sendable();
    const auto n = std::min(most, control.size() + elements.size());
    const auto first = std::min(n, control.size());
    put(one, stream, control.first(first));
    put(one, stream, elements.first(n - first));
    one.writers[stream].sent(n);
    return n;
  }
  std::size_t receive(std::size_t rank, std::size_t stream, std::size_t most) {
    auto& one = *ranks_[rank];
    const auto& neighbour = one.neighbours[stream];
    auto& pipe = ranks_[neighbour.rank]->pipes[one.back[stream]];
    const bool listens = !one.failure && one.schedule;
    const auto room = listens ? one.readers[stream].receivable() : wire::MutableBytes();
    const auto n = std::min({most, room.size(), pipe.size()});
    if (n != 0) {
      std::copy_n(pipe.begin(), n, room.begin());
      pipe.erase(pipe.begin(), pipe.begin() + static_cast<std::ptrdiff_t>(n));
      if (auto taken = one.readers[stream].received(n, rank_text(neighbour.rank)); !taken) {
        fail(rank, taken.error());
      }
    }
    return n;
  }
  // From now on this rank goes no further, and tells why.
  void fail(std::size_t rank, const Error& why) {
    auto& one = *ranks_[rank];
    if (one.failure) {
      return;
    }
    one.failure = why;
    for (std::size_t stream = 0; stream < one.writers.size(); ++stream) {
      put(one, stream, one.writers[stream].ending(why));
    }
  }
  // From now on nothing passes by that interface of a rank, and what is on its way is lost.
  void cut(std::size_t rank, std::uint32_t interface) {
    auto& one = *ranks_[rank];
    for (std::size_t stream = 0; stream < one.neighbours.size(); ++stream) {
      if (one.neighbours[stream].interface == interface) {
        cut_stream(rank, stream);
      }
    }
  }
  // Cuts what passes between a rank and one neighbour.
  void cut_stream(std::size_t rank, std::size_t stream) {
    auto& one = *ranks_[rank];
    auto& other = *ranks_[one.neighbours[stream].rank];
    one.is_cut[stream] = true;
    one.pipes[stream].clear();
    other.is_cut[one.back[stream]] = true;
    other.pipes[one.back[stream]].clear();
  }
  const CubeNeighbour& neighbour(std::size_t rank, std::size_t stream) const {
    return ranks_[rank]->neighbours[stream];
  }

  bool finished(std::size_t rank) const {
    const auto& one = *ranks_[rank];
    return one.schedule->finished() && std::ranges::all_of(one.writers, &CubeWriter::finished) &&
           std::ranges::all_of(one.readers, &CubeReader::joined);
  }
  const std::optional<Error>& failure(std::size_t rank) const { return ranks_[rank]->failure; }
  std::uint64_t bytes_sent(std::size_t rank, std::uint32_t interface) const {
    const auto& one = *ranks_[rank];
    std::uint64_t sum = 0;
    for (std::size_t stream = 0; stream < one.neighbours.size(); ++stream) {
      sum += one.neighbours[stream].interface == interface ? one.schedule->bytes_sent(stream) : 0;
    }
    return sum;
  }

 private:
  struct Rank {
    explicit Rank(const CubeLayout& of)
        : layout(of),
          neighbours(of.neighbours()),
          headers(neighbours.size()),
          pipes(neighbours.size()),
          is_cut(neighbours.size()) {}

    CubeLayout layout;
    std::vector<CubeNeighbour> neighbours;
    std::uint32_t begun = 0;
    RingAnnouncement mine;
    std::unique_ptr<CubeSchedule> schedule;
    std::deque<CubeWriter> writers;
    std::deque<CubeReader> readers;
    std::vector<CubeHeader> headers;           // of what comes in
    std::vector<std::deque<std::byte>> pipes;  // to the neighbours
    std::vector<bool> is_cut;
    std::vector<std::size_t> back;  // the neighbours' streams to this rank
    std::optional<Error> failure;
  };

  static void put(Rank& rank, std::size_t stream, wire::Bytes bytes) {
    if (!rank.is_cut[stream]) {
      rank.pipes[stream].insert(rank.pipes[stream].end(), bytes.begin(), bytes.end());
    }
  }
  std::size_t stream_between(std::uint32_t from, std::uint32_t to, std::uint32_t interface) const {
    const auto& all = ranks_[from]->neighbours;
    const auto found = std::ranges::find_if(all, [&](const CubeNeighbour& one) {
      return one.rank == to && one.interface == interface;
    });
    return static_cast<std::size_t>(found - all.begin());
  }

  std::vector<std::unique_ptr<Rank>> ranks_;
};

}  // namespace tributary::host::test
