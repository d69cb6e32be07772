// SPDX-License-Identifier: BSD-3-Clause
// This file decides what becomes of the packets of gradient messages (sections 3.1 and 3.3).
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "protocols/netreduce/engine/drop_reasons.h"
#include "protocols/netreduce/engine/engine.h"
#include "wire/crc32.h"

namespace tributary::netreduce {

using State = Aggregator::State;

namespace {

// Takes the CRC of the sum, which is whole; what waits for it goes on next.
void seal(Aggregator& aggregator, const std::byte* sum) {
  const auto& shape = aggregator.shape;
  aggregator.sum_crc = wire::crc32(0, {sum + shape.header_bytes, shape.bytes()});
}

// Writes what follows the elements: zeros where another one does not fit, and the fingerprint word.
void finish(wire::MutableBytes sum, std::size_t elements_bytes, std::uint64_t fingerprint) {
  const auto left_over =
      sum.subspan(elements_bytes, sum.size() - elements_bytes - wire::fingerprint_bytes);
  std::fill(left_over.begin(), left_over.end(), std::byte{0});
  wire::store_fingerprint(sum, fingerprint);
}

}  // namespace

void NetReduceEngine::aggregate(Incoming in, const Gradient& gradient, const Burst& burst) {
  auto& array = gradient.ring.aggregators();
  const auto index = array.index_of(gradient.message.id, gradient.offset);
  auto& aggregator = array.enter(index);
  const auto shape = shape_of(in.roce, gradient.message, gradient.offset);
  const bool is_empty = aggregator.state == State::empty;
  if (!is_empty && gradient.message.id < aggregator.message) {
    ++counters_.past;
    return burst.actions.forward(std::move(in.packet), in.frame);
  }
  if (is_empty || gradient.message.id != aggregator.message) {
    counters_.abandoned += aggregator.is_waiting() ? 1 : 0;
    array.clear(index);
    aggregator.begin(gradient.message.id, shape, burst.now);
  }
  if (aggregator.shape != shape) {
    return burst.actions.drop(std::move(in.packet), drop::mismatch);
  }
  const auto path = gradient.ring.paths().of(gradient.rank);
  if (aggregator.answers(path)) {
    answer(in, gradient, index, burst);
  } else if (path == Path::downwards) {
    take_total(in, gradient.ring, index, burst);
  } else {
    keep(in, gradient, index, burst);
  }
}

// A packet comes here that was sent before, or brings the sum of all from above once more. What
// goes up has the sum of what is below even if that of all is there: a switch above that has
// forgotten what came adds it.
void NetReduceEngine::answer(Incoming in, const Gradient& gradient, std::size_t index,
                             const Burst& burst) {
  auto& array = gradient.ring.aggregators();
  const auto path = gradient.ring.paths().of(gradient.rank);
  ++(path != Path::downwards ? counters_.answered : counters_.totals);
  ++(path == Path::upwards ? counters_.partials : counters_.results);
  rewrite(in.roce, array.at(index).shape, array.sum_for(path, index));
  burst.actions.forward_towards(std::move(in.packet), in.frame, gradient.ring.above(gradient.rank));
}

void NetReduceEngine::keep(Incoming in, const Gradient& gradient, std::size_t index,
                           const Burst& burst) {
  auto& ring = gradient.ring;
  auto& aggregator = ring.aggregators().at(index);
  ++counters_.gradients;
  ++ring.tally().gradients;
  auto& slot = ring.aggregators().slots(index)[gradient.rank];
  counters_.overwritten += slot.packet != nullptr ? 1 : 0;
  const auto* elements = in.roce.roce.payload.data() + aggregator.shape.header_bytes;
  slot.elements_offset = static_cast<std::uint16_t>(elements - in.packet->data());
  slot.headers_icrc = gradient.headers_icrc;
  slot.has_udp_checksum = in.roce.udp->checksum.value() != 0;
  slot.packet = std::move(in.packet);
  burst.actions.absorb(nullptr);
  aggregator.present |= std::uint64_t{1} << gradient.rank;
  if (aggregator.state == State::gathering) {
    add(ring, index);
    if (aggregator.present == ring.paths().gathered()) {
      complete(ring, index, burst);
    }
  } else if (aggregator.state == State::total_only) {
    remake(ring, index, burst);
  }
}

// The sum of all is there, but the switch has forgotten what went up: that is made once more of
// what comes again, as far as it does. Only what goes up waits for it.
void NetReduceEngine::remake(Ring& ring, std::size_t index, const Burst& burst) {
  auto& aggregator = ring.aggregators().at(index);
  const auto& paths = ring.paths();
  add(ring, index);
  release(ring, index, Path::inside, burst);
  aggregator.present &= paths.upwards();
  if (aggregator.added == paths.added()) {
    complete(ring, index, burst);
  }
}

// Adds what is there in the order of the ranks, so that the sum is the same in whatever order the
// packets come. A packet whose turn it is while it is in the cache is not read again.
void NetReduceEngine::add(Ring& ring, std::size_t index) {
  auto& array = ring.aggregators();
  auto& aggregator = array.at(index);
  auto left = ring.paths().added() & ~aggregator.added;
  if (left == 0) {
    return;
  }
  const auto& shape = aggregator.shape;
  const auto& kernel = *aggregator.kernel;
  const auto elements = aggregator.elements;
  auto* result = array.result(index) + shape.header_bytes;
  auto* accumulator = kernel.in_place ? result : array.wide(index);
  for (; left != 0; left &= left - 1) {
    const auto rank = static_cast<std::size_t>(std::countr_zero(left));
    const auto& slot = array.slots(index)[rank];
    if (slot.packet == nullptr) {
      return;
    }
    const auto* from = slot.packet->data() + slot.elements_offset;
    (aggregator.added == 0 ? kernel.load : kernel.accumulate)(accumulator, from, elements);
    aggregator.fingerprint += wire::load_fingerprint({from, shape.bytes()});
    aggregator.added |= std::uint64_t{1} << rank;
  }
  if (!kernel.in_place) {
    kernel.store(result, accumulator, elements);
  }
  finish({result, shape.bytes()}, elements * wire::element_bytes(shape.element_type),
         aggregator.fingerprint);
}

void NetReduceEngine::complete(Ring& ring, std::size_t index, const Burst& burst) {
  auto& array = ring.aggregators();
  auto& aggregator = array.at(index);
  ++counters_.sums;
  ++ring.tally().sums;
  seal(aggregator, array.result(index));
  const bool goes_up = ring.paths().upwards() != 0;
  const bool has_total = !goes_up || aggregator.state == State::total_only;
  aggregator.state = has_total ? State::complete : State::sent;
  release(ring, index, goes_up ? Path::upwards : Path::inside, burst);
}

// Takes the sum of all, which came from above.
void NetReduceEngine::take_total(Incoming in, Ring& ring, std::size_t index, const Burst& burst) {
  auto& array = ring.aggregators();
  auto& aggregator = array.at(index);
  ++counters_.totals;
  ++counters_.results;
  const auto& shape = aggregator.shape;
  auto* total = array.total(index);
  std::memcpy(total + shape.header_bytes, in.roce.roce.payload.data() + shape.header_bytes,
              shape.bytes());
  seal(aggregator, total);
  burst.actions.forward(std::move(in.packet), in.frame);
  if (aggregator.state == State::sent) {
    aggregator.state = State::complete;
    release(ring, index, Path::inside, burst);
  } else {
    aggregator.state = State::total_only;
    remake(ring, index, burst);
  }
}

// Lets the packets go on that wait on such connections, with their sum, which was sealed last.
void NetReduceEngine::release(Ring& ring, std::size_t index, Path path, const Burst& burst) {
  auto& array = ring.aggregators();
  const auto& aggregator = array.at(index);
  const bool goes_up = path == Path::upwards;
  auto& counter = goes_up ? counters_.partials : counters_.results;
  const auto* sum = array.sum_for(path, index);
  const auto slots = array.slots(index);
  for (const auto& slot : slots) {
    if (slot.packet != nullptr) {
      slot.packet->prefetch();
    }
  }
  for (auto ranks = goes_up ? ring.paths().upwards() : ring.paths().inside(); ranks != 0;
       ranks &= ranks - 1) {
    const auto rank = static_cast<std::uint16_t>(std::countr_zero(ranks));
    auto& slot = slots[rank];
    if (slot.packet != nullptr) {
      ++counter;
      rewrite(slot, aggregator, sum);
      burst.actions.resume_towards(std::move(slot.packet), ring.above(rank));
    }
  }
}

}  // namespace tributary::netreduce
