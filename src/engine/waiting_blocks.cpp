// SPDX-License-Identifier: BSD-3-Clause
#include "engine/waiting_blocks.h"

#include "engine/port_bitmap.h"

namespace tributary::engine {

DescriptorStatus descriptor_of(const TreePlace& place, const WaitingBlock& waiting, Time now) {
  DescriptorStatus row;
  row.job = place.job;
  row.id = waiting.block;
  row.counter = waiting.contributions;
  row.hosts = place.workers;
  row.age = now - waiting.since;
  row.leader = place.group;
  row.children = ports_of(place.children, waiting.arrived);
  row.sparse = waiting.sparse;
  return row;
}

StallStatus stall_of(const TreePlace& place, const WaitingBlock& waiting, Time now) {
  const auto all = ~std::uint64_t{0} >> (tree_children_max - place.children.size());
  StallStatus row;
  row.job = place.job;
  row.block = waiting.block;
  row.attempt = waiting.attempt;
  row.contributions = waiting.contributions;
  row.hosts = place.workers;
  row.waiting = now - waiting.since;
  row.leader = place.group;
  row.missing_ports = ports_of(place.children, all & ~waiting.arrived);
  row.sparse = waiting.sparse;
  row.group = place.group;
  return row;
}

}  // namespace tributary::engine
