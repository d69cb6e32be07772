// SPDX-License-Identifier: BSD-3-Clause
#include "switch/aggregation.h"

#include <algorithm>
#include <utility>

#include "forwarding/route_table.h"

namespace tributary::switching {
namespace {

// Says whether all hosts on the prefix of this address have addresses that embed.
bool embeds(const SwitchConfig& config, const forwarding::InterfaceAddress6& own) {
  return own.length >= wire::EmbeddingPrefix::length &&
         config.embedding_prefix == wire::EmbeddingPrefix::of(own.address);
}

std::vector<engine::Segment> segments_of(const SwitchConfig& config) {
  std::vector<engine::Segment> segments;
  for (const auto& port : config.ports) {
    if (port.address) {
      const auto mask = forwarding::prefix_mask(port.address->length);
      segments.push_back({port.address->address.value() & mask, mask});
    }
    if (port.address6 && embeds(config, *port.address6)) {
      const auto own = wire::EmbeddingPrefix::embedded_in(port.address6->address);
      const auto mask =
          forwarding::prefix_mask(port.address6->length - wire::EmbeddingPrefix::length);
      segments.push_back({own.value() & mask, mask, true});
    }
  }
  return segments;
}

std::vector<bool> bridged_of(const Interfaces& interfaces) {
  std::vector<bool> bridged(interfaces.count());
  for (const auto port : interfaces.bridged_ports()) {
    bridged[port] = true;
  }
  return bridged;
}

}  // namespace

Aggregation::Aggregation(const SwitchConfig& config, const Interfaces& interfaces, PacketPool& pool,
                         unsigned cores)
    : self_{config.id,           config.address, interfaces.bridge_mac(), interfaces.count(),
            segments_of(config), cores,          bridged_of(interfaces)},
      pool_(pool) {
  reconfigure(config);
}

void Aggregation::process(Time now, engine::Actions& actions) {
  for (auto& slot : slots_) {
    if (!slot.burst.empty()) {
      slot.engine->process(slot.burst, now, actions);
      slot.burst.clear();
    }
    if (!slot.elsewhere.empty()) {
      slot.engine->gather(slot.elsewhere, now, actions);
      slot.elsewhere.clear();
    }
  }
}

void Aggregation::expire(Time now, engine::Actions& actions) {
  for (auto& slot : slots_) {
    if (slot.engine->deadline() <= now) {
      slot.engine->expire(now, actions);
    }
  }
}

// An engine whose settings cannot change while it holds blocks is made anew.
void Aggregation::reconfigure(const SwitchConfig& config) {
  std::vector<Slot> next;
  const auto kinds = protocols::engines();
  next.reserve(kinds.size());  // slots must not move: by_claim_ points to them
  by_claim_ = {};
  for (std::size_t row = 0; row < kinds.size(); ++row) {
    const auto& settings = config.protocols.of(row);
    if (!settings.has_value()) {
      continue;
    }
    const auto* kind = kinds[row];
    const auto old = std::find_if(slots_.begin(), slots_.end(),
                                  [kind](const Slot& slot) { return slot.kind == kind; });
    if (old != slots_.end() && kind->reconfigure(*old->engine, settings)) {
      next.push_back(std::move(*old));
    } else {
      next.push_back({kind, kind->make(settings, self_, pool_), {}});
      next.back().burst.reserve(burst_reserve);
      next.back().elsewhere.reserve(self_.cores > 1 ? burst_reserve : 0);
    }
    by_claim_[row + 1] = &next.back();
  }
  slots_ = std::move(next);
  classifier_ = Classifier(config.protocols);
}

Time Aggregation::deadline() const {
  auto earliest = never;
  for (const auto& slot : slots_) {
    earliest = std::min(earliest, slot.engine->deadline());
  }
  return earliest;
}

std::vector<EngineView> Aggregation::views() const {
  std::vector<EngineView> views;
  for (const auto& slot : slots_) {
    views.push_back({slot.kind->protocol.name, slot.engine.get()});
  }
  return views;
}

}  // namespace tributary::switching
