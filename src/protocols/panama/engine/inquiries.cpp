// SPDX-License-Identifier: BSD-3-Clause
// This file finds out who lacks a result, and who may have it. A worker has either a result or what
// it contributed to it: so whoever is asked for a VID sends one or the other, and nothing is ever
// lost for good.

#include "protocols/panama/engine/drop_reasons.h"
#include "protocols/panama/engine/engine.h"

namespace tributary::panama {
namespace {

// Returns the header that asks for the result of the same packet as `about`.
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

// If the row gathers, those that are missing are asked; otherwise all others are.
void PanamaEngine::inquire(const Cause& cause, const wire::PanamaHeader& about) {
  auto& tree = cause.tree;
  const auto asker = tree.neighbour_at(cause.port);
  const auto round = round_of(about);
  const auto vid = about.vid.value();
  if (!tree.inquiries.note(round, vid, asker, cause.burst.now)) {
    return;
  }
  auto others = Neighbours{tree.all_children(), !tree.is_root()}.without(asker);
  const auto position = tree.find_position(round, vid);
  if (position && tree.row(*position).state == Row::State::gathering) {
    others = others.without({tree.row(*position).arrived, true});
  }
  if (!others.any()) {
    return;
  }
  ++tree.counters.inquiries_sent;
  auto headers = tree.headers();
  headers.panama = inquiry_about(about);
  address(headers, false, 0);
  send_to(cause, others, headers, {});
}

void PanamaEngine::take_inquiry(Incoming& in) {
  auto& tree = in.tree;
  if (!tree.neighbour_at(in.port).any()) {
    return in.drop(drop::wrong_port);
  }
  ++tree.counters.inquiries;
  const auto position = tree.find_position(in.round(), in.vid());
  auto* const row = position ? &tree.row(*position) : nullptr;
  // Nobody needs a sum of an epoch that is over any more, only its result.
  const bool has_sum = row != nullptr && row->state == Row::State::summed &&
                       (row->kept || row->holds) && *position >= tree.epochs.first();
  if (row != nullptr && row->state == Row::State::done && row->kept) {
    replay(in, *row);
  } else if (has_sum) {
    // This is not a question again, or two switches would ask each other for ever.
    resend(in, *row, wire::PanamaHeader::retransmission_bit | wire::PanamaHeader::answer_bit);
  } else {
    inquire(in, in.header);
  }
  in.absorb();
}

void PanamaEngine::send_to(const Cause& cause, const Neighbours& receivers, const Headers& headers,
                           wire::Bytes payload) {
  const auto& config = cause.tree.config();
  const engine::Outgoing frame{headers.bytes(), payload, cause.port, cause.tree.over_ipv6};
  frames_.send(frame, config.children, receivers.children, cause.burst.actions);
  if (receivers.parent) {
    frames_.send(frame, *config.parent, cause.burst.actions);
  }
}

// A result that is not needed here, as its epoch is over, goes to whoever asked for it.
void PanamaEngine::relay(Incoming& in, DropReason otherwise) {
  auto& tree = in.tree;
  const auto askers =
      tree.inquiries.settle(in.round(), in.vid()).without(tree.neighbour_at(in.port));
  if (!askers.any()) {
    return in.drop(otherwise);
  }
  ++tree.counters.answers;
  auto headers = tree.headers();
  headers.panama = in.header;
  headers.panama.flags |= wire::PanamaHeader::answer_bit;
  lower_cap(tree, headers.panama);
  address(headers, in.congested(), in.payload().size());
  send_to(in, askers, headers, in.payload());
  in.absorb();
}

}  // namespace tributary::panama
