// SPDX-License-Identifier: BSD-3-Clause
#include "property/shrink.h"

#include <bit>

#include "property/simplest.h"
#include "property/trial.h"

namespace tributary::test {
namespace {

struct Field {
  std::uint64_t Shape::*value;
  std::uint64_t harmless;
};

constexpr Field fields[] = {
#define TRIBUTARY_ENTRY(name, harmless) {&Shape::name, harmless},
    TRIBUTARY_SHAPE(TRIBUTARY_ENTRY)
#undef TRIBUTARY_ENTRY
};

bool is_possible(const Shape& shape) {
  const auto leaves = shape.levels > 1 ? shape.leaves * (shape.levels > 2 ? shape.pods : 1) : 1;
  const auto hosts = shape.hosts * leaves;
  const bool fills_blocks = shape.payload != 0 && shape.payload % 32 == 0;
  const auto apart = shape.panama + shape.netreduce + shape.flare;
  const bool seats_apart = apart == 0 || (hosts >= 2 && apart <= shape.jobs);
  const bool makes_rings = shape.runs >= 1 && shape.ring_window >= 1 &&
                           shape.message_packets >= 1 && std::has_single_bit(shape.mtu) &&
                           shape.mtu >= 256;
  const bool in_vlan = shape.bridged != 0 && shape.vlan != 0;
  const bool is_tree = shape.spines == 1 && shape.roots == 1;
  const bool is_linked =
      (shape.tagged == 0 || in_vlan) && (shape.trunks == 0 || (in_vlan && is_tree));
  return is_linked && fills_blocks && seats_apart && makes_rings && shape.panama_trees >= 1 &&
         shape.flare_window >= 1 && shape.world >= 2 && shape.jobs >= 1 &&
         (shape.crowd != 0 || shape.world <= hosts) && hosts >= 1;
}

}  // namespace

Shape shrink(const Shape& shape, HeapPacketPool& pool) {
  return simplest(shape, fields, [&](const Shape& simpler) {
    return is_possible(simpler) && !run_trial(simpler, pool).fault.empty();
  });
}

}  // namespace tributary::test
