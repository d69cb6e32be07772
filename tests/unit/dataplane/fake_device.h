// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include <rte_ethdev.h>

#include "dataplane/mbuf_pool.h"

namespace tributary::dataplane {

// Packets in mbufs on the heap, without the EAL.
class HeapMbufPool final : public PacketPool {
 public:
  explicit HeapMbufPool(std::size_t packets) : cells_(packets) {
    for (auto& cell : cells_) {
      auto* mbuf = new (cell.head.data()) rte_mbuf{};
      mbuf->buf_addr = cell.frame.data();
      mbuf->nb_segs = 1;
      auto* packet = new (packet_of(mbuf)) Packet{};
      packet->buffer = cell.frame.data();
      packet->capacity = static_cast<std::uint32_t>(cell.frame.size());
      stock_.push_back(packet);
    }
  }
  ~HeapMbufPool() override { give_back_all(); }

  std::size_t outstanding() {
    give_back_all();
    return cells_.size() - stock_.size();
  }
  void share(Packet& /*body*/, unsigned /*holders*/) noexcept override {}
  void let_go(Packet& /*body*/) noexcept override {}

 private:
  struct alignas(RTE_CACHE_LINE_SIZE) Cell {
    std::array<std::byte, sizeof(rte_mbuf) + sizeof(Packet)> head;
    std::array<std::byte, 2048> frame;
  };

  std::size_t fetch(Packet** out, std::size_t count) override {
    count = std::min(count, stock_.size());
    std::copy(stock_.end() - static_cast<std::ptrdiff_t>(count), stock_.end(), out);
    stock_.resize(stock_.size() - count);
    return count;
  }
  void store(Packet** packets, std::size_t count) noexcept override {
    stock_.insert(stock_.end(), packets, packets + count);
  }

  std::vector<Cell> cells_;
  std::vector<Packet*> stock_;
};

// DPDK's inline functions call it for the port of this number, in place of a driver. It hands in
// `arriving`, and takes `takes` frames.
class FakeDevice {
 public:
  static constexpr std::uint16_t port = 3;

  FakeDevice() {
    auto& ops = rte_eth_fp_ops[port];
    before_ = ops;
    ops.rx_pkt_burst = &receive;
    ops.tx_pkt_burst = &transmit;
    ops.rxq = {&self_, &no_callback_};
    ops.txq = {&self_, &no_callback_};
  }
  ~FakeDevice() { rte_eth_fp_ops[port] = before_; }
  FakeDevice(const FakeDevice&) = delete;
  FakeDevice& operator=(const FakeDevice&) = delete;

  std::vector<PacketPtr> arriving;
  std::size_t takes = SIZE_MAX;     // number of frames that it still takes
  std::vector<PacketPtr> sent;      // in order
  std::vector<std::size_t> bursts;  // sizes of the bursts that it was offered

 private:
  static std::uint16_t receive(void* queue, rte_mbuf** mbufs, std::uint16_t count) {
    auto& arriving = static_cast<FakeDevice*>(queue)->arriving;
    count = static_cast<std::uint16_t>(std::min<std::size_t>(count, arriving.size()));
    for (std::uint16_t i = 0; i < count; ++i) {
      Packet* packet = arriving[i].release();
      mbufs[i] = mbuf_of(packet);
      mbufs[i]->data_off = packet->offset;
      mbufs[i]->data_len = static_cast<std::uint16_t>(packet->length);
    }
    arriving.erase(arriving.begin(), arriving.begin() + count);
    return count;
  }
  static std::uint16_t transmit(void* queue, rte_mbuf** mbufs, std::uint16_t count) {
    auto& device = *static_cast<FakeDevice*>(queue);
    device.bursts.push_back(count);
    count = static_cast<std::uint16_t>(std::min<std::size_t>(count, device.takes));
    device.takes -= device.takes == SIZE_MAX ? 0 : count;
    for (std::uint16_t i = 0; i < count; ++i) {
      device.sent.emplace_back(packet_of(mbufs[i]));
    }
    return count;
  }

  void* self_ = this;
  void* no_callback_ = nullptr;
  struct rte_eth_fp_ops before_ {};
};

}  // namespace tributary::dataplane
