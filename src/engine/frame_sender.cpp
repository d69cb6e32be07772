// SPDX-License-Identifier: BSD-3-Clause
#include "engine/frame_sender.h"

#include <algorithm>

#include "engine/port_bitmap.h"

namespace tributary::engine {

void FrameSender::send(const Outgoing& frame, PortIndex port, Actions& actions) {
  const auto& [headers, elements, ingress, over_ipv6] = frame;
  const auto bytes = headers.size() + elements.size();
  auto packet = pool_.allocate();
  if (packet == nullptr || packet->tailroom() < bytes) {
    return actions.lose(DropReason::no_buffer);
  }
  const auto behind = std::copy(headers.begin(), headers.end(), packet->data());
  std::copy(elements.begin(), elements.end(), behind);
  packet->length = static_cast<std::uint32_t>(bytes);
  packet->ingress = ingress;
  packet->over_ipv6 = over_ipv6;
  actions.originate_on(port, std::move(packet));
}

void FrameSender::send(const Outgoing& frame, const std::vector<PortIndex>& children,
                       std::uint64_t bits, Actions& actions) {
  for_each_child(bits, [&](std::size_t child) { send(frame, children[child], actions); });
}

}  // namespace tributary::engine
