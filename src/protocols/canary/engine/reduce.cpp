// SPDX-License-Identifier: BSD-3-Clause
// The reduce phase of the engine (3.1.1) and collisions (3.2.1).
#include <utility>

#include "protocols/canary/engine/drop_reasons.h"
#include "protocols/canary/engine/engine.h"
#include "reduce/kernel.h"

namespace tributary::canary {
namespace {

const reduce::Kernel& kernel_of(const wire::CanaryHeader& header) {
  return reduce::kernel(header.element_type, header.op);
}

// What a header tells of its block without being checked, which what only passes is not.
bool may_be_of(const wire::CanaryHeader& header, const BlockShape& shape) {
  return header.destination == shape.leader && header.hosts.value() == shape.hosts;
}

}  // namespace

void CanaryEngine::contribute(PacketPtr packet, const Message& message, Time now,
                              engine::Actions& actions) {
  auto* block = table_.find(message.header->key());
  if (block == nullptr) {
    return begin_block(std::move(packet), message, now, actions);
  }
  if (block->shape != shape_of(message)) {
    return actions.drop(std::move(packet), drop::mismatch);
  }
  add_to(*block, std::move(packet), message, now, actions);
}

void CanaryEngine::add_to(Descriptor& block, PacketPtr&& packet, const Message& message, Time now,
                          engine::Actions& actions) {
  const auto& header = *message.header;
  const auto slot = table_.slot_of(block);
  auto* child =
      children_.find(slot, block.children, header.child_address, header.child_port.value());
  if (child != nullptr && child->last_fingerprint == half_of(header.fingerprint)) {
    return actions.drop(std::move(packet), drop::duplicate);
  }
  if (block.counter + header.counter.value() > block.contributions_max()) {
    return actions.drop(std::move(packet), drop::overcount);
  }
  if (child != nullptr) {
    child->last_fingerprint = half_of(header.fingerprint);
  } else if ((child = children_.add(slot, block.children)) != nullptr) {
    record(*child, message, packet->ingress);
  } else {
    const auto contributions = header.counter.value();
    bypass(std::move(packet), message, counters_.children_overflows, actions);
    return count_passed(block, contributions, actions);
  }
  ++counters_.contributions;
  jobs_.add_contribution(block.job);
  block.counter += header.counter.value();
  block.last = now;
  if (block.state == Descriptor::State::sent) {
    ++counters_.stragglers;
    learn_late(block);
    address_straggler(*packet, message, self_);
    return actions.forward(std::move(packet), path_of(header));
  }
  ++counters_.joined;
  block.fingerprint += header.fingerprint.value();
  block.kernel->accumulate(block.accumulator, message.payload.data(), header.elements.value());
  actions.absorb(std::move(packet));
  send_if_complete(block, actions);
}

// The first packet of a block is kept: it is the accumulator, and carries the sum out.
void CanaryEngine::begin_block(PacketPtr packet, const Message& message, Time now,
                               engine::Actions& actions) {
  const auto& header = *message.header;
  const auto& kernel = kernel_of(header);
  const std::size_t elements = header.elements.value();
  if (!kernel.in_place && elements * kernel.accumulator_bytes > WideStore::accumulator_bytes_max) {
    return bypass(std::move(packet), message, counters_.accumulator_overflows, actions);
  }
  const auto job = header.job.value();
  if (auto* reason = refusal(header, packet->ingress, now)) {
    return bypass(std::move(packet), message, *reason, actions);
  }
  const bool root = self_.is_last_hop(header.destination);
  const auto expectation = expectations_.of(job, header.destination);
  const auto account = jobs_.find_or_add(job, seed_);
  const auto patience = timeout(root, tenants_.held_by(job) == 0, expectation);
  auto* block = occupy(header.key(), now, now + patience);
  if (block == nullptr) {
    return bypass(std::move(packet), message, counters_.collisions, actions);
  }
  block->root = root;
  block->ingress = packet->ingress;
  block->shape = shape_of(message);
  block->counter = header.counter.value();
  block->fingerprint = header.fingerprint.value();
  block->job = account;
  jobs_.add_descriptor(block->job, root ? Duration{} : patience);
  tenants_.take(job, block->ingress);
  jobs_.add_contribution(block->job);
  ++counters_.contributions;
  ++counters_.blocks;
  block->bytes = packet->length;
  record(*children_.add(table_.slot_of(*block), block->children), message, packet->ingress);
  if (!kernel.in_place && elements > 0) {
    block->wide = wide_.take();
    block->bytes += static_cast<std::uint32_t>(elements * kernel.accumulator_bytes);
    kernel.load(wide_.at(block->wide), message.payload.data(), elements);
  }
  block->kernel = &kernel;
  block->accumulator =
      block->wide == WideStore::none ? message.payload.data() : wide_.at(block->wide);
  block->first = message.is_udp() ? reinterpret_cast<const UdpHeaders*>(message.ipv4) : nullptr;
  block->packet = std::move(packet);
  occupancy_.add(block->bytes);
  actions.absorb(nullptr);
  if (config_.learn_contributions) {
    block->expected = expectation.contributions;
  }
  send_if_complete(*block, actions);
}

// What this switch or one below had no room for is not waited for here.
void CanaryEngine::count_passed(Descriptor& block, std::uint32_t contributions,
                                engine::Actions& actions) {
  block.passed += contributions;
  if (block.state == Descriptor::State::gathering) {
    send_if_complete(block, actions);
  }
}

void CanaryEngine::overhear_contribution(const wire::CanaryHeader& header,
                                         engine::Actions& actions) {
  auto* block = table_.find(header.key());
  if (block != nullptr && may_be_of(header, block->shape)) {
    count_passed(*block, header.counter.value(), actions);
  }
}

void CanaryEngine::send_if_complete(Descriptor& block, engine::Actions& actions) {
  const auto seen = block.seen();
  if (seen == block.contributions_max()) {
    send_sum(block, counters_.sums_complete, actions);
  } else if (block.expected != 0 && seen >= block.expected) {
    send_sum(block, counters_.sums_expected, actions);
  }
}

// The leader gets the packet as it is, and restores the child behind it.
void CanaryEngine::bypass(PacketPtr packet, const Message& message, std::uint64_t& reason,
                          engine::Actions& actions) {
  // `shard` has eight bits; a switch with more ports than that cannot name this one.
  constexpr unsigned ports_max = 256 * wire::CanaryHeader::ports_per_shard;
  if (packet->ingress >= ports_max) {
    return actions.drop(std::move(packet), drop::bad_port);
  }
  ++counters_.contributions;
  ++reason;
  const auto job = jobs_.find_or_add(message.header->job.value(), seed_);
  jobs_.add_contribution(job);
  jobs_.add_bypassed(job);
  mark_collision(*packet, message, self_, packet->ingress);
  bypassed_.note(Bypassed::of(message, message.header->destination, packet->ingress));
  actions.forward(std::move(packet), path_of(*message.header));
}

// Ends the gathering; the descriptor stays, holding the children (3.1.1).
void CanaryEngine::send_sum(Descriptor& block, std::uint64_t& reason, engine::Actions& actions) {
  ++reason;
  const auto message = message_of(*block.packet, block.shape.encapsulation);
  auto& header = *message.header;
  header.counter = static_cast<std::uint16_t>(block.counter);
  header.fingerprint = block.fingerprint;
  if (block.wide != WideStore::none) {
    block.kernel->store(message.payload.data(), block.accumulator, header.elements.value());
    wide_.give(block.wide);
    block.wide = WideStore::none;
  }
  block.first = nullptr;
  table_.mark_sent(block);
  occupancy_.remove(block.bytes);
  address_partial_sum(*block.packet, message, self_);
  actions.originate(std::move(block.packet), path_of(header));
}

}  // namespace tributary::canary
