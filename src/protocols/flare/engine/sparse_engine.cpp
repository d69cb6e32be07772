// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/engine/sparse_engine.h"

#include <utility>

#include "protocols/flare/engine/drop_reasons.h"

namespace tributary::flare {
namespace {

// A shard as long as its sender may make them fits what sums are made of, and what goes out.
bool is_full_possible(const wire::FlareSparseHeader& header, const Packet& packet) {
  const std::size_t room = packet.capacity - PacketPool::default_headroom;
  return sizeof(SparseHeaders) + header.full.value() <= room;
}

// Whether it is like all sparse packets of the tree.
bool fits_tree(const wire::FlareSparseHeader& header, const TreeConfig& tree) {
  return header.workers.value() == tree.workers && header.window.value() == tree.sparse_window &&
         (header.kind == wire::FlareKind::result ||
          header.contributions.value() <= tree.workers_below);
}

// Why a packet is none of the tree's; no value if it is.
std::optional<DropReason> refusal_of_sparse(const engine::Arrival& arrival,
                                            const wire::FlareSparseView& view, const Tree* tree) {
  if (view.error != wire::FlareError::none) {
    return protocols::drop_reason_of(view.error, drop::row);
  }
  if (tree == nullptr) {
    return drop::no_tree;
  }
  if (const auto reason = tree->misplaced(arrival, view.header->kind)) {
    return reason;
  }
  if (tree->sparse() == nullptr) {
    return drop::not_sparse;
  }
  if (!fits_tree(*view.header, tree->config()) ||
      !is_full_possible(*view.header, *arrival.packet)) {
    return drop::mismatch;
  }
  return std::nullopt;
}

}  // namespace

void SparseEngine::prefetch(const Tree& tree, std::uint64_t block) {
  if (auto* const blocks = tree.sparse()) {
    blocks->prefetch(blocks->slot(block));
  }
}

void SparseEngine::handle(engine::Arrival& arrival, Tree* tree, const Burst& burst) {
  const auto view = wire::parse_flare_sparse(arrival.frame.payload);
  if (const auto reason = refusal_of_sparse(arrival, view, tree)) {
    return burst.actions.drop(std::move(arrival.packet), *reason);
  }
  if (const auto reason = tree->enter(*view.header, burst.now)) {
    return burst.actions.drop(std::move(arrival.packet), *reason);
  }
  tree->hear(burst.now);
  auto& slot = tree->sparse()->slot(view.header->block.value());
  if (slot.is_beyond(view.header->block.value())) {
    ++tree->counters.stale;
    return burst.actions.drop(std::move(arrival.packet), drop::stale);
  }
  Incoming in{*tree,         *tree->sparse(), slot,        std::move(arrival.packet),
              arrival.frame, *view.header,    view.payload};
  switch (in.header.kind) {
    case wire::FlareKind::contribution:
      return contribute(std::move(in), burst);
    case wire::FlareKind::result:
      return take_result(std::move(in), burst);
    case wire::FlareKind::inquiry:
      return take_inquiry(std::move(in), burst);
    case wire::FlareKind::refusal:  // there are none of sparse blocks
      return burst.actions.drop(std::move(in.packet), drop::malformed);
  }
}

}  // namespace tributary::flare
