// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/engine/engine.h"

#include <algorithm>
#include <utility>

#include "engine/prefetch.h"
#include "protocols/panama/engine/admission.h"
#include "protocols/panama/engine/drop_reasons.h"
#include "protocols/panama/engine/repetition.h"

namespace tributary::panama {
namespace {

// Options are not ours to rewrite.
bool is_addressed_to(const engine::Frame& frame, const TreeConfig& tree) {
  return frame.ipv4->header_bytes() == sizeof(wire::Ipv4Header) &&
         frame.ipv4->destination == tree.group;
}

// Why a packet is none of the tree's; no value if it is.
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
  if (view.header->workers.value() != tree->config().workers) {
    return drop::mismatch;
  }
  return std::nullopt;
}

}  // namespace

PanamaEngine::PanamaEngine(const PanamaConfig& config, const engine::SwitchIdentity& self,
                           PacketPool& pool, Lane lane)
    : config_(config),
      self_(self),
      pool_(pool),
      lane_(lane),
      memory_(config.packet_memory),
      buffers_(pool, self.ports, (self.ports + std::uint64_t{2}) * config.packet_memory),
      adder_(pool),
      frames_(pool) {
  for (const auto& tree : config.trees) {
    install(tree);
  }
}

void PanamaEngine::install(const TreeConfig& tree) {
  auto& installed = trees_.add(std::make_unique<Tree>(tree, self_, config_.packet_memory));
  memory_.install(installed.grant);
}

void PanamaEngine::remove(Tree& tree) {
  buffers_.remove(tree);
  memory_.remove(tree.grant);
  engine::add_counters(removed_, tree.counters, tree_counters);
}

bool PanamaEngine::reconfigure(const PanamaConfig& config) {
  if (config.packet_memory != config_.packet_memory) {
    return false;
  }
  trees_.remove_if([&](Tree& tree) {
    const bool leaves =
        std::find(config.trees.begin(), config.trees.end(), tree.config()) == config.trees.end();
    if (leaves) {
      remove(tree);
    }
    return leaves;
  });
  for (const auto& tree : config.trees) {
    if (trees_.find(tree.job, tree.tree) == nullptr) {
      install(tree);
    }
  }
  config_ = config;
  return true;
}

void PanamaEngine::process(std::span<engine::Arrival> burst, Time now, engine::Actions& actions) {
  const Burst current{now, actions};
  const auto locate = [this](const engine::Frame& frame) {
    auto* tree = trees_.find(frame);
    prefetch_row(tree, frame);
    return tree;
  };
  const auto fetch = [](Tree* tree, const engine::Frame& frame) { prefetch_elements(tree, frame); };
  const auto handle_one = [&](Tree* tree, engine::Arrival& arrival) {
    if (lane_ == Lane::off || tree == nullptr || !join(arrival, *tree, current)) {
      handle(arrival, tree, current);
    }
  };
  engine::handle_ahead(burst, locate, fetch, handle_one);
}

void PanamaEngine::prefetch_row(const Tree* tree, const engine::Frame& frame) {
  if (tree != nullptr) {
    const auto* header = wire::Cursor(frame.payload).take<wire::PanamaHeader>();
    tree->prefetch(round_of(*header), header->vid.value());
  }
}

// The row tells where the elements are.
void PanamaEngine::prefetch_elements(Tree* tree, const engine::Frame& frame) {
  if (tree == nullptr) {
    return;
  }
  const auto* header = wire::Cursor(frame.payload).take<wire::PanamaHeader>();
  const auto* row = tree->find(round_of(*header), header->vid.value());
  if (row == nullptr || row->state != Row::State::gathering) {
    return;
  }
  const auto bytes = frame.payload.size();
  if (row->accumulator != nullptr) {
    engine::prefetch(row->elements, bytes);
  }
  const auto missing = tree->all_children() & ~row->arrived;
  if ((missing & (missing - 1)) != 0) {  // more than this one
    return;
  }
  for (std::uint8_t child = row->next; child < tree->children(); ++child) {
    if (const auto& packet = tree->waiting(*row, child)) {
      engine::prefetch(elements_in(*packet), bytes);
    }
  }
}

// Whether the packet is a sound contribution to a row that gathers: then it is taken. Most are, and
// repeat what the first one said and handle() checked: only what is particular to this one is
// checked here. Whatever else it may be, handle() finds out.
bool PanamaEngine::join(engine::Arrival& arrival, Tree& tree, const Burst& burst) {
  const auto& frame = arrival.frame;
  auto& header = *reinterpret_cast<wire::PanamaHeader*>(frame.payload.data());
  const auto position = tree.epochs.first() + header.vid.value();
  auto& row = tree.row(position);
  if (row.state != Row::State::gathering || row.position != position ||
      !repeats(header, row.header) || header.retransmission() ||
      !tree.epochs.is_current(round_of(header)) || tree.swept < tree.epochs.first()) {
    return false;
  }
  const auto payload = frame.payload.subspan(sizeof header);
  const auto ingress = arrival.packet->ingress;
  const auto child = tree.child_of(ingress);
  const auto contributions = header.contributions.value();
  if (child == Tree::no_child || row.has(child) || contributions == 0 ||
      contributions > header.workers.value() || payload.size() != payload_bytes(header) ||
      !is_addressed_to(frame, tree.config()) || !tree.may_come(ingress, frame.ipv4->source) ||
      !wire::is_intact(header, payload)) {
    return false;
  }
  Incoming in{{tree, ingress, burst}, std::move(arrival.packet), frame, header, payload, child};
  if (refusal(in, {row, position, true})) {
    arrival.packet = std::move(in.packet);
    return false;
  }
  accept(in, row);
  return true;
}

void PanamaEngine::handle(engine::Arrival& arrival, Tree* tree, const Burst& burst) {
  const auto view = wire::parse_panama(arrival.frame.payload);
  if (const auto reason = refusal(arrival, view, tree)) {
    return burst.actions.drop(std::move(arrival.packet), *reason);
  }
  const auto port = arrival.packet->ingress;
  Incoming in{{*tree, port, burst}, std::move(arrival.packet), arrival.frame, *view.header,
              view.payload,         tree->child_of(port)};
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

// What waits for a rank that is late stays; the tree is active again when it goes on. Who lost a
// result has asked for it long since: a row that was complete before, and waits once more, waits
// for nobody. But where another tree has no room at all, one that stands still gives up what waits:
// who lives sends it again.
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
      memory_.deactivate(tree->grant, tree->held_max());
      tree->is_cut = true;
      buffers_.forget(*tree);
    }
    waits_again |= !tree->remade_rows.empty();
  }
  const bool look_again =
      memory_.active() > 0 || buffers_.kept() > 0 || waits_again || memory_.is_short();
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

// It has to go on with an initial window.
void PanamaEngine::cut(Tree& tree) {
  buffers_.evict_waiting(tree);
  memory_.deactivate(tree.grant, tree.held_max());
  tree.is_cut = true;
}

}  // namespace tributary::panama
