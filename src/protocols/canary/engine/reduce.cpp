// SPDX-License-Identifier: BSD-3-Clause
// This file is the reduce phase of the engine (3.1.1), collisions (3.2.1) included.
#include <utility>

#include "engine/missing_handler.h"
#include "protocols/canary/engine/drop_reasons.h"
#include "protocols/canary/engine/engine.h"
#include "reduce/handlers/budget.h"
#include "reduce/handlers/mark.h"
#include "reduce/kernel.h"

namespace tributary::canary {
namespace {

// Returns what combines the elements of a block; null where that takes a handler that is not here.
// A block without elements, of a broadcast or a completion, needs none.
const reduce::Kernel* kernel_of(const wire::CanaryHeader& header) {
  return header.elements.value() == 0 ? &reduce::kernel(header.element_type, header.op)
                                      : reduce::find_kernel(header.element_type, header.op);
}

// The first packet of a block is kept: it is the accumulator, and carries the sum out.
void gather_in(Descriptor& block, Contribution in, const reduce::Kernel& kernel, WideStore& wide) {
  const auto& message = in.message;
  const auto& header = in.header();
  const std::size_t elements = header.elements.value();
  block.shape = shape_of(message);
  block.counter = header.counter.value();
  block.fingerprint = header.fingerprint.value();
  block.congested = message.congested();
  block.marked = elements > 0 && wire::is_handler(header.op);
  block.bytes = in.packet->length;
  block.kernel = &kernel;
  block.accumulator = message.payload.data();
  if (!kernel.in_place && elements > 0) {
    block.wide = wide.take();
    block.bytes += static_cast<std::uint32_t>(elements * kernel.accumulator_bytes);
    block.accumulator = wide.at(block.wide);
    kernel.load(block.accumulator, message.payload.data(), elements);
  }
  block.first = message.is_udp() ? reinterpret_cast<const UdpHeaders*>(message.ipv4) : nullptr;
  block.packet = std::move(in.packet);
}

// A sum with a part that another switch has sent over the bridge goes on over the bridge, where it
// is kept from turning back.
void take_the_way_of(const Contribution& in, Packet& sum, const engine::SwitchIdentity& self) {
  auto& to = message_of(sum, in.message.encapsulation()).ethernet->destination;
  if (self.is_in_transit(sum.ingress, to)) {
    return;
  }
  to = in.message.ethernet->destination;
  sum.ingress = in.packet->ingress;
  sum.vlan = in.packet->vlan;
}

}  // namespace

void CanaryEngine::contribute(Contribution in, const Burst& burst) {
  auto* block = blocks_.table.find(in.header().key());
  if (block == nullptr) {
    return begin_block(in, burst);
  }
  if (block->shape != shape_of(in.message)) {
    return burst.actions.drop(std::move(in.packet), drop::mismatch);
  }
  add_to(*block, in, burst);
}

void CanaryEngine::begin_block(Contribution in, const Burst& burst) {
  const auto& header = in.header();
  const auto* const kernel = kernel_of(header);
  if (kernel == nullptr) {
    return burst.actions.drop(std::move(in.packet), engine::missing_handler(header.op));
  }
  if (!kernel->in_place &&
      header.elements.value() * kernel->accumulator_bytes > WideStore::accumulator_bytes_max) {
    return bypass(in, counters_.accumulator_overflows, burst);
  }
  const auto job = header.job.value();
  const auto port = in.packet->ingress;
  const auto share = blocks_.tenants.share_of(job, port);
  if (auto* reason = admission_.refusal(header.key(), share, burst.now)) {
    return bypass(in, *reason, burst);
  }
  const bool root = self_.is_last_hop(header.destination, in.packet->over_ipv6);
  const auto expectation = patience_.expectation(job, header.destination);
  const auto account = blocks_.jobs.find_or_add(job, seed_);
  const auto timeout = patience_.timeout(root, blocks_.tenants.held_by(share) == 0, expectation);
  auto* block = admission_.occupy(header.key(), burst.now, burst.now + timeout);
  if (block == nullptr) {
    return bypass(in, counters_.collisions, burst);
  }
  block->root = root;
  block->job = account;
  block->share = share;
  block->expected = config_.learn_contributions ? expectation.contributions : 0;
  blocks_.tenants.take(share);
  blocks_.jobs.add_descriptor(account, root ? Duration{} : timeout);
  blocks_.jobs.add_contribution(account);
  ++counters_.contributions;
  ++counters_.blocks;
  record(*blocks_.children.add(blocks_.table.slot_of(*block), block->children), in,
         origin_of(in, self_));
  gather_in(*block, in, *kernel, blocks_.wide);
  blocks_.occupancy.add(block->bytes);
  burst.actions.absorb(nullptr);
  send_if_complete(*block, burst);
}

void CanaryEngine::add_to(Descriptor& block, Contribution in, const Burst& burst) {
  const auto& header = in.header();
  const auto slot = blocks_.table.slot_of(block);
  // A block that waits for others would otherwise go on to take too long.
  if (block.marked && block.state != Descriptor::State::sent && reduce::is_too_slow(header.op)) {
    return burst.actions.drop(std::move(in.packet), DropReason::handler_too_slow);
  }
  auto* child =
      blocks_.children.find(slot, block.children, header.child_address, header.child_port.value());
  if (child != nullptr && child->last_fingerprint == half_of(header.fingerprint)) {
    return burst.actions.drop(std::move(in.packet), drop::duplicate);
  }
  if (block.counter + header.counter.value() > block.contributions_max()) {
    return burst.actions.drop(std::move(in.packet), drop::overcount);
  }
  const auto origin = origin_of(in, self_);
  if (child != nullptr && child->note_origin(origin)) {
    child->last_fingerprint = half_of(header.fingerprint);
  } else if (child == nullptr && (child = blocks_.children.add(slot, block.children)) != nullptr) {
    record(*child, in, origin);
  } else {
    const auto contributions = header.counter.value();
    bypass(in, counters_.children_overflows, burst);
    return count_passed(block, contributions, burst);
  }
  ++counters_.contributions;
  blocks_.jobs.add_contribution(block.job);
  block.counter += header.counter.value();
  block.last = burst.now;
  if (block.state == Descriptor::State::sent) {
    ++counters_.stragglers;
    patience_.learn_late(block);
    address_straggler(*in.packet, in.message, self_);
    return burst.actions.forward(std::move(in.packet), in.message.frame(), path_of(header));
  }
  ++counters_.joined;
  if (origin != no_port) {
    take_the_way_of(in, *block.packet, self_);
  }
  block.fingerprint += header.fingerprint.value();
  block.congested |= in.message.congested();
  if (block.marked) {
    block.fingerprint += reduce::mark_of(header.op);
  }
  block.kernel->accumulate(block.accumulator, in.message.payload.data(), header.elements.value());
  burst.actions.absorb(std::move(in.packet));
  send_if_complete(block, burst);
}

// The leader gets the packet as it is, and restores the child behind it.
void CanaryEngine::bypass(Contribution in, std::uint64_t& reason, const Burst& burst) {
  // `shard` has eight bits; a switch with more ports than that cannot name this one.
  constexpr unsigned ports_max = 256 * wire::CanaryHeader::ports_per_shard;
  const auto port = in.packet->ingress;
  if (port >= ports_max) {
    return burst.actions.drop(std::move(in.packet), drop::bad_port);
  }
  ++counters_.contributions;
  ++reason;
  const auto& header = in.header();
  const auto job = blocks_.jobs.find_or_add(header.job.value(), seed_);
  blocks_.jobs.add_contribution(job);
  blocks_.jobs.add_bypassed(job);
  mark_collision(*in.packet, in.message, self_, port);
  bypassed_.note(Bypassed::of(in.message, header.destination, port));
  burst.actions.forward(std::move(in.packet), in.message.frame(), path_of(header));
}

// What this switch or one below had no room for is not waited for here.
void CanaryEngine::count_passed(Descriptor& block, std::uint32_t contributions,
                                const Burst& burst) {
  block.passed += contributions;
  if (block.state == Descriptor::State::gathering) {
    send_if_complete(block, burst);
  }
}

void CanaryEngine::send_if_complete(Descriptor& block, const Burst& burst) {
  const auto seen = block.seen();
  if (seen == block.contributions_max()) {
    send_sum(block, counters_.sums_complete, burst);
  } else if (block.expected != 0 && seen >= block.expected) {
    send_sum(block, counters_.sums_expected, burst);
  }
}

static_assert(ChildrenTable::children_max <= engine::Actions::origins_max);

// Ends the gathering; the descriptor stays, holding the children (3.1.1).
void CanaryEngine::send_sum(Descriptor& block, std::uint64_t& reason, const Burst& burst) {
  ++reason;
  const auto message = message_of(*block.packet, block.shape.encapsulation);
  auto& header = *message.header;
  header.counter = static_cast<std::uint16_t>(block.counter);
  header.fingerprint = block.fingerprint;
  if (block.congested) {
    header.flags |= wire::CanaryHeader::congested_bit;
  }
  if (block.wide != WideStore::none) {
    block.kernel->store(message.payload.data(), block.accumulator, header.elements.value());
    blocks_.wide.give(block.wide);
    block.wide = WideStore::none;
  }
  block.first = nullptr;
  blocks_.table.mark_sent(block);
  blocks_.occupancy.remove(block.bytes);
  address_partial_sum(*block.packet, message, self_);
  burst.actions.originate(std::move(block.packet), message.frame(), path_of(header));
  for (const auto& child : blocks_.children_of(block)) {
    if (child.origin != no_port) {
      burst.actions.keep_from(child.origin);
    }
  }
}

}  // namespace tributary::canary
