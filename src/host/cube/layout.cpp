// SPDX-License-Identifier: BSD-3-Clause
#include "host/cube/layout.h"

#include <optional>
#include <string>

#include "host/text.h"

namespace tributary::host {
namespace {

std::uint64_t power(std::uint64_t base, std::uint32_t exponent) {
  std::uint64_t result = 1;
  for (std::uint32_t i = 0; i < exponent; ++i) {
    result *= base;
  }
  return result;
}

// Returns the number of ranks in a group; nothing if so many ranks make no BCube.
std::optional<std::uint32_t> alpha_of(std::uint32_t world_size, std::uint32_t interfaces) {
  std::uint32_t alpha = 2;
  while (power(alpha, interfaces) < world_size) {
    ++alpha;
  }
  return power(alpha, interfaces) == world_size ? std::optional(alpha) : std::nullopt;
}

}  // namespace

Result<CubeLayout> CubeLayout::of(Kind kind, std::uint32_t rank, std::uint32_t world_size,
                                  std::uint32_t interfaces) {
  if (interfaces == 0 || interfaces > interfaces_max) {
    return invalid("a rank has 1 to " + std::to_string(interfaces_max) + " interfaces, not " +
                   std::to_string(interfaces) + " (TRIBUTARY_INTERFACES)");
  }
  if (kind == Kind::mesh) {
    return CubeLayout(kind, rank, world_size, interfaces);
  }
  const auto alpha = alpha_of(world_size, interfaces);
  if (!alpha) {
    return invalid(
        "with " + std::to_string(interfaces) + " interfaces a BCube has " +
        std::to_string(power(2, interfaces)) + ", " + std::to_string(power(3, interfaces)) + ", " +
        std::to_string(power(4, interfaces)) + ", ... ranks, not " + std::to_string(world_size) +
        "; start as many, or use a mesh (TRIBUTARY_ALGORITHM=mesh) where every "
        "interface reaches every rank");
  }
  return CubeLayout(kind, rank, *alpha, interfaces);
}

std::uint32_t CubeLayout::stride(std::uint32_t interface) const {
  return kind_ == Kind::mesh ? 1 : static_cast<std::uint32_t>(power(alpha_, interface));
}

std::vector<std::uint32_t> CubeLayout::group(std::uint32_t interface) const {
  const auto first = rank_ - place(interface) * stride(interface);
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t member = 0; member < alpha_; ++member) {
    ranks.push_back(first + member * stride(interface));
  }
  return ranks;
}

std::uint32_t CubeLayout::place(std::uint32_t interface) const {
  return rank_ / stride(interface) % alpha_;
}

std::vector<CubeNeighbour> CubeLayout::neighbours() const {
  std::vector<CubeNeighbour> all;
  for (std::uint32_t interface = 0; interface < interfaces_; ++interface) {
    const auto ranks = group(interface);
    for (std::uint32_t member = 0; member < alpha_; ++member) {
      if (ranks[member] != rank_) {
        all.push_back({interface, ranks[member], member});
      }
    }
  }
  return all;
}

std::vector<std::uint32_t> CubeLayout::route(std::uint32_t part) const {
  if (kind_ == Kind::mesh) {
    return {part};
  }
  std::vector<std::uint32_t> interfaces;
  for (std::uint32_t step = 0; step < interfaces_; ++step) {
    interfaces.push_back((part + step) % interfaces_);
  }
  return interfaces;
}

}  // namespace tributary::host
