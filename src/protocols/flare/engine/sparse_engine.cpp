// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/engine/sparse_engine.h"

#include <utility>

#include "protocols/flare/engine/drop_reasons.h"

namespace tributary::flare {
namespace {

// Returns whether a shard as long as its sender may make them fits what sums are made of, and what
// goes out.
bool is_full_possible(const wire::FlareSparseHeader& header, const Packet& packet) {
  const std::size_t room = packet.capacity - PacketPool::default_headroom;
  return sizeof(SparseHeaders) + header.full.value() <= room;
}

// Returns whether it is like all sparse packets of the tree, which has such.
bool is_of_tree(const wire::FlareSparseHeader& header, const TreeConfig& tree) {
  return header.workers.value() == tree.workers && header.window.value() == tree.sparse_window &&
         (header.kind == wire::FlareKind::result ||
          header.contributions.value() <= tree.workers_below);
}

// Returns why the tree cannot take the packet; no value if it can.
std::optional<DropReason> admit(const engine::Arrival& arrival,
                                const wire::FlareSparseHeader& header, Tree& tree, Time now) {
  if (tree.sparse() == nullptr) {
    return drop::not_sparse;
  }
  if (!is_of_tree(header, tree.config()) || !is_full_possible(header, *arrival.packet)) {
    return drop::mismatch;
  }
  return tree.admit(header, tree.sparse()->slot(header.block.value()), now);
}

}  // namespace

void SparseEngine::prefetch(const Tree& tree, std::uint64_t block) {
  if (auto* const blocks = tree.sparse()) {
    blocks->prefetch(blocks->slot(block));
  }
}

void SparseEngine::handle(engine::Arrival& arrival, Tree* tree, const Burst& burst) {
  const auto view = wire::parse_flare_sparse(arrival.frame.payload);
  auto reason = refusal(arrival, view, tree);
  if (!reason) {
    reason = admit(arrival, *view.header, *tree, burst.now);
  }
  if (reason) {
    return burst.actions.drop(std::move(arrival.packet), *reason);
  }
  auto& slot = tree->sparse()->slot(view.header->block.value());
  tree->bearing = Bearing(arrival);
  Incoming in{{*tree, slot, arrival.packet->ingress, burst},
              std::move(arrival.packet),
              arrival.frame,
              *view.header,
              view.payload};
  switch (in.header.kind) {
    case wire::FlareKind::contribution:
      return contribute(in);
    case wire::FlareKind::result:
      return take_result(in);
    case wire::FlareKind::inquiry:
      return take_inquiry(in);
    case wire::FlareKind::refusal:  // there are none of sparse blocks
      return in.drop(drop::malformed);
  }
}

}  // namespace tributary::flare
