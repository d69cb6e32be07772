// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/engine/sparse_blocks.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "engine/prefetch.h"

namespace tributary::flare {
namespace {

// Returns what all shards of a block have in common; the rest is that of an empty one.
wire::FlareSparseHeader common_part_of(const wire::FlareSparseHeader& header) {
  wire::FlareSparseHeader common;
  common.job = header.job;
  common.run = header.run;
  common.block = header.block;
  common.flags = wire::FlareSparseHeader::sparse_bit | wire::FlareSparseHeader::current_version;
  common.element_type = header.element_type;
  common.workers = header.workers;
  common.window = header.window;
  common.span = header.span;
  common.full = header.full;
  return common;
}

void let_go(KeptShard& shard, WorkingMemory& memory) {
  if (shard.elements) {
    shard.elements.reset();
    memory.give_back(1);
  }
}

}  // namespace

SparseBlocks::SparseBlocks(const TreeConfig& config, const engine::TreePorts& ports,
                           WorkingMemory& memory)
    : ports_(ports),
      memory_(memory),
      workers_below_(config.workers_below),
      is_root_(!config.parent),
      horizon_(config.sparse_window),
      slots_(wire::flare_slots(config.sparse_window)),
      taken_((slots_.size() + 63) / 64),
      children_(slots_.size() * ports.children()) {}

// There is a worker behind each child whose ranks are not counted yet.
bool SparseBlocks::fits(const SparseSlot& slot, bool anew, const wire::FlareSparseHeader& header,
                        std::size_t child) const {
  const auto others = ports_.all_children() & ~(std::uint64_t{1} << child);
  const auto left = anew ? others : others & ~slot.counted;
  const auto ranks = header.contributions.value() + (anew ? 0u : slot.contributions);
  return left == 0 ? ranks == workers_below_ : ranks < workers_below_;
}

// Two sums never have the same edition, even if this switch was started in between.
std::uint64_t SparseBlocks::new_edition(Time now) {
  const auto clock = static_cast<std::uint64_t>(now.time_since_epoch().count());
  edition_ = std::max(edition_ + 1, clock);
  return edition_;
}

void SparseBlocks::begin(SparseSlot& slot, const wire::FlareSparseHeader& header, Time now) {
  clear(slot);
  slot.state = SparseSlot::State::gathering;
  taken_[index_of(slot) / 64] |= std::uint64_t{1} << index_of(slot) % 64;
  slot.block = header.block.value();
  slot.asked = false;
  slot.since = now;
  slot.header = common_part_of(header);
  gathering_high_water_ = std::max(gathering_high_water_, ++gathering_);
  forget_contributions(slot);
  slot.edition = new_edition(now);
}

void SparseBlocks::begin_anew(SparseSlot& slot, Time now) {
  let_go_of_sum(slot);
  forget_contributions(slot);
  slot.edition = new_edition(now);
}

void SparseBlocks::forget_contributions(SparseSlot& slot) {
  slot.arrived = slot.counted = 0;
  slot.contributions = 0;
  slot.fingerprint = slot.pending = 0;
  std::ranges::fill(children_of(slot), SparseChild{});
  slot.sum.begin(slot.header, is_root_);
}

bool SparseBlocks::add(SparseSlot& slot, std::size_t child, const wire::FlareSparseHeader& header,
                       wire::Bytes payload, SparseShards& out) {
  if (!slot.sum.take(header, payload, memory_, out)) {
    return false;
  }
  auto& from = children_of(slot)[child];
  const auto bit = std::uint64_t{1} << child;
  from.note(header);
  if (header.is_last()) {
    slot.counted |= bit;
    slot.contributions += header.contributions.value();
  }
  if (from.is_complete()) {
    slot.arrived |= bit;
  }
  slot.fingerprint += header.fingerprint.value();
  slot.pending += header.fingerprint.value();
  slot.asked = slot.asked || header.asks();
  return true;
}

void SparseBlocks::take_sum(SparseSlot& slot, SparseShards& out) {
  slot.sum.finish(memory_, out);
  end_gathering(slot);
}

void SparseBlocks::end_gathering(SparseSlot& slot) {
  --gathering_;
  slot.state = SparseSlot::State::summed;
}

Packet& SparseBlocks::keep(KeptShard& place, const wire::FlareSparseHeader& header,
                           PacketPtr payload, unsigned frames) {
  auto& body = *payload.release();
  memory_.pool().share(body, frames + 1);
  place.header = header;
  place.elements = engine::SharedElements(memory_.pool(), body);
  return body;
}

void SparseBlocks::finish(SparseSlot& slot) {
  let_go_of_work(slot);
  slot.state = SparseSlot::State::done;
  horizon_.note_result(slot.block);
}

void SparseBlocks::let_go_of_work(SparseSlot& slot) {
  if (slot.state == SparseSlot::State::gathering) {
    end_gathering(slot);
  }
  let_go_of_sum(slot);
}

void SparseBlocks::let_go_of_sum(SparseSlot& slot) {
  slot.sum.clear(memory_);
  while (slot.sent > 0) {
    let_go(slot.up[--slot.sent], memory_);
  }
}

void SparseBlocks::let_go_of_result(SparseSlot& slot) {
  for (std::size_t i = 0; slot.result_shards != 0; ++i, slot.result_shards >>= 1) {
    let_go(slot.result[i], memory_);
  }
}

void SparseBlocks::clear(SparseSlot& slot) {
  if (slot.state == SparseSlot::State::free) {
    return;
  }
  let_go_of_work(slot);
  let_go_of_result(slot);
  slot.state = SparseSlot::State::free;
  taken_[index_of(slot) / 64] &= ~(std::uint64_t{1} << index_of(slot) % 64);
}

// A run that is new ends what there was. Slots are large, and most of them free: looking at each
// would cost whoever shares the core a millisecond.
void SparseBlocks::clear_all() {
  horizon_.forget();
  for (std::size_t word = 0; word < taken_.size(); ++word) {
    for (auto bits = taken_[word]; bits != 0; bits &= bits - 1) {
      clear(slots_[word * 64 + static_cast<std::size_t>(std::countr_zero(bits))]);
    }
  }
}

void SparseBlocks::prefetch(const SparseSlot& slot) const {
  constexpr std::size_t needed_first = 256;
  engine::prefetch(&slot, needed_first);
}

}  // namespace tributary::flare
