// SPDX-License-Identifier: BSD-3-Clause
// This file adds up what is complete, and lets it go on.
#include <algorithm>
#include <utility>

#include "protocols/panama/engine/engine.h"

namespace tributary::panama {
namespace {

// A sum whose result is late is not sent again more often than this.
constexpr Duration resend_interval = std::chrono::milliseconds(1);

}  // namespace

void PanamaEngine::complete_what_can(const Cause& cause, Row& row) {
  auto& tree = cause.tree;
  if (tree.is_complete(row)) {
    complete(cause, row);
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
      complete(cause, other);
    }
  }
}

void PanamaEngine::complete(const Cause& cause, Row& row) {
  auto& tree = cause.tree;
  auto sum = adder_.add_up(tree, row);
  if (!sum) {
    return cause.burst.actions.lose(DropReason::no_buffer);
  }
  tree.counters.partial += row.arrived != tree.all_children();
  ++tree.counters.sums;
  if (!tree.may_send_more()) {
    buffers_.release_waiting(tree, row);
  }
  --tree.gathering;
  row.state = tree.is_root() ? Row::State::done : Row::State::summed;
  settle(cause, row);
  pass_on(cause, row, std::move(sum));
}

// There is more in the sum than when it was sent: another one takes its place (section 7). The
// row's header tells of all that waits, so that the elements that were sent must not stand behind
// it again.
void PanamaEngine::send_more(const Cause& cause, Row& row) {
  buffers_.clear(cause.tree, row);
  auto sum = adder_.add_up(cause.tree, row);
  if (!sum) {
    return cause.burst.actions.lose(DropReason::no_buffer);
  }
  pass_on(cause, row, std::move(sum));
}

void PanamaEngine::pass_on(const Cause& cause, Row& row, PacketPtr sum) {
  auto& tree = cause.tree;
  sum->ingress = cause.port;
  sum->over_ipv6 = tree.over_ipv6;
  // Only elements and mask are left of the packet, to stand behind other headers.
  sum->narrow_to(sizeof(Headers), tree.payload_bytes(row.header));
  if (tree.is_partial()) {
    tree.present.write(tree.slot_of(row), sum->bytes());
  }
  const auto cap =
      std::min<std::uint32_t>(row.header.wnd_cap.value(), memory_.cap(tree.grant, tree.top));
  row.header.wnd_cap = static_cast<std::uint16_t>(cap);
  if (tree.is_root()) {
    tree.told.note(row.position, row.header.wnd_cap.value());
    row.header.kind = wire::PanamaKind::result;
    clear_marks(row.header);
  }
  wire::seal(row.header, std::as_const(*sum).bytes());
  const auto headers = tree.headers_for(row, row.header);
  if (tree.is_root()) {
    ++tree.counters.results;
    tree.counters.congested += row.congested ? 1 : 0;
    multicast(cause, row, std::move(sum), headers);
  } else {
    row.since = cause.burst.now;
    send_and_keep(cause, row, std::move(sum), headers, tree.up());
  }
}

// Settles what a complete row means for those before it, for the tree's memory and for its epoch.
void PanamaEngine::settle(const Cause& cause, const Row& row) {
  auto& tree = cause.tree;
  tree.has_results |= row.state == Row::State::done && row.position >= tree.epochs.first();
  const bool ended = tree.complete(row.position, row.header.fin(), cause.burst.now);
  if (tree.grant.falling) {
    memory_.drain(tree.grant, tree.sent_by_all(), tree.held_max());
  }
  if (tree.grant.active) {
    buffers_.forget_received(tree, row.position);
  }
  // What waits with a sum that may go up once more has its place until the result is there, and so
  // has what comes late to it.
  const bool may_come_late = tree.may_send_more() && tree.held_max() != 0;
  if (ended && !may_come_late) {
    memory_.deactivate(tree.grant, tree.held_max());
  }
}

// Whoever is above may have lost the sum, or we its result.
void PanamaEngine::resend(const Cause& cause, Row& row, std::uint8_t flags) {
  if (!row.kept) {
    return send_more(cause, row);
  }
  if (cause.burst.now - row.since < resend_interval) {
    return;
  }
  row.since = cause.burst.now;
  ++cause.tree.counters.resent;
  auto header = row.header;
  header.flags |= flags;
  send_kept(cause, row, header, *cause.tree.config().parent);
}

// To each of the ports go headers of its own in front of the same elements, of which the row is
// another holder; nothing else is left of the packet.
void PanamaEngine::send_and_keep(const Cause& cause, Row& row, PacketPtr packet,
                                 const Headers& headers, std::span<const PortIndex> ports) {
  auto& body = *packet.release();
  pool_.share(body, static_cast<unsigned>(ports.size()) + 1);
  buffers_.make_room(trees_, 1);  // not of this one, which may be sent once more at once
  buffers_.keep(cause.tree, row, body);
  look_soon(cause.burst.now);
  for (const auto port : ports) {
    frames_.send_sharing(body, headers.bytes(), port, cause.burst.actions);
  }
}

// Sends what is kept once more, behind that header.
void PanamaEngine::send_kept(const Cause& cause, const Row& row, wire::PanamaHeader header,
                             PortIndex port) {
  wire::reseal(header);
  const auto headers = cause.tree.headers_for(row, header);
  frames_.send({headers.bytes(), row.kept.bytes(), cause.port, cause.tree.over_ipv6}, port,
               cause.burst.actions);
}

}  // namespace tributary::panama
