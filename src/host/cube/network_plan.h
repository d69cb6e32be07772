// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/call.h"
#include "host/cube/layout.h"
#include "host/share.h"

namespace tributary::host {

// Tells which collectives one rank takes part in to allreduce a vector over several networks whose
// switches add, without I/O.
//
// Each part of the vector is cut into pieces. Over all networks of a part's route but the last, a
// piece is reduce-scattered: each rank of the group gets the sum of a share, and goes on with that.
// Over the last one what is left is allreduced. Then shares are gathered, backwards. To scatter
// mostly fills a link towards the switch, and to gather fills it the other way, so pieces follow
// each other closely. Where few pieces are wanted, or a vector is too short for them, a part is
// allreduced whole over one network after the other.
//
// An interface has a network for allreduces; where pieces are wanted in a BCube, it has two more,
// to scatter and to gather at the same time. Each carries out its steps in their order, which is
// that of all ranks, and waits with a step until the piece has passed those before. A step comes
// behind those that it waits for in an order of the steps of all networks, so they never wait for
// each other in a circle.
class NetworkPlan {
 public:
  struct Step {
    std::size_t piece = 0;
    std::uint32_t stage = 0;  // so many of the piece's steps come before
    Call call;
  };

  // `call` is an allreduce. A part is cut into no more than `pieces_max` pieces.
  NetworkPlan(const Call& call, const CubeLayout& layout, std::uint32_t pieces_max);

  static std::uint32_t networks_per_interface(const CubeLayout& layout, std::uint32_t pieces_max);
  std::size_t networks() const { return steps_.size(); }
  // Those of an interface follow each other; the first one has the allreduces.
  const std::vector<Step>& steps(std::size_t network) const { return steps_[network]; }
  std::size_t pieces() const { return pieces_per_part_ * layout_.interfaces(); }

 private:
  void add_steps(std::size_t piece, std::uint32_t stage);
  Step step(std::uint32_t part, std::size_t piece, std::uint32_t stage) const;
  Range left_of(std::uint32_t part, std::size_t piece, std::uint32_t depth) const;
  Call call_on(Range range, Collective collective, bool is_first) const;

  Call call_;
  CubeLayout layout_;
  std::size_t pieces_per_part_;
  bool scatters_;
  std::uint32_t per_interface_;
  std::vector<std::vector<Step>> steps_;  // by network
};

}  // namespace tributary::host
