// SPDX-License-Identifier: BSD-3-Clause
#include "packet/pool.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace tributary {

PacketPtr PacketPool::allocate() {
  if (free_ == nullptr) {
    std::array<Packet*, batch> fetched;
    const auto count = fetch(fetched.data(), fetched.size());
    for (std::size_t i = 0; i < count; ++i) {
      release(fetched[i]);
    }
    if (free_ == nullptr) {
      return nullptr;
    }
  }
  Packet* packet = free_;
  free_ = packet->next;
  --free_count_;
  packet->next = nullptr;
  packet->pool = this;
  packet->offset = std::min(default_headroom, packet->capacity);
  packet->length = 0;
  packet->ingress = no_port;
  packet->egress = no_port;
  packet->driver_tag = 0;
  return PacketPtr(packet);
}

PacketPtr PacketPool::clone(const Packet& original) {
  auto copy = allocate();
  if (!copy || copy->capacity < original.offset + original.length) {
    return nullptr;
  }
  copy->offset = original.offset;
  copy->length = original.length;
  copy->ingress = original.ingress;
  copy->egress = original.egress;
  std::memcpy(copy->data(), original.data(), original.length);
  return copy;
}

void PacketPool::give_back(std::size_t count) noexcept {
  std::array<Packet*, batch> returned;
  while (count > 0 && free_ != nullptr) {
    std::size_t taken = 0;
    while (taken < returned.size() && taken < count && free_ != nullptr) {
      returned[taken++] = free_;
      free_ = free_->next;
    }
    free_count_ -= taken;
    count -= taken;
    store(returned.data(), taken);
  }
}

HeapPacketPool::HeapPacketPool(std::size_t packets, std::uint32_t frame_bytes_max)
    : packets_(packets),
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
