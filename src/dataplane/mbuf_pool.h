// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <rte_mbuf.h>
#include <tl/expected.hpp>

#include "dataplane/memory_plan.h"
#include "packet/pool.h"

namespace tributary::dataplane {

// The metadata of a packet lies in the private area, directly behind the mbuf's own header.
inline Packet* packet_of(rte_mbuf* mbuf) {
  return static_cast<Packet*>(rte_mbuf_to_priv(mbuf));
}
inline rte_mbuf* mbuf_of(Packet* packet) {
  return reinterpret_cast<rte_mbuf*>(reinterpret_cast<std::byte*>(packet) - sizeof(rte_mbuf));
}

// The store has all buffers of the process. Drivers take theirs from here too.
class MbufStore {
 public:
  // The buffers are in the memory that is nearest to the first packet core, if there is enough.
  static tl::expected<MbufStore, std::string> create(const MemoryPlan& plan);

  rte_mempool* mempool() const { return mempool_.get(); }
  std::uint32_t packets_total() const;
  std::uint32_t packets_free() const;

 private:
  struct Free {
    void operator()(rte_mempool* mempool) const noexcept;
  };
  static tl::expected<MbufStore, std::string> create_on(int node, const MemoryPlan& plan);
  explicit MbufStore(rte_mempool* mempool) : mempool_(mempool) {}
  std::unique_ptr<rte_mempool, Free> mempool_;
};

// A pool is one core's stock, backed by the store. Only that core's thread uses it.
class MbufPool final : public PacketPool {
 public:
  explicit MbufPool(rte_mempool* mempool) : mempool_(mempool) {}
  ~MbufPool() override { give_back_all(); }

  // The holders are counted where drivers count those of an mbuf, so that each of them may be freed
  // by whoever has it last, on any core.
  void share(Packet& body, unsigned holders) noexcept override {
    rte_mbuf_refcnt_set(mbuf_of(&body), static_cast<std::uint16_t>(holders));
  }
  void let_go(Packet& body) noexcept override { rte_pktmbuf_free_seg(mbuf_of(&body)); }

 private:
  std::size_t fetch(Packet** out, std::size_t count) override;
  void store(Packet** packets, std::size_t count) noexcept override;

  rte_mempool* mempool_;
};

}  // namespace tributary::dataplane
