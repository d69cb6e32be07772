// SPDX-License-Identifier: BSD-3-Clause
// What goes down the tree, and what is kept of it for those who lose it.
#include <algorithm>
#include <cstring>
#include <utility>

#include "engines/panama/engine.h"

namespace tributary::panama {

Headers PanamaEngine::headers_for(const Tree& tree, const Row& row,
                                  const wire::PanamaHeader& header) const {
  auto headers = tree.headers();
  headers.panama = header;
  address(headers, row.congested,
          header.elements.value() * wire::element_bytes(header.element_type));
  return headers;
}

void PanamaEngine::take_result(Tree& tree, PacketPtr packet, const Message& message, Time now,
                               engine::Actions& actions) {
  if (tree.config().parent != packet->ingress) {
    return actions.drop(std::move(packet), DropReason::panama_wrong_port);
  }
  const auto epoch = message.header.epoch.value();
  const auto found = tree.find_position(epoch, message.header.vid.value());
  const bool known = found.has_value();
  const auto position = found.value_or(tree.epochs.first() + message.header.vid.value());
  auto& row = tree.row(position);
  if (!known && !(tree.epochs.is_current(epoch) && tree.may_begin_with_result(position))) {
    return actions.drop(std::move(packet), DropReason::panama_stale);
  }
  if (known && row.state == Row::State::done) {
    ++tree.counters.duplicates;
    return actions.drop(std::move(packet), DropReason::panama_duplicate);
  }
  if (known && !is_like(message.header, row.header)) {
    return actions.drop(std::move(packet), DropReason::panama_mismatch);
  }
  if (message.frame.ipv4->ttl <= 1) {
    return actions.drop(std::move(packet), DropReason::ttl_exceeded);
  }
  --message.frame.ipv4->ttl;
  wire::finish_ipv4(*message.frame.ipv4);
  finish_row(tree, row, position, message);
  settle(tree, row);
  actions.absorb(nullptr);
  Headers headers;
  std::memcpy(static_cast<void*>(&headers), packet->data(), sizeof headers);
  packet->offset += static_cast<std::uint32_t>(sizeof headers);
  packet->length = static_cast<std::uint32_t>(message.payload.size());
  if (tree.is_partial()) {
    lower_cap(tree, row.header);
    headers.panama = row.header;
  }
  multicast(tree, row, std::move(packet), headers, now, actions);
}

// Whatever the row waited for, its result is here.
void PanamaEngine::finish_row(Tree& tree, Row& row, std::uint64_t position,
                              const Message& message) {
  tree.gathering -= row.state == Row::State::gathering ? 1 : 0;
  release_waiting(tree, row);
  clear(tree, row);
  if (!tree.is_known(position)) {
    row.arrived = 0;
    row.position = position;
    tree.top = std::max(tree.top, position + 1);
  }
  row.state = Row::State::done;
  row.congested = message.congested();
  row.header = message.header;
}

// Each child gets headers of its own in front of the same elements.
void PanamaEngine::multicast(Tree& tree, Row& row, PacketPtr packet, const Headers& headers,
                             Time now, engine::Actions& actions) {
  ++tree.counters.results;
  tree.counters.congested += row.congested;
  auto& body = *packet.release();
  pool_.share(body, tree.children() + 1u);
  keep(tree, row, body, now);
  for (const auto port : tree.config().children) {
    auto copy = pool_.allocate_in_front_of(body, headers.bytes());
    if (copy == nullptr) {
      actions.lose(DropReason::no_buffer);
    } else {
      actions.originate_on(port, std::move(copy));
    }
  }
}

// Of a result, to what this switch has room for: nobody under it may have had part in it (section
// 7).
void PanamaEngine::lower_cap(const Tree& tree, wire::PanamaHeader& header) const {
  const auto cap = std::min<std::uint32_t>(header.wnd_cap.value(), memory_.shown_cap(tree.grant));
  header.wnd_cap = static_cast<std::uint16_t>(cap);
  wire::reseal(header);
}

// The cap is today's: an old one would widen a window that has to be narrow by now.
void PanamaEngine::replay(Tree& tree, const Row& row, PortIndex port, engine::Actions& actions) {
  ++tree.counters.replays;
  auto header = row.header;
  lower_cap(tree, header);
  send_copy(tree, row, header, port, port, actions);
}

// A frame of its own with the elements that are kept.
void PanamaEngine::send_copy(const Tree& tree, const Row& row, const wire::PanamaHeader& header,
                             PortIndex ingress, PortIndex port, engine::Actions& actions) {
  const auto headers = headers_for(tree, row, header);
  const auto elements = row.kept.bytes();
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

void PanamaEngine::keep(Tree& tree, Row& row, Packet& body, Time now) {
  row.kept = SharedElements(pool_, body);
  tree.count_kept(row);
  kept_high_water_ = std::max(kept_high_water_, ++kept_);
  look_soon(now);
  make_room();
}

void PanamaEngine::clear(Tree& tree, Row& row) {
  if (row.kept) {
    row.kept.reset();
    --tree.kept;
    --kept_;
  }
}

// Trees that rest keep the results of their last window as long as there are buffers for all that
// packets may need: a rank may begin late, and repeats get lost. A switch without buffers is worse.
// Who rests longest is the least likely to be asked.
void PanamaEngine::make_room() {
  const std::uint64_t windows = ports_.size() + 2;
  if (held_ + kept_ <= windows * memory_.packets()) {
    return;
  }
  Tree* oldest = nullptr;
  for (const auto& tree : trees_) {
    if (!tree->grant.active && tree->kept > 0 &&
        (oldest == nullptr || tree->last_taken < oldest->last_taken)) {
      oldest = tree.get();
    }
  }
  if (oldest != nullptr) {
    kept_ -= oldest->forget(oldest->top);
  }
}

}  // namespace tributary::panama
