// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/engine/engine.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "protocols/panama/engine/drop_reasons.h"
#include "wire/key.h"

namespace tributary::panama {
namespace {

std::uint64_t key_of(const TreeConfig& tree) {
  return wire::panama_key(tree.job, tree.tree);
}

DropReason drop_reason_of(wire::PanamaError error) {
  switch (error) {
    case wire::PanamaError::truncated:
      return drop::truncated;
    case wire::PanamaError::oversized:
      return drop::oversized;
    case wire::PanamaError::version:
      return drop::version;
    case wire::PanamaError::crc:
      return drop::crc;
    case wire::PanamaError::malformed:
    case wire::PanamaError::none:
      break;
  }
  return drop::malformed;
}

// Options are not ours to rewrite.
bool is_addressed_to(const engine::Frame& frame, const TreeConfig& tree) {
  return frame.ipv4->header_bytes() == sizeof(wire::Ipv4Header) &&
         frame.ipv4->destination == tree.group;
}

}  // namespace

PanamaEngine::PanamaEngine(const PanamaConfig& config, const engine::SwitchIdentity& self,
                           PacketPool& pool)
    : config_(config),
      self_(self),
      pool_(pool),
      memory_(config.packet_memory),
      ports_(self.ports),
      wide_(std::make_unique_for_overwrite<float[]>(std::numeric_limits<std::uint16_t>::max())),
      room_((self.ports + std::uint64_t{2}) * config.packet_memory) {
  for (const auto& tree : config.trees) {
    install(tree);
  }
  index_trees();
}

void PanamaEngine::install(const TreeConfig& tree) {
  trees_.push_back(std::make_unique<Tree>(tree, self_, config_.packet_memory));
  memory_.install(trees_.back()->grant);
}

void PanamaEngine::remove(Tree& tree) {
  for (std::uint8_t child = 0; child < tree.children(); ++child) {
    leave_door(tree, child);
  }
  evict_waiting(tree);
  kept_ -= tree.kept;
  memory_.remove(tree.grant);
  removed_ += tree.counters;
}

bool PanamaEngine::reconfigure(const PanamaConfig& config) {
  if (config.packet_memory != config_.packet_memory) {
    return false;
  }
  std::erase_if(trees_, [&](const auto& tree) {
    const bool stays =
        std::find(config.trees.begin(), config.trees.end(), tree->config()) != config.trees.end();
    if (!stays) {
      remove(*tree);
    }
    return !stays;
  });
  index_trees();
  for (const auto& tree : config.trees) {
    if (find_tree(key_of(tree)) == nullptr) {
      install(tree);
    }
  }
  index_trees();
  config_ = config;
  return true;
}

void PanamaEngine::index_trees() {
  index_.assign(std::bit_ceil(2 * trees_.size() + 1), nullptr);
  const auto mask = index_.size() - 1;
  for (const auto& tree : trees_) {
    auto at = wire::mix_key(key_of(tree->config()), 0) & mask;
    while (index_[at] != nullptr) {
      at = (at + 1) & mask;
    }
    index_[at] = tree.get();
  }
}

Tree* PanamaEngine::find_tree(std::uint64_t key) {
  const auto mask = index_.size() - 1;
  auto at = wire::mix_key(key, 0) & mask;
  while (index_[at] != nullptr && key_of(index_[at]->config()) != key) {
    at = (at + 1) & mask;
  }
  return index_[at];
}

Tree* PanamaEngine::tree_of(const engine::Frame& frame) {
  const auto* header = wire::Cursor(frame.payload).take<wire::PanamaHeader>();
  return header == nullptr ? nullptr
                           : find_tree(wire::panama_key(header->job.value(), header->tree.value()));
}

void PanamaEngine::process(std::span<engine::Arrival> burst, Time now, engine::Actions& actions) {
  // So many packets ahead, what a packet needs is fetched from memory: first its row, which tells
  // where the elements are, then those. Its tree is looked up once, for both and for itself.
  constexpr std::size_t row_ahead = 6;
  constexpr std::size_t elements_ahead = 3;
  std::array<Tree*, 2 * elements_ahead + 2> trees;
  static_assert(std::has_single_bit(trees.size()) && trees.size() > row_ahead);
  const auto tree_at = [&trees](std::size_t i) -> auto& {
    return trees[i % trees.size()];
  };
  const auto look_for_row = [&](std::size_t i) {
    if (i < burst.size()) {
      tree_at(i) = tree_of(burst[i].frame);
      prefetch(tree_at(i), burst[i].frame);
    }
  };
  for (std::size_t i = 0; i < row_ahead; ++i) {
    look_for_row(i);
  }
  const Burst current{now, actions};
  for (std::size_t i = 0; i < burst.size(); ++i) {
    look_for_row(i + row_ahead);
    if (i + elements_ahead < burst.size()) {
      prefetch_elements(tree_at(i + elements_ahead), burst[i + elements_ahead].frame);
    }
    handle(burst[i], tree_at(i), current);
  }
}

void PanamaEngine::prefetch(const Tree* tree, const engine::Frame& frame) {
  if (tree != nullptr) {
    const auto* header = wire::Cursor(frame.payload).take<wire::PanamaHeader>();
    tree->prefetch(round_of(*header), header->vid.value());
  }
}

void PanamaEngine::prefetch_elements(Tree* tree, const engine::Frame& frame) {
  constexpr std::size_t cache_line = 64;
  if (tree == nullptr) {
    return;
  }
  const auto* header = wire::Cursor(frame.payload).take<wire::PanamaHeader>();
  const auto* row = tree->find(round_of(*header), header->vid.value());
  if (row == nullptr || row->state != Row::State::gathering) {
    return;
  }
  const auto fetch = [&](const std::byte* bytes) {
    for (std::size_t at = 0; at < frame.payload.size(); at += cache_line) {
      __builtin_prefetch(bytes + at);
    }
  };
  if (row->accumulator != nullptr) {
    fetch(row->elements);
  }
  if (std::popcount(row->arrived) + 1 < tree->children()) {
    return;
  }
  for (std::uint8_t child = row->next; child < tree->children(); ++child) {
    if (const auto& packet = tree->waiting(*row, child)) {
      fetch(packet->data() + sizeof(Headers));
    }
  }
}

void PanamaEngine::handle(engine::Arrival& arrival, Tree* tree, const Burst& burst) {
  const auto& frame = arrival.frame;
  const auto view = wire::parse_panama(frame.payload);
  if (view.error != wire::PanamaError::none) {
    return burst.actions.drop(std::move(arrival.packet), drop_reason_of(view.error));
  }
  auto& header = *view.header;
  if (tree == nullptr) {
    return burst.actions.drop(std::move(arrival.packet), drop::no_tree);
  }
  if (!is_addressed_to(frame, tree->config())) {
    return burst.actions.drop(std::move(arrival.packet), drop::malformed);
  }
  if (!tree->may_come(arrival.packet->ingress, frame.ipv4->source)) {
    return burst.actions.drop(std::move(arrival.packet), drop::wrong_port);
  }
  if (header.workers.value() != tree->config().workers) {
    return burst.actions.drop(std::move(arrival.packet), drop::mismatch);
  }
  const Message message{frame, header, view.payload};
  switch (header.kind) {
    case wire::PanamaKind::aggregation:
      return contribute(
          {*tree, tree->child_of(arrival.packet->ingress), std::move(arrival.packet), message},
          burst);
    case wire::PanamaKind::result:
      return take_result(*tree, std::move(arrival.packet), message, burst);
    case wire::PanamaKind::inquiry:
      return take_inquiry(*tree, std::move(arrival.packet), message, burst);
  }
}

Time PanamaEngine::deadline() const {
  return next_look_;
}

// What waits for a rank that is late stays; the tree is active again when it goes on. Who lost a
// result has asked for it long since. But where another tree has no room at all, one that stands
// still gives up what waits: who lives sends it again.
void PanamaEngine::expire(Time now, engine::Actions& /*actions*/) {
  if (now < next_look_) {
    return;
  }
  for (auto& tree : trees_) {
    if (memory_.is_short() && now - tree->last_added >= silence_max) {
      cut(*tree);
    }
    if (now - tree->last_taken >= silence_max) {
      memory_.deactivate(tree->grant, tree->held_max());
      tree->is_cut = true;
      kept_ -= tree->forget(tree->top, tree->rows());
    }
  }
  const bool look_again = memory_.active() > 0 || kept_ > 0 || memory_.is_short();
  next_look_ = look_again ? now + look_interval : never;
}

void PanamaEngine::activate(Tree& tree, Time now) {
  memory_.activate(tree.grant);
  look_soon(now);
}

// As long as a tree is active, or something is kept, also for one that is not.
void PanamaEngine::look_soon(Time now) {
  next_look_ = std::min(next_look_, now + look_interval);
}

}  // namespace tributary::panama
