// SPDX-License-Identifier: BSD-3-Clause
// What is complete is added up and goes on.
#include <algorithm>
#include <utility>

#include "protocols/panama/engine/engine.h"

namespace tributary::panama {
namespace {

// A sum whose result is late is not sent again more often.
constexpr Duration resend_interval = std::chrono::milliseconds(1);

// Only the elements are left of the packet, to stand behind other headers.
void strip(Packet& packet, std::size_t elements_bytes) {
  packet.narrow_to(sizeof(Headers), elements_bytes);
}

}  // namespace

void PanamaEngine::complete_what_can(Tree& tree, Row& row, std::uint8_t child, const Burst& burst) {
  const auto ingress = tree.config().children[child];
  if (tree.is_complete(row)) {
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
    if (tree.is_known(position) && tree.is_complete(other)) {
      complete(tree, other, ingress, burst);
    }
  }
}

void PanamaEngine::complete(Tree& tree, Row& row, PortIndex ingress, const Burst& burst) {
  auto sum = adder_.add_up(tree, row);
  if (!sum) {
    return burst.actions.lose(DropReason::no_buffer);
  }
  tree.counters.partial += row.arrived != tree.all_children();
  ++tree.counters.sums;
  if (!tree.may_send_more()) {
    holdings_.release_waiting(tree, row);
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
  holdings_.clear(tree, row);
  auto sum = adder_.add_up(tree, row);
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
  const auto headers = tree.headers_for(row, row.header);
  if (tree.is_root()) {
    ++tree.counters.results;
    multicast(tree, row, std::move(sum), headers, burst);
  } else {
    send_up(tree, row, std::move(sum), headers, burst);
  }
}

// What a complete row means for those before it, for the tree's memory and for its epoch.
void PanamaEngine::settle(Tree& tree, const Row& row, Time now) {
  tree.has_results |= row.state == Row::State::done && row.position >= tree.epochs.first();
  const bool ended = tree.complete(row.position, row.header.fin(), now);
  if (tree.grant.falling) {
    memory_.drain(tree.grant, tree.sent_by_all(), tree.held_max());
  }
  if (tree.grant.active) {
    holdings_.forget_received(tree, row.position);
  }
  if (ended) {
    memory_.deactivate(tree.grant, tree.held_max());
  }
}

void PanamaEngine::send_up(Tree& tree, Row& row, PacketPtr sum, const Headers& headers,
                           const Burst& burst) {
  row.since = burst.now;
  auto& body = keep(tree, row, std::move(sum), 1, burst);
  frames_.send_sharing(body, headers.bytes(), *tree.config().parent, burst.actions);
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
  frames_.send({tree.headers_for(row, header).bytes(), row.kept.bytes(), ingress},
               *tree.config().parent, burst.actions);
}

}  // namespace tributary::panama
