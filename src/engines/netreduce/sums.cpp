// SPDX-License-Identifier: BSD-3-Clause
// What becomes of the packets of gradient messages (sections 3.1 and 3.3).
#include <bit>
#include <utility>

#include "engines/netreduce/engine.h"

namespace tributary::netreduce {

using State = Aggregator::State;

void NetReduceEngine::aggregate(PacketPtr packet, const RocePacket& roce, const Gradient& gradient,
                                Time now, engine::Actions& actions) {
  auto& array = gradient.ring.aggregators();
  const auto index = array.index_of(gradient.message.id, gradient.offset);
  auto& aggregator = array.at(index);
  const auto shape = shape_of(roce, gradient.message, gradient.offset);
  const bool is_empty = aggregator.state == State::empty;
  if (!is_empty && gradient.message.id < aggregator.message) {
    ++counters_.past;
    return actions.forward(std::move(packet));
  }
  if (is_empty || gradient.message.id != aggregator.message) {
    counters_.abandoned += aggregator.is_waiting() ? 1 : 0;
    array.clear(index);
    aggregator = {State::gathering, shape, gradient.message.id, 0, now};
  }
  if (aggregator.shape != shape) {
    return actions.drop(std::move(packet), DropReason::netreduce_mismatch);
  }
  const auto path = gradient.ring.paths().of(gradient.rank);
  if (aggregator.state == State::complete ||
      (aggregator.state == State::sent && path == Path::upwards)) {
    answer(std::move(packet), roce, gradient, index, actions);
  } else if (path == Path::downwards) {
    take_total(std::move(packet), roce, gradient.ring, index, actions);
  } else {
    keep(std::move(packet), gradient, index, actions);
  }
}

// What was sent before comes again, or the sum of all comes by another packet from above.
void NetReduceEngine::answer(PacketPtr packet, const RocePacket& roce, const Gradient& gradient,
                             std::size_t index, engine::Actions& actions) {
  auto& array = gradient.ring.aggregators();
  const auto& aggregator = array.at(index);
  const bool is_repeat = gradient.ring.paths().of(gradient.rank) != Path::downwards;
  ++(is_repeat ? counters_.answered : counters_.totals);
  ++(aggregator.state == State::sent ? counters_.partials : counters_.results);
  rewrite(roce, aggregator.shape, array.result(index));
  actions.forward_towards(std::move(packet), gradient.ring.above(gradient.rank));
}

void NetReduceEngine::keep(PacketPtr packet, const Gradient& gradient, std::size_t index,
                           engine::Actions& actions) {
  auto& ring = gradient.ring;
  auto& aggregator = ring.aggregators().at(index);
  ++counters_.gradients;
  ++ring.tally().gradients;
  auto& slot = ring.aggregators().slots(index)[gradient.rank];
  counters_.overwritten += slot != nullptr ? 1 : 0;
  slot = std::move(packet);
  actions.absorb(nullptr);
  aggregator.present |= std::uint64_t{1} << gradient.rank;
  if (aggregator.state == State::gathering && aggregator.present == ring.paths().gathered()) {
    add_up(ring, index, actions);
  }
}

void NetReduceEngine::add_up(Ring& ring, std::size_t index, engine::Actions& actions) {
  auto& array = ring.aggregators();
  auto& aggregator = array.at(index);
  const auto& paths = ring.paths();
  ++counters_.sums;
  ++ring.tally().sums;
  reduce(array.slots(index), paths.added(), aggregator.shape, array.result(index), wide_);
  if (paths.upwards() == 0) {
    aggregator.state = State::complete;
    release(ring, index, paths.gathered(), actions);
  } else {
    aggregator.state = State::sent;
    release(ring, index, paths.upwards(), actions);
  }
}

// The sum of all came from above. Where this switch has forgotten what it sent up, packets that go
// up may wait as well.
void NetReduceEngine::take_total(PacketPtr packet, const RocePacket& roce, Ring& ring,
                                 std::size_t index, engine::Actions& actions) {
  auto& array = ring.aggregators();
  auto& aggregator = array.at(index);
  ++counters_.totals;
  ++counters_.results;
  take(roce, aggregator.shape, array.result(index));
  aggregator.state = State::complete;
  actions.forward(std::move(packet));
  release(ring, index, ring.paths().gathered(), actions);
}

// What waits of these ranks goes on with the result.
void NetReduceEngine::release(Ring& ring, std::size_t index, std::uint64_t ranks,
                              engine::Actions& actions) {
  auto& array = ring.aggregators();
  const auto& aggregator = array.at(index);
  auto& counter = aggregator.state == State::sent ? counters_.partials : counters_.results;
  const auto slots = array.slots(index);
  for (; ranks != 0; ranks &= ranks - 1) {
    const auto rank = static_cast<std::uint16_t>(std::countr_zero(ranks));
    auto& slot = slots[rank];
    if (slot != nullptr) {
      ++counter;
      rewrite(roce_of(engine::parse_frame(*slot)), aggregator.shape, array.result(index));
      actions.resume_towards(std::move(slot), ring.above(rank));
    }
  }
}

}  // namespace tributary::netreduce
