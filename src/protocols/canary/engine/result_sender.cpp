// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/result_sender.h"

#include <utility>

namespace tributary::canary {
namespace {

// What is shorter is copied in the time that counting its holders takes.
constexpr std::size_t shared_bytes_min = 512;

}  // namespace

// Each child gets headers of its own in front of the same elements; few elements are copied.
void ResultSender::send(PacketPtr packet, const Message& message, std::span<const Child> children,
                        engine::Actions& actions) {
  prepare_result(*packet, message, self_);
  const auto encapsulation = message.encapsulation();
  if (message.payload.size() < shared_bytes_min) {
    for (const auto& child : children.first(children.size() - 1)) {
      send_copy(pool_.clone(*packet), encapsulation, child, actions);
    }
    return send_copy(std::move(packet), encapsulation, children.back(), actions);
  }
  const auto headers = packet->bytes().first(packet->length - message.payload.size());
  auto& body = *packet.release();
  body.narrow_to(headers.size(), message.payload.size());
  pool_.share(body, static_cast<unsigned>(children.size()));
  for (const auto& child : children) {
    send_copy(pool_.allocate_in_front_of(body, headers), encapsulation, child, actions);
  }
}

void ResultSender::send(PacketPtr packet, const Message& message, const Child& child,
                        engine::Actions& actions) {
  prepare_result(*packet, message, self_);
  send_copy(std::move(packet), message.encapsulation(), child, actions);
}

void ResultSender::send_copy(PacketPtr&& copy, wire::Encapsulation encapsulation,
                             const Child& child, engine::Actions& actions) {
  if (copy == nullptr) {
    return actions.lose(DropReason::no_buffer);
  }
  ++copies_;
  address_result(headers_of(*copy, encapsulation), child);
  actions.originate_on(child.port, std::move(copy));
}

}  // namespace tributary::canary
