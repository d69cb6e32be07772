// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include "engine/engine.h"
#include "packet/pool.h"
#include "protocols/panama/engine/headers.h"
#include "protocols/panama/engine/inquiries.h"
#include "protocols/panama/engine/tree.h"

namespace tributary::panama {

// A frame that is made here, with elements that stand elsewhere, on behalf of what came by
// `ingress`.
struct Outgoing {
  const Headers& headers;
  wire::Bytes elements;
  PortIndex ingress;
};

// Sends frames that are made here; those that find no buffer are lost.
class FrameSender {
 public:
  explicit FrameSender(PacketPool& pool) : pool_(pool) {}

  // The elements are copied.
  void send(const Outgoing& frame, PortIndex port, engine::Actions& actions);
  void send(const Outgoing& frame, const Tree& tree, const Neighbours& receivers,
            engine::Actions& actions);
  // The elements are those of `body`, of which the frame is one of the holders.
  void send_sharing(Packet& body, const Headers& headers, PortIndex port,
                    engine::Actions& actions) {
    auto packet = pool_.allocate_in_front_of(body, headers.bytes());
    if (packet == nullptr) {
      return actions.lose(DropReason::no_buffer);
    }
    actions.originate_on(port, std::move(packet));
  }

 private:
  PacketPool& pool_;
};

}  // namespace tributary::panama
