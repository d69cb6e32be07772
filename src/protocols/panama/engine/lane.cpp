// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/engine/lane.h"

#include <cstddef>
#include <cstdint>

#include "engine/masked_words.h"
#include "engine/prefetch.h"

namespace tributary::panama {
namespace {

// The contributions to a row are alike in this part of the header.
constexpr auto common = [] {
  engine::MaskedWords<4> words;
  words.cover(offsetof(wire::PanamaHeader, job), offsetof(wire::PanamaHeader, wnd_cap));
  // Flags with the version, kind, type, operator, run and epoch are between these.
  words.cover(offsetof(wire::PanamaHeader, vid), offsetof(wire::PanamaHeader, contributions));
  words.cover(offsetof(wire::PanamaHeader, workers), offsetof(wire::PanamaHeader, rank));
  return words;
}();
static_assert(decltype(common)::bytes == offsetof(wire::PanamaHeader, fingerprint));

const wire::PanamaHeader& header_of(const engine::Frame& frame) {
  return *reinterpret_cast<const wire::PanamaHeader*>(frame.payload.data());
}

}  // namespace

bool repeats(const wire::PanamaHeader& next, const wire::PanamaHeader& first) {
  return common.agree(&next, &first);
}

Tree* locate(const TreeTable& trees, const engine::Frame& frame) {
  auto* tree = trees.find(wire::peek_panama_key(frame.payload));
  if (tree != nullptr) {
    const auto& header = header_of(frame);
    tree->prefetch(round_of(header), header.vid.value());
  }
  return tree;
}

void prefetch_elements(Tree* tree, const engine::Frame& frame) {
  if (tree == nullptr) {
    return;
  }
  const auto& header = header_of(frame);
  const auto position = tree->epochs.first() + header.vid.value();
  const auto& row = tree->row(position);
  if (row.state != Row::State::gathering || row.position != position ||
      !tree->epochs.is_current(round_of(header))) {
    return;
  }
  const auto bytes = frame.payload.size();
  if (row.accumulator != nullptr) {
    engine::prefetch(row.elements, bytes);
  }
  const auto missing = tree->all_children() & ~row.arrived;
  if ((missing & (missing - 1)) != 0) {  // others are missing, too
    return;
  }
  for (std::uint8_t child = row.next; child < tree->children(); ++child) {
    if (const auto& packet = row.waiting[child]) {
      engine::prefetch(elements_in(*packet), bytes);
    }
  }
}

Row* row_to_join(const engine::Arrival& arrival, Tree& tree) {
  const auto& frame = arrival.frame;
  const auto& header = header_of(frame);
  const auto position = tree.epochs.first() + header.vid.value();
  auto& row = tree.row(position);
  if (row.state != Row::State::gathering || row.position != position ||
      !repeats(header, row.header) || header.retransmission() ||
      !tree.epochs.is_current(round_of(header)) || tree.swept < tree.epochs.first()) {
    return nullptr;
  }
  const auto payload = frame.payload.subspan(sizeof header);
  const auto ingress = arrival.packet->ingress;
  const auto child = tree.child_of(ingress);
  const auto contributions = header.contributions.value();
  if (child == Tree::no_child || row.has(child) || contributions == 0 ||
      contributions > header.workers.value() || payload.size() != tree.payload_bytes(header) ||
      !is_addressed_to(frame, tree.config()) || !tree.may_come(ingress, frame.ipv4->source) ||
      !wire::is_intact(header, payload)) {
    return nullptr;
  }
  return &row;
}

}  // namespace tributary::panama
