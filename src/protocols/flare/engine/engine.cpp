// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/engine/engine.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "engine/prefetch.h"
#include "protocols/flare/engine/drop_reasons.h"
#include "protocols/flare/engine/lane.h"

namespace tributary::flare {
FlareEngine::FlareEngine(const FlareConfig& config, const engine::SwitchIdentity& self,
                         PacketPool& pool, Lane lane)
    : self_(self), lane_(lane), memory_(pool), frames_(pool), sparse_(frames_, memory_) {
  reconfigure(config);
}

bool FlareEngine::reconfigure(const FlareConfig& config) {
  const auto install = [this](const TreeConfig& tree) {
    trees_.add(std::make_unique<Tree>(tree, self_, memory_));
  };
  const auto remove = [this](Tree& tree) {
    tree.rest();
    engine::add_numbers(removed_, tree.counters, tree_counters);
  };
  trees_.become(config.trees, install, remove);
  working_memory_ = config.working_memory;
  return true;
}

void FlareEngine::process(std::span<engine::Arrival> burst, Time now, engine::Actions& actions) {
  const Burst current{now, actions};
  const auto find = [this](const engine::Frame& frame) { return locate(frame); };
  const auto fetch = [](const Place& place, const engine::Frame& frame) {
    prefetch_elements(place, frame);
  };
  const auto handle_one = [&](const Place& place, engine::Arrival& arrival) {
    handle(arrival, place, current);
  };
  engine::handle_ahead(burst, find, fetch, handle_one);
}

FlareEngine::Place FlareEngine::locate(const engine::Frame& frame) const {
  const auto* header = wire::Cursor(frame.payload).take<wire::FlareHeader>();
  auto* tree = header == nullptr ? nullptr : trees_.find(header->job.value());
  if (tree == nullptr) {
    return {};
  }
  if (wire::is_flare_sparse(frame.payload)) {
    sparse_.prefetch(*tree, header->block.value());
    return {tree, nullptr};
  }
  auto& slot = tree->slot(header->block.value());
  tree->prefetch(slot);
  return {tree, &slot};
}

// The slot tells where the elements are.
void FlareEngine::prefetch_elements(const Place& place, const engine::Frame& frame) {
  if (place.slot != nullptr && place.slot->adds_up()) {
    place.tree->prefetch_elements(*place.slot, frame.payload.size());
  }
}

void FlareEngine::handle(engine::Arrival& arrival, const Place& place, const Burst& burst) {
  if (wire::is_flare_sparse(arrival.frame.payload)) {
    sparse_.handle(arrival, place.tree, burst);
  } else if (lane_ == Lane::off || place.slot == nullptr || !join(arrival, place, burst)) {
    handle_dense(arrival, place, burst);
  }
  if (place.tree != nullptr && place.tree->is_active()) {
    look_soon(burst.now);
  }
}

// Most packets end here. Whatever else a packet may be, handle_dense() finds out.
bool FlareEngine::join(engine::Arrival& arrival, const Place& place, const Burst& burst) {
  auto& tree = *place.tree;
  auto& slot = *place.slot;
  const auto& header = *wire::Cursor(arrival.frame.payload).take<wire::FlareHeader>();
  const auto ingress = arrival.packet->ingress;
  if (slot.state != Slot::State::gathering || !joins(arrival, tree, slot)) {
    return false;
  }
  const auto children = std::uint64_t{1} << tree.ports().child_of(ingress);
  if (!tree.fits(slot, header, children)) {
    return false;
  }
  tree.hear(burst.now);
  tree.bearing = Bearing(arrival);
  Incoming in{{tree, slot, ingress, burst},
              std::move(arrival.packet),
              arrival.frame,
              header,
              arrival.frame.payload.subspan(sizeof header)};
  accept(in, children);
  return true;
}

void FlareEngine::handle_dense(engine::Arrival& arrival, const Place& place, const Burst& burst) {
  const auto view = wire::parse_flare(arrival.frame.payload);
  auto reason = refusal(arrival, view, place.tree);
  if (!reason) {
    reason = is_of_tree(*view.header, place.tree->config())
                 ? place.tree->admit(*view.header, *place.slot, burst.now)
                 : drop::mismatch;
  }
  if (reason) {
    return burst.actions.drop(std::move(arrival.packet), *reason);
  }
  place.tree->bearing = Bearing(arrival);
  Incoming in{{*place.tree, *place.slot, arrival.packet->ingress, burst},
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
    case wire::FlareKind::refusal:
      return take_refusal(in);
  }
}

// Looks for silent jobs soon, which goes on as long as a tree is active.
void FlareEngine::look_soon(Time now) {
  next_look_ = std::min(next_look_, now + look_interval);
}

void FlareEngine::expire(Time now, engine::Actions& actions) {
  hand_over_overdue(now, actions);
  if (now < next_look_) {
    return;
  }
  next_look_ = never;
  for (const auto& tree : trees_.all()) {
    if (!tree->is_active()) {
      continue;
    }
    if (now - *tree->last_heard() >= silence_max) {
      tree->rest();
    } else {
      look_soon(now);
    }
  }
}

}  // namespace tributary::flare
