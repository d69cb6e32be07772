// SPDX-License-Identifier: BSD-3-Clause
// The broadcast phase of the engine (3.1.2) and tree restoration (3.2.1).
#include <bit>
#include <utility>

#include "protocols/canary/engine/drop_reasons.h"
#include "protocols/canary/engine/engine.h"

namespace tributary::canary {
namespace {

// What is shorter is copied in the time that counting its holders takes.
constexpr std::size_t shared_bytes_min = 512;

wire::Encapsulation encapsulation_of(const Message& message) {
  return message.is_udp() ? wire::Encapsulation::udp : wire::Encapsulation::ethernet;
}

// A result names the child it is for where a contribution names the leader, and may be longer or
// shorter: a reduce ends with results without data, a broadcast begins with such contributions. A
// release has no data to go wrong; its sender may know no more of the block than its id.
bool is_answer_to(const Message& message, const BlockShape& block) {
  const auto& header = *message.header;
  if (encapsulation_of(message) != block.encapsulation || header.hosts.value() != block.hosts) {
    return false;
  }
  return header.kind == wire::CanaryKind::release ||
         (header.element_type == block.type && header.op == block.op);
}

}  // namespace

void CanaryEngine::broadcast(PacketPtr packet, const Message& message, engine::Actions& actions) {
  if (message.header->kind == wire::CanaryKind::result) {
    settle(*message.header);
  }
  auto* block = table_.find(message.header->key());
  if (block == nullptr) {
    return actions.drop(std::move(packet), drop::no_descriptor);
  }
  if (!is_answer_to(message, block->shape)) {
    return actions.drop(std::move(packet), drop::mismatch);
  }
  if (message.header->kind == wire::CanaryKind::release) {
    ++counters_.releases;
  } else {
    ++counters_.results;
    jobs_.add_result(block->job);
    learn(*block);
  }
  actions.absorb(nullptr);
  prepare_result(*packet, message, self_);
  multicast(std::move(packet), message, children_.of(table_.slot_of(*block), block->children),
            actions);
  release(*block);
}

// Each child gets headers of its own in front of the same elements; few elements are copied.
void CanaryEngine::multicast(PacketPtr packet, const Message& message,
                             std::span<const Child> children, engine::Actions& actions) {
  const auto encapsulation = encapsulation_of(message);
  if (message.payload.size() < shared_bytes_min) {
    for (const auto& child : children.first(children.size() - 1)) {
      send_copy(pool_.clone(*packet), encapsulation, child, actions);
    }
    return send_copy(std::move(packet), encapsulation, children.back(), actions);
  }
  const auto headers = packet->bytes().first(packet->length - message.payload.size());
  auto& body = *packet.release();
  body.offset += static_cast<std::uint32_t>(headers.size());
  body.length = static_cast<std::uint32_t>(message.payload.size());
  pool_.share(body, static_cast<unsigned>(children.size()));
  for (const auto& child : children) {
    send_copy(pool_.allocate_in_front_of(body, headers), encapsulation, child, actions);
  }
}

void CanaryEngine::restore(PacketPtr packet, const Message& message, engine::Actions& actions) {
  const auto& header = *message.header;
  const auto bit = static_cast<unsigned>(std::countr_zero(header.children.value()));
  const auto port = header.shard * wire::CanaryHeader::ports_per_shard + bit;
  if (port >= self_.ports) {
    return actions.drop(std::move(packet), drop::bad_port);
  }
  const auto leader = message.is_udp() ? message.ipv4->source : wire::Ipv4Address{};
  if (!bypassed_.take(Bypassed::of(message, leader, static_cast<PortIndex>(port)))) {
    return actions.drop(std::move(packet), drop::no_descriptor);
  }
  ++counters_.restorations;
  settle(header);
  actions.absorb(nullptr);
  const Child child{header.child_address, header.child_port.value(), static_cast<PortIndex>(port),
                    header.child_mac};
  prepare_result(*packet, message, self_);
  send_copy(std::move(packet), encapsulation_of(message), child, actions);
}

void CanaryEngine::send_copy(PacketPtr&& copy, wire::Encapsulation encapsulation,
                             const Child& child, engine::Actions& actions) {
  if (copy == nullptr) {
    return actions.lose(DropReason::no_buffer);
  }
  ++counters_.copies;
  address_result(headers_of(*copy, encapsulation), child);
  actions.originate_on(child.port, std::move(copy));
}

}  // namespace tributary::canary
