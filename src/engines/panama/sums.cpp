// SPDX-License-Identifier: BSD-3-Clause
// What is complete is added up and goes on.
#include <algorithm>
#include <utility>

#include "engines/panama/engine.h"
#include "reduce/kernel.h"

namespace tributary::panama {
namespace {

// A sum whose result is late is not sent again more often.
constexpr Duration resend_interval = std::chrono::milliseconds(1);

const reduce::Kernel& kernel_of(const wire::PanamaHeader& header) {
  return reduce::kernel(header.element_type, header.op);
}

std::byte* elements_in(Packet& packet) {
  return packet.data() + sizeof(Headers);
}

std::size_t payload_bytes(const wire::PanamaHeader& header) {
  return header.elements.value() * wire::element_bytes(header.element_type);
}

// Only the elements are left of the packet, to stand behind other headers.
void strip(Packet& packet, std::size_t elements_bytes) {
  packet.offset += static_cast<std::uint32_t>(sizeof(Headers));
  packet.length = static_cast<std::uint32_t>(elements_bytes);
}

}  // namespace

bool PanamaEngine::is_complete(const Tree& tree, const Row& row) const {
  if (row.state != Row::State::gathering) {
    return false;
  }
  if (row.arrived == tree.all_children()) {
    return true;
  }
  return tree.is_partial() && row.header.contributions.value() >= tree.contributions_needed() &&
         tree.may_miss(row.position, row.arrived);
}

void PanamaEngine::complete_what_can(Tree& tree, Row& row, std::uint8_t child, Time now,
                                     engine::Actions& actions) {
  const auto ingress = tree.config().children[child];
  if (is_complete(tree, row)) {
    complete(tree, row, ingress, now, actions);
  }
  if (!tree.is_partial()) {
    return;
  }
  // Some may only have waited for the child not to fall behind too far.
  for (auto position = tree.expected; position < tree.top; ++position) {
    auto& other = tree.row(position);
    if (tree.is_known(position) && is_complete(tree, other)) {
      complete(tree, other, ingress, now, actions);
    }
  }
}

// As soon as they can be: what comes first need not wait in a cache for the last. The children's
// order decides, not that of arrival, so that the same contributions give the same bits.
void PanamaEngine::add_in_order(Tree& tree, Row& row) {
  const auto& kernel = kernel_of(row.header);
  if (!kernel.in_place || tree.is_partial()) {
    return;
  }
  for (; row.next < tree.children() && (row.arrived >> row.next & 1) != 0; ++row.next) {
    auto packet = std::move(tree.waiting(row, row.next));
    if (row.next == 0) {
      row.elements = elements_in(*packet);
      row.accumulator = std::move(packet);
    } else {
      kernel.accumulate(row.elements, elements_in(*packet), row.header.elements.value());
    }
  }
}

// 16-bit elements are added as f32 and rounded once.
PacketPtr PanamaEngine::add_up(Tree& tree, Row& row) {
  if (row.accumulator) {
    return std::move(row.accumulator);
  }
  const auto& kernel = kernel_of(row.header);
  const std::size_t count = row.header.elements.value();
  PacketPtr sum;
  void* accumulator = wide_.get();
  for (std::uint8_t child = 0; child < tree.children(); ++child) {
    auto packet = std::move(tree.waiting(row, child));
    if (!packet) {
      continue;
    }
    if (sum) {
      kernel.accumulate(accumulator, elements_in(*packet), count);
      continue;
    }
    sum = std::move(packet);
    if (kernel.in_place) {
      accumulator = elements_in(*sum);
    } else {
      kernel.load(accumulator, elements_in(*sum), count);
    }
  }
  if (!kernel.in_place) {
    kernel.store(elements_in(*sum), accumulator, count);
  }
  return sum;
}

void PanamaEngine::complete(Tree& tree, Row& row, PortIndex ingress, Time now,
                            engine::Actions& actions) {
  tree.counters.partial += row.arrived != tree.all_children();
  ++tree.counters.sums;
  auto sum = add_up(tree, row);
  sum->ingress = ingress;
  strip(*sum, payload_bytes(row.header));
  release_waiting(tree, row);
  row.state = tree.is_root() ? Row::State::done : Row::State::summed;
  settle(tree, row);
  const auto cap =
      std::min<std::uint32_t>(row.header.wnd_cap.value(), memory_.cap(tree.grant, tree.top));
  row.header.wnd_cap = static_cast<std::uint16_t>(cap);
  if (tree.is_root()) {
    row.header.kind = wire::PanamaKind::result;
  }
  wire::seal(row.header, std::as_const(*sum).bytes());
  const auto headers = headers_for(tree, row, row.header);
  if (tree.is_root()) {
    multicast(tree, row, std::move(sum), headers, now, actions);
  } else {
    send_up(tree, row, std::move(sum), headers, now, actions);
  }
}

// Gives back the memory of the packets that waited, and what is left of them.
void PanamaEngine::release_waiting(Tree& tree, Row& row) {
  for (std::uint8_t child = 0; child < tree.children(); ++child) {
    if ((row.arrived >> child & 1) != 0) {
      --tree.held[child];
      --ports_[tree.config().children[child]].held;
      tree.waiting(row, child).reset();
    }
  }
  row.accumulator.reset();
  --tree.gathering;
}

// What a complete row means for those before it, for the tree's memory and for its epoch.
void PanamaEngine::settle(Tree& tree, const Row& row) {
  const bool ended = tree.complete(row.position, row.header.fin());
  if (tree.grant.falling) {
    memory_.drain(tree.grant, tree.expected, tree.held_max());
  }
  if (tree.grant.active) {
    kept_ -= tree.forget_received(row.position);
  }
  if (ended && tree.grant.active) {
    memory_.deactivate(tree.grant, tree.held_max());
  }
}

void PanamaEngine::send_up(Tree& tree, Row& row, PacketPtr sum, const Headers& headers, Time now,
                           engine::Actions& actions) {
  row.since = now;
  auto& body = *sum.release();
  pool_.share(body, 2);
  keep(tree, row, body, now);
  auto packet = pool_.allocate_in_front_of(body, headers.bytes());
  if (packet == nullptr) {
    return actions.lose(DropReason::no_buffer);
  }
  actions.originate_on(*tree.config().parent, std::move(packet));
}

// Whoever is above may have lost the sum, or we its result.
void PanamaEngine::resend(Tree& tree, Row& row, PortIndex ingress, Time now,
                          engine::Actions& actions) {
  if (now - row.since < resend_interval) {
    return;
  }
  row.since = now;
  ++tree.counters.resent;
  auto header = row.header;
  header.flags |= wire::PanamaHeader::retransmission_bit;
  wire::reseal(header);
  send_copy(tree, row, header, ingress, *tree.config().parent, actions);
}

// The worker came after the sum had gone, but before its result: another sum takes its place
// (section 7).
void PanamaEngine::add_late(Tree& tree, Row& row, PacketPtr packet, const Message& message,
                            Time now, engine::Actions& actions) {
  const auto& kernel = kernel_of(row.header);
  const std::size_t count = row.header.elements.value();
  auto* elements = elements_in(*packet);
  if (kernel.in_place) {
    kernel.accumulate(elements, row.kept.bytes().data(), count);
  } else {
    kernel.load(wide_.get(), row.kept.bytes().data(), count);
    kernel.accumulate(wide_.get(), elements, count);
    kernel.store(elements, wide_.get(), count);
  }
  auto& header = row.header;
  header.contributions = static_cast<std::uint16_t>(header.contributions.value() +
                                                    message.header.contributions.value());
  header.fingerprint = header.fingerprint.value() + message.header.fingerprint.value();
  header.wnd_cap = std::min(header.wnd_cap.value(), message.header.wnd_cap.value());
  row.congested |= message.congested();
  strip(*packet, payload_bytes(header));
  wire::seal(header, std::as_const(*packet).bytes());
  clear(tree, row);
  actions.absorb(nullptr);
  send_up(tree, row, std::move(packet), headers_for(tree, row, header), now, actions);
}

}  // namespace tributary::panama
