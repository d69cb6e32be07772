// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/engine/frame_sender.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tributary::panama {

void FrameSender::send(const Outgoing& frame, PortIndex port, engine::Actions& actions) {
  const auto& [headers, elements, ingress] = frame;
  auto packet = pool_.allocate();
  if (packet == nullptr || packet->tailroom() < sizeof headers + elements.size()) {
    return actions.lose(DropReason::no_buffer);
  }
  std::memcpy(packet->data(), &headers, sizeof headers);
  std::copy(elements.begin(), elements.end(), packet->data() + sizeof headers);
  packet->length = static_cast<std::uint32_t>(sizeof headers + elements.size());
  packet->ingress = ingress;
  actions.originate_on(port, std::move(packet));
}

void FrameSender::send(const Outgoing& frame, const Tree& tree, const Neighbours& receivers,
                       engine::Actions& actions) {
  for (auto left = receivers.children; left != 0; left &= left - 1) {
    send(frame, tree.config().children[static_cast<std::size_t>(std::countr_zero(left))], actions);
  }
  if (receivers.parent) {
    send(frame, *tree.config().parent, actions);
  }
}

}  // namespace tributary::panama
