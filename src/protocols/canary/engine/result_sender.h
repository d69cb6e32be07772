// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "engine/engine.h"
#include "packet/list.h"
#include "packet/pool.h"
#include "protocols/canary/engine/children.h"
#include "protocols/canary/engine/message.h"

namespace tributary::canary {

// Sends what goes down the tree (3.1.2, 3.2.1): a result, the result in a restoration, or a
// release, in the name of this switch.
class ResultSender {
 public:
  ResultSender(const engine::SwitchIdentity& self, PacketPool& pool) : self_(self), pool_(pool) {}

  // Sends the packet to these children, of which there are some.
  void send(PacketPtr packet, const Message& message, std::span<const Child> children,
            engine::Actions& actions);

  // Returns how many copies have left.
  std::uint64_t copies() const { return copies_; }

 private:
  template <typename Headers>
  PacketList copies_for(std::span<const Child> children, PacketPtr packet,
                        std::size_t payload_bytes);

  const engine::SwitchIdentity& self_;
  PacketPool& pool_;
  std::uint64_t copies_ = 0;
};

}  // namespace tributary::canary
