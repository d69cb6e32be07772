// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/engine/aggregator.h"

#include "packet/pool.h"

namespace tributary::netreduce {

AggregatorArray::AggregatorArray(const RingConfig& ring)
    : world_(ring.members.size()),
      open_messages_(ring.open_messages()),
      message_packets_(ring.message_packets),
      mtu_(ring.mtu),
      first_total_(ring.parent ? ring.aggregators() : 0),
      aggregators_(ring.aggregators()),
      slots_(ring.aggregators() * ring.members.size()),
      results_(
          std::make_unique_for_overwrite<std::byte[]>((first_total_ + ring.aggregators()) * mtu_)),
      wide_(std::make_unique_for_overwrite<std::byte[]>(ring.aggregators() * wide_bytes())) {}

void AggregatorArray::clear(std::size_t index) {
  for (auto& slot : slots(index)) {
    slot.packet.reset();
  }
  aggregators_[index] = {};
  aggregators_[index].run = run_;
}

}  // namespace tributary::netreduce
