// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/impairment.h"

#include <algorithm>
#include <utility>

#include "packet/pool.h"
#include "wire/key.h"

namespace tributary::forwarding {

void Impairment::configure(const ImpairmentConfig& config) {
  config_ = config;
  active_ = config.any() || !held_.empty() || !delayed_.empty();
  drawn_ = 0;
  if (config.any()) {
    held_.reserve(64);
    delayed_.reserve(1024);
  }
}

std::uint64_t Impairment::draw() {
  return wire::mix_key(wire::mix_key(++drawn_, config_.seed), 0x9e3779b97f4a7c15ULL);
}

bool Impairment::happens(double probability) {
  if (probability <= 0) {
    return false;
  }
  return static_cast<double>(draw() >> 11) * 0x1p-53 < probability;
}

void Impairment::corrupt(Packet& packet) {
  if (packet.length == 0) {
    return;
  }
  const auto bit = draw() % (std::uint64_t{packet.length} * 8);
  packet.data()[bit / 8] ^= std::byte{1} << (bit % 8);
  ++counters_.corrupted;
}

void Impairment::pass(PacketPtr packet, Time now, PacketList& ready) {
  if (happens(config_.loss)) {
    ++counters_.lost;
    return;
  }
  if (happens(config_.duplicate)) {
    if (auto copy = packet->pool->clone(*packet)) {
      ++counters_.duplicated;
      pass_copy(std::move(copy), now, ready);
    }
  }
  pass_copy(std::move(packet), now, ready);
}

void Impairment::pass_copy(PacketPtr packet, Time now, PacketList& ready) {
  if (happens(config_.corrupt)) {
    corrupt(*packet);
  }
  if (config_.reorder_gap > 0 && happens(config_.reorder)) {
    ++counters_.reordered;
    held_.push_back({std::move(packet), config_.reorder_gap, now + hold_max});
    return;
  }
  deliver(std::move(packet), now, ready);
  overtake(now, ready);
}

void Impairment::overtake(Time now, PacketList& ready) {
  for (auto& held : held_) {
    if (--held.overtakers == 0) {
      deliver(std::move(held.packet), now, ready);
    }
  }
  std::erase_if(held_, [](const Held& held) { return !held.packet; });
}

bool Impairment::later(const Delayed& a, const Delayed& b) {
  return std::pair(a.due, a.order) > std::pair(b.due, b.order);
}

void Impairment::deliver(PacketPtr packet, Time now, PacketList& ready) {
  auto delay = config_.delay;
  if (config_.jitter > Duration{}) {
    const auto span = static_cast<std::uint64_t>(config_.jitter.count()) + 1;
    delay += Duration(static_cast<Duration::rep>(draw() % span));
  }
  if (delay <= Duration{}) {
    ready.push(std::move(packet));
    return;
  }
  ++counters_.delayed;
  delayed_.push_back({now + delay, order_++, std::move(packet)});
  std::push_heap(delayed_.begin(), delayed_.end(), later);
}

void Impairment::poll(Time now, PacketList& ready) {
  for (auto& held : held_) {
    if (held.due <= now) {
      deliver(std::move(held.packet), now, ready);
    }
  }
  std::erase_if(held_, [](const Held& held) { return !held.packet; });
  while (!delayed_.empty() && delayed_.front().due <= now) {
    std::pop_heap(delayed_.begin(), delayed_.end(), later);
    ready.push(std::move(delayed_.back().packet));
    delayed_.pop_back();
  }
  active_ = config_.any() || !held_.empty() || !delayed_.empty();
}

Time Impairment::first_due() const {
  auto earliest = delayed_.empty() ? never : delayed_.front().due;
  for (const auto& held : held_) {
    earliest = std::min(earliest, held.due);
  }
  return earliest;
}

void Impairment::clear() {
  held_.clear();
  delayed_.clear();
}

}  // namespace tributary::forwarding
