// SPDX-License-Identifier: BSD-3-Clause
#include "switch/outlet.h"

#include <algorithm>

#include "protocols/engines.h"

namespace tributary::switching {
namespace {

// Says whether an engine is on whose reductions can be told from other packets.
bool has_paths(const engine::Settings& settings) {
  const auto kinds = protocols::engines();
  for (std::size_t row = 0; row < kinds.size(); ++row) {
    if (kinds[row]->protocol.gives_paths && settings.of(row).has_value()) {
      return true;
    }
  }
  return false;
}

}  // namespace

// Where nobody tells reductions from other packets, any class may be theirs. What was learned is
// kept as long as it is true: a reload may be about something else.
void Outlet::reconfigure(const SwitchConfig& config) {
  const bool is_divided_anew = queues_.divide(config.classes);
  const bool learns = queues_.classes() > 1 && has_paths(config.protocols);
  if (is_divided_anew || learns != learns_classes_) {
    learns_classes_ = learns;
    reduction_classes_.reset(!learns);
  }
}

void Outlet::add_by_class(const Packet& packet, PortIndex port) {
  queues_.add(port, packet.frame_bytes(), queues_.class_of(packet));
}

PacketPtr Outlet::originate() {
  ++ledger_.originated;
  auto packet = pool_.allocate();
  if (!packet) {
    ledger_.lose(DropReason::no_buffer);
  }
  return packet;
}

PacketPtr Outlet::originate_copy(const Packet& original) {
  ++ledger_.originated;
  auto packet = pool_.clone(original);
  if (!packet) {
    ledger_.lose(DropReason::no_buffer);
  }
  return packet;
}

void Outlet::drop(PacketPtr packet, DropReason reason, Account account) {
  if (account == Account::received) {
    ledger_.drop(reason);
    if (packet->ingress < dropped_from_.size()) {
      ++dropped_from_[packet->ingress];
    }
  } else {
    ledger_.lose(reason);
  }
  packet.reset();
}

void Outlet::absorb(PacketPtr packet) {
  ++ledger_.absorbed;
  packet.reset();
}

// An originated packet that has to wait was counted in this very burst; it is counted again when it
// goes on, so that the account balances between bursts.
void Outlet::keep(Account account) {
  if (account == Account::received) {
    ++ledger_.absorbed;
  } else {
    --ledger_.originated;
  }
}

void Outlet::publish(const Packet& frame) {
  if (!publishes_ || published_ == &frame) {
    return;
  }
  if (auto update = pool_.clone(frame)) {
    published_ = &frame;
    out_->table_updates.push(std::move(update));
  }
}

void Outlet::publish_liveness(wire::Bytes word) {
  if (!publishes_) {
    return;
  }
  if (auto update = pool_.allocate(); update && update->tailroom() >= word.size()) {
    update->length = static_cast<std::uint32_t>(word.size());
    std::copy(word.begin(), word.end(), update->data());
    out_->table_updates.push(std::move(update));
  }
}

}  // namespace tributary::switching
