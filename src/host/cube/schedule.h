// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "host/call.h"
#include "host/cube/layout.h"
#include "reduce/kernel.h"
#include "wire/cursor.h"

namespace tributary::host {

// One rank's part in an allreduce over several interfaces, without I/O (the gradient sketch paper,
// section 4.4.2 and table 2; it calls the first half "allgather", and the second "allreduce").
//
// The vector is cut into as many parts as there are interfaces, and each part begins with another
// interface, so that all are busy. Along its route a part is reduce-scattered: of what a rank has,
// each rank of the group gets a share from all others, adds them, and goes on with that; then it is
// gathered, backwards. What is to be sent to a neighbour, of all parts one after the other, is one
// stream of bytes, and every order of arrival between streams is fine. To its own share a
// rank adds those of the others in the order of their ranks, so that sums do not depend on who was
// faster. Floats of 16 and 8 bits are rounded after each addition.
//
// It needs as much memory as the vector has, for shares that have come and are not added yet.
class CubeSchedule {
 public:
  // Copies `in` to `out` if they differ, and works in `out`. The vector is cut, and added, at
  // multiples of `grain` elements only. Streams are numbered as layout.neighbours().
  CubeSchedule(const Buffers& buffers, const CubeLayout& layout, std::size_t grain = 1);
  CubeSchedule(const CubeSchedule&) = delete;
  CubeSchedule& operator=(const CubeSchedule&) = delete;

  std::size_t streams() const { return streams_.size(); }
  // Returns what may be sent to that neighbour now: a piece of the stream, empty if nothing.
  wire::Bytes sendable(std::size_t stream) const;
  void sent(std::size_t stream, std::size_t bytes);
  // Returns where bytes from that neighbour are to be put; empty when all have come.
  wire::MutableBytes receivable(std::size_t stream);
  void received(std::size_t stream, std::size_t bytes);

  bool finished() const;
  std::uint64_t bytes_sent(std::size_t stream) const { return streams_[stream].out.moved; }
  std::uint64_t bytes_to_send(std::size_t stream) const { return streams_[stream].out.total; }
  std::uint64_t bytes_received(std::size_t stream) const { return streams_[stream].in.moved; }
  std::uint64_t bytes_expected(std::size_t stream) const { return streams_[stream].in.total; }

 private:
  // Elements of the vector.
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t size() const { return end - begin; }
  };
  // A piece goes to a neighbour, or comes from one, in a step of a part.
  struct Piece {
    std::uint64_t start = 0;  // in the stream
    std::size_t bytes = 0;
    std::byte* at = nullptr;
    std::size_t part = 0;
    std::size_t step = 0;  // to be sent when so many steps of the part are done
  };
  struct Stream {
    std::vector<Piece> pieces;
    std::size_t piece = 0;  // the first one that is not moved wholly
    std::uint64_t moved = 0;
    std::uint64_t total = 0;

    void add(Piece next);
    void move(std::size_t bytes);
    bool done() const { return moved == total; }
    wire::MutableBytes rest() const;
  };
  struct Neighbour {
    Stream out;
    Stream in;
  };
  // This rank gets that from a neighbour in a step.
  struct Arrival {
    std::size_t stream = 0;
    std::uint64_t start = 0;  // in the stream
    std::size_t bytes = 0;
    const std::byte* at = nullptr;
  };
  struct Step {
    std::vector<Arrival> arrivals;  // from the others, in the order of their ranks
    // A step that adds has its share here, and what comes to that.
    std::byte* target = nullptr;
    std::size_t bytes = 0;
    std::size_t added = 0;
    std::unique_ptr<std::byte[]> staging{};
  };
  struct Part {
    std::vector<std::uint32_t> route;
    std::vector<Range> ranges;  // of this rank before each step that adds, and behind the last
    std::vector<Step> steps;
    std::size_t done = 0;  // steps
  };

  Range share(Range range, std::uint32_t place, std::uint32_t members) const;
  void plan_adding(std::size_t part, std::size_t stage, const CubeLayout& layout);
  void plan_gathering(std::size_t part, std::size_t stage, const CubeLayout& layout);
  std::byte* place_of(Range range) const { return buffers_.out + range.begin * element_bytes_; }
  std::size_t bytes_of(Range range) const { return range.size() * element_bytes_; }
  std::size_t arrived(const Arrival& arrival) const;
  void advance(Part& part);
  bool complete(Step& step);
  void add(Step& step, std::size_t end);

  Buffers buffers_;
  const reduce::Kernel& kernel_;
  std::size_t element_bytes_;
  std::size_t grain_;
  std::vector<CubeNeighbour> neighbours_;
  std::vector<Part> parts_;
  std::vector<Neighbour> streams_;
};

}  // namespace tributary::host
