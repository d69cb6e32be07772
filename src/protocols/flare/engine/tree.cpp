// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/engine/tree.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "engine/prefetch.h"
#include "protocols/flare/engine/aggregation.h"
#include "protocols/flare/engine/drop_reasons.h"
#include "reduce/handlers/mark.h"
#include "wire/key.h"

namespace tributary::flare {
namespace {

// Options are not ours to rewrite, so packets with any are not taken.
bool is_addressed_to(const engine::Frame& frame, const TreeConfig& tree) {
  return frame.ipv4->header_bytes() == sizeof(wire::Ipv4Header) &&
         frame.ipv4->destination == tree.group;
}

// What goes up comes from children, inquiries and refusals from the parent, and results from both.
bool comes_from(const engine::TreePorts& ports, PortIndex port, wire::FlareKind kind) {
  const bool is_child = ports.child_of(port) != engine::TreePorts::no_child;
  const bool goes_down = kind == wire::FlareKind::inquiry || kind == wire::FlareKind::refusal;
  return (is_child && !goes_down) ||
         (ports.is_parent(port) && kind != wire::FlareKind::contribution);
}

// Where the order of the additions is fixed, the owner has to see each contribution.
std::uint64_t order_of(const std::vector<PortIndex>& children) {
  std::uint64_t order = 0;
  for (const auto child : children) {
    order = wire::mix_key(order + 1, child);
  }
  return order;
}

std::unique_ptr<Partials> partials_of(const TreeConfig& config, unsigned cores) {
  const bool is_any = cores > 1 && config.aggregation() == Aggregation::single;
  return is_any ? std::make_unique<Partials>(config.window, cores) : nullptr;
}

}  // namespace

Tree::Tree(const TreeConfig& config, const engine::SwitchIdentity& self, WorkingMemory& memory)
    : config_(config),
      ports_(config, self.ports),
      order_(order_of(config.children)),
      headers_(headers_of(config, self)),
      memory_(memory),
      horizon_(config.window),
      slots_(wire::flare_slots(config.window)),
      taken_((slots_.size() + 63) / 64),
      buffers_per_slot_(config.aggregation() == Aggregation::tree ? config.children.size() : 1),
      buffers_(slots_.size() * buffers_per_slot_),
      partials_(partials_of(config, self.cores)),
      sparse_(config.sparse_window == 0 ? nullptr
                                        : std::make_unique<SparseBlocks>(config_, ports_, memory)) {
}

std::optional<DropReason> Tree::misplaced(const engine::Arrival& arrival,
                                          wire::FlareKind kind) const {
  const auto port = arrival.packet->ingress;
  if (!is_addressed_to(arrival.frame, config_)) {
    return drop::malformed;
  }
  if (!ports_.may_come(port, arrival.frame.ipv4->source) || !comes_from(ports_, port, kind)) {
    return drop::wrong_port;
  }
  return std::nullopt;
}

// A run that is silent gives way to any packet: this switch may have taken it up by one that came
// late.
std::optional<DropReason> Tree::change_run(std::uint32_t run, wire::FlareKind kind,
                                           std::uint64_t block, std::uint64_t window, Time now) {
  if (runs_.is_over(run)) {
    return drop::stale_run;
  }
  const bool is_silent = !last_heard_ || now - *last_heard_ >= run_silence;
  if (!is_silent) {
    if (kind != wire::FlareKind::contribution || runs_.was_before(run)) {
      return drop::stale_run;
    }
    if (block >= Horizon::first_blocks(window)) {
      return drop::window;
    }
  }
  let_go();
  runs_.begin(run);
  if (!is_silent) {
    begin_at_first_blocks();
  }
  return std::nullopt;
}

void Tree::begin_at_first_blocks() {
  horizon_.begin();
  if (sparse_ != nullptr) {
    sparse_->horizon().begin();
  }
}

std::optional<DropReason> Tree::count_stale(std::optional<DropReason> reason) {
  counters.stale += reason == drop::stale ? 1 : 0;
  return reason;
}

void Tree::rest() {
  let_go();
  for (auto& slot : slots_) {
    clear(slot);
  }
  runs_ = {};
  active_ = false;
}

// Anybody's packet may begin a run, and is to cost no more than what that ends.
void Tree::let_go() {
  for (std::size_t word = 0; word < taken_.size(); ++word) {
    for (auto bits = taken_[word]; bits != 0; bits &= bits - 1) {
      clear(slots_[word * 64 + static_cast<std::size_t>(std::countr_zero(bits))]);
    }
  }
  horizon_.forget();
  if (sparse_ != nullptr) {
    sparse_->clear_all();
  }
}

// There is a worker behind each child that is missing.
bool Tree::fits(const Slot& slot, const wire::FlareHeader& header, std::uint64_t children) const {
  unsigned contributions = header.contributions.value();
  auto left = ports_.all_children() & ~children;
  if (slot.is_of(header.block.value())) {
    if (!is_like(slot.header, header)) {
      return false;
    }
    contributions += slot.header.contributions.value();
    left &= ~slot.arrived;
  }
  return left == 0 ? contributions == config_.workers_below : contributions < config_.workers_below;
}

void Tree::begin(Slot& slot, const wire::FlareHeader& header, Time now) {
  start(slot, header, now);
  note_taken(slot);
  slot.state = Slot::State::gathering;
  gathering_high_water_ = std::max(gathering_high_water_, ++gathering_);
}

void Tree::start(Slot& slot, const wire::FlareHeader& header, Time now) {
  clear(slot);
  slot.block = header.block.value();
  slot.arrived = 0;
  slot.since = now;
  slot.header = header;
  slot.header.flags = wire::FlareHeader::current_version;
  slot.header.contributions = std::uint16_t{0};
  slot.header.fingerprint = std::uint64_t{0};
}

bool Tree::add(Slot& slot, const wire::FlareHeader& header, std::uint64_t children,
               PacketPtr& packet) {
  // Tree aggregation may combine later: once the last has come, it has done so as often in all. The
  // mark is read first: a handler that had one is not taken away before this core is done with the
  // packet, and what is combined without one would be nobody's.
  const auto mark = slot.arrived == 0 ? 0 : reduce::mark_of(header.op);
  if (mark == 0 && slot.arrived != 0 && wire::is_handler(header.op)) {
    return false;
  }
  if (!add_up(slot, children, packet)) {
    return false;
  }
  auto& sums = slot.header;
  sums.contributions =
      static_cast<std::uint16_t>(sums.contributions.value() + header.contributions.value());
  sums.fingerprint = sums.fingerprint.value() + header.fingerprint.value() + mark;
  if (header.asks()) {  // whoever asks wants to be answered above as well
    sums.flags |= wire::FlareHeader::retransmission_bit;
  }
  slot.arrived |= children;
  return true;
}

bool Tree::add_up(Slot& slot, std::uint64_t children, PacketPtr& packet) {
  const Shape shape(slot.header);
  const auto buffers = buffers_of(slot);
  if (config_.aggregation() == Aggregation::tree) {
    const auto child = static_cast<std::size_t>(std::countr_zero(children));
    return TreeAggregation(buffers, shape, memory_).add(child, slot.arrived, packet);
  }
  return SingleBuffer(buffers.front(), shape, memory_).add(packet);
}

PacketPtr Tree::take_sum(Slot& slot) {
  note_sum();
  auto sum = buffers_of(slot).front().take(Shape(slot.header), memory_);
  end_gathering(slot);
  return sum;
}

void Tree::end_gathering(Slot& slot) {
  if (slot.state == Slot::State::partial) {
    partials_->end(number_of(slot));
  } else {
    --gathering_;
  }
  slot.state = Slot::State::free;
}

void Tree::begin_partial(Slot& slot, const wire::FlareHeader& header, Time now) {
  start(slot, header, now);
  slot.state = Slot::State::partial;
  partials_->begin(number_of(slot));
}

PacketPtr Tree::take_partial(Slot& slot) {
  auto sum = buffers_of(slot).front().take(Shape(slot.header), memory_);
  end_gathering(slot);
  slot.state = Slot::State::passed;
  return sum;
}

void Tree::pass(Slot& slot, const wire::FlareHeader& header) {
  clear(slot);
  slot.state = Slot::State::passed;
  slot.block = header.block.value();
  slot.header.run = header.run;
}

Slot* Tree::oldest_partial() {
  const auto oldest = partials_ == nullptr ? std::nullopt : partials_->oldest();
  return oldest ? &slots_[*oldest] : nullptr;
}

Packet& Tree::keep(Slot& slot, Slot::State state, PacketPtr elements, unsigned frames) {
  auto& body = *elements.release();
  memory_.pool().share(body, frames + 1);
  memory_.take(1);
  slot.kept = engine::SharedElements(memory_.pool(), body);
  note_taken(slot);
  slot.state = state;
  if (state == Slot::State::done) {
    horizon_.note_result(slot.block);
  }
  return body;
}

void Tree::clear(Slot& slot) {
  if (slot.adds_up()) {
    for (auto& buffer : buffers_of(slot)) {
      buffer.clear(memory_);
    }
    end_gathering(slot);
  }
  if (slot.kept) {
    slot.kept.reset();
    memory_.give_back(1);
  }
  slot.refused.reset();
  slot.state = Slot::State::free;
  taken_[number_of(slot) / 64] &= ~(std::uint64_t{1} << number_of(slot) % 64);
}

void Tree::prefetch(const Slot& slot) const {
  engine::prefetch(&slot, sizeof slot);
  __builtin_prefetch(&buffers_[first_buffer(slot)]);
}

void Tree::prefetch_elements(const Slot& slot, std::size_t bytes) const {
  buffers_[first_buffer(slot)].prefetch(bytes);
}

}  // namespace tributary::flare
