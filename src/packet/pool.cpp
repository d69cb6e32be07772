// SPDX-License-Identifier: BSD-3-Clause
#include "packet/pool.h"

#include <algorithm>
#include <cstring>

namespace tributary {

// Fetches a batch from the store; returns false if it is exhausted.
bool PacketPool::restock() {
  free_count_ = fetch(free_.data(), batch);
  return free_count_ > 0;
}

// Gives back those that were released last: the store hands out first what is still in the cache.
void PacketPool::give_back(std::size_t count) noexcept {
  free_count_ -= count;
  store(&free_[free_count_], count);
}

bool make_whole(Packet& packet) noexcept {
  if (packet.body == nullptr) {
    return true;
  }
  auto& body = *packet.body;
  if (packet.tailroom() < body.length) {
    return false;
  }
  std::memcpy(packet.data() + packet.length, body.data(), body.length);
  packet.length += body.length;
  packet.body = nullptr;
  packet.pool->let_go(body);
  return true;
}

HeapPacketPool::HeapPacketPool(std::size_t packets, std::uint32_t frame_bytes_max)
    : packets_(packets),
      holders_(packets),
      storage_(std::make_unique_for_overwrite<std::byte[]>(packets *
                                                           (frame_bytes_max + default_headroom))) {
  const std::uint32_t capacity = frame_bytes_max + default_headroom;
  stock_.reserve(packets);
  for (std::size_t i = 0; i < packets; ++i) {
    packets_[i] = Packet{};
    packets_[i].pool = this;
    packets_[i].buffer = storage_.get() + i * capacity;
    packets_[i].capacity = capacity;
    stock_.push_back(&packets_[i]);
  }
}

void HeapPacketPool::let_go(Packet& body) noexcept {
  if (--holders_of(body) == 0) {
    release(&body);
  }
}

HeapPacketPool::~HeapPacketPool() {
  give_back_all();
}

std::size_t HeapPacketPool::outstanding() noexcept {
  give_back_all();
  return packets_.size() - stock_.size();
}

std::size_t HeapPacketPool::fetch(Packet** out, std::size_t count) {
  const auto taken = std::min(count, stock_.size());
  std::copy(stock_.end() - static_cast<std::ptrdiff_t>(taken), stock_.end(), out);
  stock_.resize(stock_.size() - taken);
  return taken;
}

void HeapPacketPool::store(Packet** packets, std::size_t count) noexcept {
  stock_.insert(stock_.end(), packets, packets + count);
}

}  // namespace tributary
