// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/engine/engine.h"

#include <algorithm>
#include <utility>

#include "engine/prefetch.h"
#include "protocols/panama/engine/admission.h"
#include "protocols/panama/engine/drop_reasons.h"
#include "protocols/panama/engine/lane.h"

namespace tributary::panama {
namespace {

// Returns why a packet is none of the tree's; no value if it is.
std::optional<DropReason> refusal(const engine::Arrival& arrival, const wire::PanamaView& view,
                                  const Tree* tree) {
  if (view.error != wire::PanamaError::none) {
    return protocols::drop_reason_of(view.error, drop::row);
  }
  if (tree == nullptr) {
    return drop::no_tree;
  }
  if (!is_addressed_to(arrival.frame, tree->config())) {
    return drop::malformed;
  }
  if (!tree->may_come(arrival.packet->ingress, arrival.frame.ipv4->source)) {
    return drop::wrong_port;
  }
  const auto& header = *view.header;
  const bool has_its_mask =
      header.has_mask() == tree->is_partial() || header.kind == wire::PanamaKind::inquiry;
  if (header.workers.value() != tree->config().workers || !has_its_mask) {
    return drop::mismatch;
  }
  return std::nullopt;
}

}  // namespace

PanamaEngine::PanamaEngine(const PanamaConfig& config, const engine::SwitchIdentity& self,
                           PacketPool& pool, Lane lane)
    : self_(self),
      pool_(pool),
      lane_(lane),
      memory_(config.packet_memory),
      buffers_(pool, self.ports, (self.ports + std::uint64_t{2}) * config.packet_memory),
      adder_(pool),
      frames_(pool) {
  reconfigure(config);
}

bool PanamaEngine::reconfigure(const PanamaConfig& config) {
  if (config.packet_memory != memory_.packets()) {
    return false;
  }
  const auto install = [this](const TreeConfig& tree) {
    auto& installed = trees_.add(std::make_unique<Tree>(tree, self_, memory_.packets()));
    memory_.install(installed.grant, tree.job);
  };
  const auto remove = [this](Tree& tree) {
    buffers_.remove(tree);
    memory_.remove(tree.grant);
    engine::add_numbers(removed_, tree.counters, tree_counters);
  };
  trees_.become(config.trees, install, remove);
  return true;
}

void PanamaEngine::process(std::span<engine::Arrival> burst, Time now, engine::Actions& actions) {
  const Burst current{now, actions};
  const auto find = [this](const engine::Frame& frame) { return locate(trees_, frame); };
  const auto handle_one = [&](Tree* tree, engine::Arrival& arrival) {
    if (lane_ == Lane::off || tree == nullptr || !join(arrival, *tree, current)) {
      handle(arrival, tree, current);
    }
  };
  engine::handle_ahead(burst, find, prefetch_elements, handle_one);
}

// Most packets end here. Whatever else a packet may be, handle() finds out.
bool PanamaEngine::join(engine::Arrival& arrival, Tree& tree, const Burst& burst) {
  auto* const row = row_to_join(arrival, tree);
  if (row == nullptr) {
    return false;
  }
  Incoming in(tree, std::move(arrival.packet), arrival.frame, burst);
  if (refusal(in, {*row, row->position, true})) {
    arrival.packet = std::move(in.packet);
    return false;
  }
  take(in, *row);
  return true;
}

void PanamaEngine::handle(engine::Arrival& arrival, Tree* tree, const Burst& burst) {
  const auto view = wire::parse_panama(arrival.frame.payload);
  if (const auto reason = refusal(arrival, view, tree)) {
    return burst.actions.drop(std::move(arrival.packet), *reason);
  }
  Incoming in(*tree, std::move(arrival.packet), arrival.frame, burst);
  switch (in.header.kind) {
    case wire::PanamaKind::aggregation:
      return contribute(in);
    case wire::PanamaKind::result:
      return take_result(in);
    case wire::PanamaKind::inquiry:
      return take_inquiry(in);
  }
}

Time PanamaEngine::deadline() const {
  return next_look_;
}

// What waits for a rank that is late stays; the tree is active again when it goes on. Whoever lost
// a result has asked for it long since: a row that was complete before, and waits once more, waits
// for nobody. But where another tree has no room at all, one that stands still gives up what waits:
// whoever lives sends it again.
void PanamaEngine::expire(Time now, engine::Actions& /*actions*/) {
  if (now < next_look_) {
    return;
  }
  bool waits_again = false;
  for (const auto& tree : trees_.all()) {
    if (memory_.is_short() && now - tree->last_added >= silence_max) {
      cut(*tree);
    }
    if (now - tree->last_taken >= silence_max) {
      buffers_.evict_remade(*tree);
      buffers_.sweep_all(*tree);
      memory_.deactivate(tree->grant, tree->held_max());
      tree->is_cut = true;
      buffers_.forget(*tree);
    }
    waits_again |= !tree->remade.empty();
  }
  const bool look_again =
      memory_.active() > 0 || buffers_.kept() > 0 || waits_again || memory_.is_short();
  next_look_ = look_again ? now + look_interval : never;
}

void PanamaEngine::activate(Tree& tree, Time now) {
  memory_.activate(tree.grant);
  look_soon(now);
}

// Looks again soon. This goes on as long as a tree is active, or something is kept, also for one
// that is not.
void PanamaEngine::look_soon(Time now) {
  next_look_ = std::min(next_look_, now + look_interval);
}

// Gives up what waits in the tree, which then has to go on with an initial window.
void PanamaEngine::cut(Tree& tree) {
  buffers_.evict_waiting(tree);
  memory_.deactivate(tree.grant, tree.held_max());
  tree.is_cut = true;
}

}  // namespace tributary::panama
