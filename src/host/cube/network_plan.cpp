// SPDX-License-Identifier: BSD-3-Clause
#include "host/cube/network_plan.h"

#include <algorithm>

namespace tributary::host {
namespace {

// Smaller pieces would wait for round trips rather than for links.
constexpr std::size_t piece_bytes_min = 65536;

// Tells whether links are done sooner with pieces that are scattered and gathered than with `steps`
// allreduces of the whole part. In the time of a part over a link one way, a piece takes 1/pieces
// to be scattered or gathered at first, and 1/alpha of that in each further step. Both go on at
// once, but for the first piece, which nobody gathers before, and the last one.
bool scattering_pays(std::uint64_t alpha, std::uint64_t steps, std::uint64_t pieces) {
  std::uint64_t once = 1;   // a piece over all networks, in the time that it takes over the last
  std::uint64_t first = 1;  // over the first network alone
  for (std::uint64_t step = 1; step < steps; ++step) {
    first *= alpha;
    once += first;
  }
  return pieces * once + 2 * (once - 1) < pieces * steps * first;
}

// Returns which of an interface's networks has it.
std::uint32_t number_of(Collective collective) {
  return collective == Collective::allreduce ? 0 : collective == Collective::reduce_scatter ? 1 : 2;
}

}  // namespace

NetworkPlan::NetworkPlan(const Call& call, const CubeLayout& layout, std::uint32_t pieces_max)
    : call_(call), layout_(layout) {
  const auto depths = static_cast<std::uint32_t>(layout.route(0).size());
  const auto part_bytes = call.buffers.bytes() / layout.interfaces();
  pieces_per_part_ = std::clamp<std::size_t>(part_bytes / piece_bytes_min, 1, pieces_max);
  scatters_ = scattering_pays(layout.group_size(), depths, pieces_per_part_);
  if (!scatters_) {
    pieces_per_part_ = 1;
  }
  per_interface_ = networks_per_interface(layout, pieces_max);
  steps_.resize(std::size_t{layout.interfaces()} * per_interface_);
  const auto stages = scatters_ ? 2 * depths - 1 : depths;
  for (std::size_t time = 0; time < pieces_per_part_ + stages - 1; ++time) {
    for (std::uint32_t stage = 0; stage < stages; ++stage) {
      if (stage <= time && time - stage < pieces_per_part_) {
        add_steps(time - stage, stage);
      }
    }
  }
}

// Adds a stage of a piece of each part.
void NetworkPlan::add_steps(std::size_t piece, std::uint32_t stage) {
  for (std::uint32_t part = 0; part < layout_.interfaces(); ++part) {
    const auto made = step(part, piece, stage);
    const auto route = layout_.route(part);
    const auto last = static_cast<std::uint32_t>(route.size()) - 1;
    const auto interface = route[stage <= last ? stage : 2 * last - stage];
    const auto network = interface * per_interface_ + number_of(made.call.collective);
    steps_[network].push_back(made);
  }
}

std::uint32_t NetworkPlan::networks_per_interface(const CubeLayout& layout,
                                                  std::uint32_t pieces_max) {
  return layout.route(0).size() == 1 || pieces_max == 1 ? 1 : 3;
}

NetworkPlan::Step NetworkPlan::step(std::uint32_t part, std::size_t piece,
                                    std::uint32_t stage) const {
  const auto last = static_cast<std::uint32_t>(layout_.route(part).size()) - 1;
  const auto depth = scatters_ ? std::min(stage, 2 * last - stage) : 0;
  auto collective = Collective::allreduce;
  if (scatters_ && stage != last) {
    collective = stage < last ? Collective::reduce_scatter : Collective::allgather;
  }
  const auto call = call_on(left_of(part, piece, depth), collective, stage == 0);
  return {part * pieces_per_part_ + piece, stage, call};
}

// Returns what this rank has of a piece when it was scattered over so many networks.
Range NetworkPlan::left_of(std::uint32_t part, std::size_t piece, std::uint32_t depth) const {
  auto left = share_of(call_.buffers.count, part, layout_.interfaces());
  left = share_of(left, piece, pieces_per_part_);
  const auto route = layout_.route(part);
  for (std::uint32_t passed = 0; passed < depth; ++passed) {
    left = share_of(left, layout_.place(route[passed]), layout_.group_size());
  }
  return left;
}

Call NetworkPlan::call_on(Range range, Collective collective, bool is_first) const {
  const auto& [in, out, count, type, op] = call_.buffers;
  const auto offset = range.begin * wire::element_bytes(type);
  const auto at = [&](auto* bytes) {
    return bytes == nullptr ? nullptr : bytes + offset;  // of a refused call
  };
  const std::byte* const from = is_first ? in : out;
  const auto how = collective == Collective::allgather ? wire::any_operator(type) : op;
  return call_of(collective, at(from), at(out), range.size(), type, how);
}

}  // namespace tributary::host
