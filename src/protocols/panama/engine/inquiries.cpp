// SPDX-License-Identifier: BSD-3-Clause
// Who lacks a result, and who may have it. A worker has either a result or what it contributed to
// it: so whoever is asked for a VID sends one or the other, and nothing is ever lost for good.

#include "protocols/panama/engine/drop_reasons.h"
#include "protocols/panama/engine/engine.h"

namespace tributary::panama {
namespace {

// What asks for the result of the same packet as `about`.
wire::PanamaHeader inquiry_about(const wire::PanamaHeader& about) {
  auto header = about;
  header.kind = wire::PanamaKind::inquiry;
  header.flags = wire::PanamaHeader::current_version;
  header.wnd_cap = wire::PanamaHeader::wnd_cap_none;
  header.elements = std::uint16_t{0};
  header.contributions = std::uint16_t{1};
  header.rank = wire::PanamaHeader::no_rank;
  header.fingerprint = std::uint64_t{0};
  wire::seal(header, {});
  return header;
}

}  // namespace

// Of a row that gathers, those that are missing are asked; where nothing is known of it, all
// others.
void PanamaEngine::inquire(Tree& tree, const wire::PanamaHeader& about, PortIndex port,
                           const Burst& burst) {
  const auto asker = tree.neighbour_at(port);
  const auto round = round_of(about);
  const auto vid = about.vid.value();
  if (!tree.inquiries.note(round, vid, asker, burst.now)) {
    return;
  }
  Neighbours others{tree.all_children() & ~asker.children, !tree.is_root() && !asker.parent};
  const auto position = tree.find_position(round, vid);
  if (position && tree.row(*position).state == Row::State::gathering) {
    others = {.children = others.children & ~tree.row(*position).arrived};
  }
  if (!others.any()) {
    return;
  }
  ++tree.counters.inquiries_sent;
  auto headers = tree.headers();
  headers.panama = inquiry_about(about);
  address(headers, false, 0);
  send_to(tree, others, {headers.bytes(), {}, port}, burst.actions);
}

void PanamaEngine::take_inquiry(Tree& tree, PacketPtr packet, const Message& message,
                                const Burst& burst) {
  const auto port = packet->ingress;
  if (!tree.neighbour_at(port).any()) {
    return burst.actions.drop(std::move(packet), drop::wrong_port);
  }
  ++tree.counters.inquiries;
  const auto position = tree.find_position(round_of(message.header), message.header.vid.value());
  auto* const row = position ? &tree.row(*position) : nullptr;
  // Of an epoch that is over nobody needs a sum any more, only its result.
  const bool has_sum = row != nullptr && row->state == Row::State::summed &&
                       (row->kept || row->holds) && *position >= tree.epochs.first();
  if (row != nullptr && row->state == Row::State::done && row->kept) {
    replay(tree, *row, port, burst.actions);
  } else if (has_sum) {
    // Not a question again, or two switches would ask each other for ever.
    constexpr auto flags = wire::PanamaHeader::retransmission_bit | wire::PanamaHeader::answer_bit;
    resend(tree, *row, port, flags, burst);
  } else {
    inquire(tree, message.header, port, burst);
  }
  burst.actions.absorb(std::move(packet));
}

void PanamaEngine::send_to(const Tree& tree, const Neighbours& receivers,
                           const engine::Outgoing& frame, engine::Actions& actions) {
  frames_.send(frame, tree.config().children, receivers.children, actions);
  if (receivers.parent) {
    frames_.send(frame, *tree.config().parent, actions);
  }
}

// A result that is not needed here, as its epoch is over, goes to who asked for it.
void PanamaEngine::relay(Tree& tree, PacketPtr packet, const Message& message, DropReason otherwise,
                         engine::Actions& actions) {
  auto askers = tree.inquiries.settle(round_of(message.header), message.header.vid.value());
  const auto sender = tree.neighbour_at(packet->ingress);
  askers.children &= ~sender.children;
  askers.parent = askers.parent && !sender.parent;
  if (!askers.any()) {
    return actions.drop(std::move(packet), otherwise);
  }
  ++tree.counters.answers;
  auto headers = tree.headers();
  headers.panama = message.header;
  headers.panama.flags |= wire::PanamaHeader::answer_bit;
  lower_cap(tree, headers.panama);
  address(headers, message.congested(), message.payload.size());
  send_to(tree, askers, {headers.bytes(), message.payload, packet->ingress}, actions);
  actions.absorb(std::move(packet));
}

}  // namespace tributary::panama
