// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "host/error.h"

namespace tributary::host {

// Another rank, and the interface by which it is reached.
struct CubeNeighbour {
  std::uint32_t interface = 0;
  std::uint32_t rank = 0;
  std::uint32_t place = 0;  // among those of the group, by rank
};

// Tells which ranks share a network, one for each interface of a rank, and which networks a part of
// the vector passes in turn.
//
// BCube(alpha, beta) (Guo et al., "BCube: A High Performance, Server-centric Network Architecture
// for Modular Data Centers", 2009): alpha^beta ranks with beta interfaces each; rank r has the
// digits of r to the base alpha, the lowest first, and shares the switch of its interface i with
// the ranks that differ from it in digit i alone. In a mesh every interface reaches every rank.
class CubeLayout {
 public:
  enum class Kind : std::uint8_t { bcube, mesh };

  // A rank has ports for so many in its hello.
  static constexpr std::uint32_t interfaces_max = 4;

  // Preconditions: two ranks or more, `rank` among them.
  static Result<CubeLayout> of(Kind kind, std::uint32_t rank, std::uint32_t world_size,
                               std::uint32_t interfaces);

  std::uint32_t interfaces() const { return interfaces_; }
  // Returns how many ranks share the network of an interface.
  std::uint32_t group_size() const { return alpha_; }
  // Returns the ranks that share this rank's network, itself included, in their order.
  std::vector<std::uint32_t> group(std::uint32_t interface) const;
  // Returns this rank's place among them.
  std::uint32_t place(std::uint32_t interface) const;
  // Returns all others of all groups; in a mesh, each rank once for every interface.
  std::vector<CubeNeighbour> neighbours() const;
  // Returns the interfaces by which a part of the vector is spread, in turn; it is gathered
  // backwards. There are as many parts as interfaces, each of which begins with another.
  std::vector<std::uint32_t> route(std::uint32_t part) const;

 private:
  CubeLayout(Kind kind, std::uint32_t rank, std::uint32_t alpha, std::uint32_t interfaces)
      : kind_(kind), rank_(rank), alpha_(alpha), interfaces_(interfaces) {}
  std::uint32_t stride(std::uint32_t interface) const;

  Kind kind_;
  std::uint32_t rank_;
  std::uint32_t alpha_;
  std::uint32_t interfaces_;
};

}  // namespace tributary::host
