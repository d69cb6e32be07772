// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/engine/aggregation_buffers.h"

namespace tributary::panama {
namespace {

void end_gathering(Row& row) {
  row.state = row.state == Row::State::gathering ? Row::State::free : row.state;
}

}  // namespace

void AggregationBuffers::release_waiting(Tree& tree, Row& row) {
  if (!row.holds) {
    return;
  }
  const bool counted = !tree.is_left(row);
  if (counted && row.remade) {
    tree.remade.remove(row);
  }
  row.holds = false;
  for (std::uint8_t child = 0; child < tree.children(); ++child) {
    if ((row.arrived >> child & 1) == 0) {
      continue;
    }
    if (counted) {
      let_go(tree, row, child);
    } else {
      --held_;
      row.waiting[child].reset();
    }
  }
  row.accumulator.reset();
}

void AggregationBuffers::evict_waiting(Tree& tree) {
  evict_remade(tree);  // so that nothing is added up anew of which somebody may have a result
  for (std::uint64_t slot = 0; slot < tree.rows(); ++slot) {
    auto& row = tree.row(slot);
    release_waiting(tree, row);
    end_gathering(row);
  }
  tree.gathering = 0;
}

void AggregationBuffers::evict_remade(Tree& tree) {
  while (!tree.remade.empty()) {
    auto& row = tree.remade.last();
    vacate(tree, row);
    tree.gathering -= row.state == Row::State::gathering ? 1 : 0;
    row.state = row.was_done ? Row::State::done : Row::State::summed;
  }
}

void AggregationBuffers::abandon_rows(Tree& tree) {
  for (std::uint8_t child = 0; child < tree.children(); ++child) {
    ports_[tree.config().children[child]].held -= std::exchange(tree.held[child], 0);
  }
  tree.gathering = 0;
  tree.remade.clear();
}

void AggregationBuffers::sweep_some(Tree& tree) {
  const auto end = std::min(tree.swept + Tree::rows_at_once, tree.epochs.first());
  for (; tree.swept < end; ++tree.swept) {
    auto& row = tree.row(tree.swept);
    if (tree.is_left(row)) {
      release_waiting(tree, row);
      end_gathering(row);
    }
  }
}

void AggregationBuffers::drop_early(Tree& tree, std::uint8_t child) {
  for (auto& packet : tree.early[child].packets) {
    if (packet != nullptr) {
      --held_;
      ++tree.counters.left;
      packet.reset();
    }
  }
}

void AggregationBuffers::remove(Tree& tree) {
  for (std::uint8_t child = 0; child < tree.children(); ++child) {
    drop_early(tree, child);
  }
  evict_waiting(tree);
  kept_ -= tree.kept;
}

void AggregationBuffers::forget_before(Tree& tree, std::uint64_t before,
                                       std::uint64_t rows_at_most) {
  // What is let go was last looked at a window ago, so it is fetched ahead.
  constexpr std::uint64_t row_ahead = 8;
  constexpr std::uint64_t elements_ahead = 4;
  // Positions jump where VIDs are left out: what is older than a ring may still be in it.
  auto& from = tree.kept_from;
  from = std::max(from, before - std::min(before, tree.rows()));
  const auto end = std::min(before, from + std::min(rows_at_most, tree.rows()));
  for (; tree.kept > 0 && from < end; ++from) {
    __builtin_prefetch(&tree.row(from + row_ahead).kept);
    tree.row(from + elements_ahead).kept.prefetch();
    auto& row = tree.row(from);
    if (row.position <= from) {
      clear(tree, row);
    }
  }
  from = tree.kept == 0 ? std::max(from, before) : from;
}

// The tree that rests longest is the least likely to be asked.
void AggregationBuffers::forget_oldest(const TreeTable& trees) {
  constexpr std::size_t trees_at_once = 8;
  const auto& all = trees.all();
  Tree* oldest = nullptr;
  for (std::size_t i = std::min(trees_at_once, all.size()); i > 0; --i) {
    auto& tree = *all[turn_++ % all.size()];
    if (!tree.grant.active && tree.kept > 0 &&
        (oldest == nullptr || tree.last_taken < oldest->last_taken)) {
      oldest = &tree;
    }
  }
  if (oldest != nullptr) {
    forget_before(*oldest, oldest->top, Tree::rows_at_once);
  }
}

}  // namespace tributary::panama
