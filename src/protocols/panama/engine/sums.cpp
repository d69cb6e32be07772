// SPDX-License-Identifier: BSD-3-Clause
// What is complete is added up and goes on.
#include <algorithm>
#include <utility>

#include "protocols/panama/engine/engine.h"
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
  const bool all = row.arrived == tree.all_children();
  if (!tree.is_partial() || row.remade) {
    return all;
  }
  // Each child may have left out as many as may be missing in the whole job.
  return row.header.contributions.value() >= tree.contributions_needed() &&
         (all || row.position < tree.may_miss_before());
}

void PanamaEngine::complete_what_can(Tree& tree, Row& row, std::uint8_t child, const Burst& burst) {
  const auto ingress = tree.config().children[child];
  if (is_complete(tree, row)) {
    complete(tree, row, ingress, burst);
  }
  if (!tree.is_partial()) {
    return;
  }
  // Some may only have waited for a child not to fall behind too far, or for more memory.
  memory_.raise_to_share(tree.grant);
  const auto [begin, end] = tree.let_go_on();
  for (auto position = begin; position < end; ++position) {
    auto& other = tree.row(position);
    if (tree.is_known(position) && is_complete(tree, other)) {
      complete(tree, other, ingress, burst);
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

// 16-bit elements are added as f32 and rounded once. Null where there is no packet for the sum.
PacketPtr PanamaEngine::add_up(Tree& tree, Row& row) {
  if (row.accumulator) {
    return std::move(row.accumulator);
  }
  const auto& kernel = kernel_of(row.header);
  const std::size_t count = row.header.elements.value();
  PacketPtr sum;
  void* accumulator = wide_.get();
  for (std::uint8_t child = 0; child < tree.children(); ++child) {
    auto& packet = tree.waiting(row, child);
    if (!packet) {
      continue;
    }
    if (sum) {
      kernel.accumulate(accumulator, elements_in(*packet), count);
      continue;
    }
    sum = tree.may_send_more() ? pool_.clone(*packet) : std::move(packet);
    if (!sum) {
      return nullptr;
    }
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

void PanamaEngine::complete(Tree& tree, Row& row, PortIndex ingress, const Burst& burst) {
  auto sum = add_up(tree, row);
  if (!sum) {
    return burst.actions.lose(DropReason::no_buffer);
  }
  tree.counters.partial += row.arrived != tree.all_children();
  ++tree.counters.sums;
  if (!tree.may_send_more()) {
    release_waiting(tree, row);
  }
  --tree.gathering;
  row.state = tree.is_root() ? Row::State::done : Row::State::summed;
  settle(tree, row, burst.now);
  pass_on(tree, row, std::move(sum), ingress, burst);
}

// There is more in the sum than when it was sent: another one takes its place (section 7). The
// row's header tells of all that waits, so that the elements that were sent must not stand behind
// it again.
void PanamaEngine::send_more(Tree& tree, Row& row, PortIndex ingress, const Burst& burst) {
  clear(tree, row);
  auto sum = add_up(tree, row);
  if (!sum) {
    return burst.actions.lose(DropReason::no_buffer);
  }
  pass_on(tree, row, std::move(sum), ingress, burst);
}

void PanamaEngine::pass_on(Tree& tree, Row& row, PacketPtr sum, PortIndex ingress,
                           const Burst& burst) {
  sum->ingress = ingress;
  strip(*sum, payload_bytes(row.header));
  const auto cap =
      std::min<std::uint32_t>(row.header.wnd_cap.value(), memory_.cap(tree.grant, tree.top));
  row.header.wnd_cap = static_cast<std::uint16_t>(cap);
  if (tree.is_root()) {
    tree.note_cap(row.position, row.header.wnd_cap.value());
    row.header.kind = wire::PanamaKind::result;
    row.header.flags &= wire::PanamaHeader::fin_bit | wire::PanamaHeader::version_mask;
  }
  wire::seal(row.header, std::as_const(*sum).bytes());
  const auto headers = headers_for(tree, row, row.header);
  if (tree.is_root()) {
    ++tree.counters.results;
    multicast(tree, row, std::move(sum), headers, burst);
  } else {
    send_up(tree, row, std::move(sum), headers, burst);
  }
}

// Gives back the memory of the packets that wait, and what is left of them.
void PanamaEngine::release_waiting(Tree& tree, Row& row) {
  if (!row.holds) {
    return;
  }
  const bool counted = !tree.is_left(row);
  row.holds = false;
  for (std::uint8_t child = 0; child < tree.children(); ++child) {
    if ((row.arrived >> child & 1) != 0) {
      if (counted) {
        discount_waiting(tree, child);
      } else {
        --held_;
      }
      tree.waiting(row, child).reset();
    }
  }
  row.accumulator.reset();
}

// What a complete row means for those before it, for the tree's memory and for its epoch.
void PanamaEngine::settle(Tree& tree, const Row& row, Time now) {
  tree.has_results |= row.state == Row::State::done && row.position >= tree.epochs.first();
  const bool ended = tree.complete(row.position, row.header.fin(), now);
  if (tree.grant.falling) {
    memory_.drain(tree.grant, tree.expected, tree.held_max());
  }
  if (tree.grant.active) {
    kept_ -= tree.forget_received(row.position);
  }
  if (ended) {
    memory_.deactivate(tree.grant, tree.held_max());
  }
}

void PanamaEngine::send_up(Tree& tree, Row& row, PacketPtr sum, const Headers& headers,
                           const Burst& burst) {
  row.since = burst.now;
  auto& body = *sum.release();
  pool_.share(body, 2);
  keep(tree, row, body, burst.now);
  auto packet = pool_.allocate_in_front_of(body, headers.bytes());
  if (packet == nullptr) {
    return burst.actions.lose(DropReason::no_buffer);
  }
  burst.actions.originate_on(*tree.config().parent, std::move(packet));
}

// Whoever is above may have lost the sum, or we its result.
void PanamaEngine::resend(Tree& tree, Row& row, PortIndex ingress, std::uint8_t flags,
                          const Burst& burst) {
  if (!row.kept) {
    return send_more(tree, row, ingress, burst);
  }
  if (burst.now - row.since < resend_interval) {
    return;
  }
  row.since = burst.now;
  ++tree.counters.resent;
  auto header = row.header;
  header.flags |= flags;
  wire::reseal(header);
  send_frame({headers_for(tree, row, header), row.kept.bytes(), ingress}, *tree.config().parent,
             burst.actions);
}

}  // namespace tributary::panama
