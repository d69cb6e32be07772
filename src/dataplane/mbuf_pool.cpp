// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/mbuf_pool.h"

#include <algorithm>
#include <array>
#include <limits>

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mempool.h>

#include "dataplane/transparent_pages.h"

namespace tributary::dataplane {
namespace {

constexpr std::uint32_t private_bytes = 64;
static_assert(sizeof(Packet) <= private_bytes);
constexpr unsigned cache_packets_max = 256;

void initialise_packet(rte_mempool* /*mempool*/, void* /*argument*/, void* object,
                       unsigned /*index*/) {
  auto* mbuf = static_cast<rte_mbuf*>(object);
  auto* packet = new (packet_of(mbuf)) Packet{};
  packet->buffer = static_cast<std::byte*>(mbuf->buf_addr);
  packet->capacity = mbuf->buf_len;
}

void unmap(rte_mempool_memhdr* memory, void* /*argument*/) {
  unmap_transparent_pages(memory->addr, memory->len);
}

// Takes the buffers from memory of its own, in the kernel's transparent huge pages where it has
// some: that of the EAL without huge pages is a file, which has small ones only. Returns how many
// there are, or a negative errno.
int populate_from_transparent_pages(rte_mempool* mempool) {
  std::size_t largest = 0;
  std::size_t alignment = 0;
  const auto bytes =
      rte_mempool_op_calc_mem_size_default(mempool, mempool->size, 0, &largest, &alignment);
  if (bytes < 0) {
    return static_cast<int>(bytes);
  }
  const auto pages = map_transparent_pages(static_cast<std::size_t>(bytes));
  if (pages.empty()) {
    rte_errno = ENOMEM;
    return -ENOMEM;
  }
  const int populated =
      rte_mempool_populate_iova(mempool, pages.data(), RTE_BAD_IOVA, pages.size(), unmap, nullptr);
  if (populated <= 0) {
    unmap_transparent_pages(pages.data(), pages.size());
  }
  return populated;
}

}  // namespace

void MbufStore::Free::operator()(rte_mempool* mempool) const noexcept {
  rte_mempool_free(mempool);
}

tl::expected<MbufStore, std::string> MbufStore::create(const MemoryPlan& plan) {
  // Without huge pages the EAL has taken its memory already, wherever it is.
  const auto near = static_cast<int>(rte_lcore_to_socket_id(1));
  auto store = create_on(plan.hugepages ? near : SOCKET_ID_ANY, plan);
  return store ? std::move(store) : create_on(SOCKET_ID_ANY, plan);
}

// This does by hand what rte_pktmbuf_pool_create does, because that aligns every buffer to pages
// when there are no huge pages: it would take twice the memory, and nobody here needs contiguous
// physical addresses.
tl::expected<MbufStore, std::string> MbufStore::create_on(int node, const MemoryPlan& plan) {
  if (plan.buffer_bytes > std::numeric_limits<std::uint16_t>::max()) {
    return tl::unexpected("an MTU needs buffers of " + std::to_string(plan.buffer_bytes) +
                          " bytes; 65535 is the most");
  }
  const auto fail = [&](const char* what) {
    return tl::unexpected(std::string("cannot ") + what + " " + std::to_string(plan.packets) +
                          " buffers of " + std::to_string(plan.buffer_bytes) + " bytes (" +
                          rte_strerror(rte_errno) + "); make daemon.packets smaller");
  };
  const auto cache = std::min(cache_packets_max, plan.packets / 16);
  const unsigned flags = plan.hugepages ? 0 : RTE_MEMPOOL_F_NO_IOVA_CONTIG;
  MbufStore store(rte_mempool_create_empty(
      "packets", plan.packets,
      static_cast<unsigned>(sizeof(rte_mbuf)) + private_bytes + plan.buffer_bytes, cache,
      sizeof(rte_pktmbuf_pool_private), node, flags));
  if (store.mempool() == nullptr) {
    return fail("reserve");
  }
  // The stack is last in, first out: a quiet switch keeps using the buffers that are in the CPU's
  // cache.
  if (rte_mempool_set_ops_byname(store.mempool(), "lf_stack", nullptr) != 0) {
    return fail("manage");
  }
  rte_pktmbuf_pool_private settings = {};
  settings.mbuf_data_room_size = static_cast<std::uint16_t>(plan.buffer_bytes);
  settings.mbuf_priv_size = private_bytes;
  rte_pktmbuf_pool_init(store.mempool(), &settings);
  const int populated = plan.has_own() ? populate_from_transparent_pages(store.mempool())
                                       : rte_mempool_populate_default(store.mempool());
  if (populated <= 0) {
    return fail("allocate");
  }
  rte_mempool_obj_iter(store.mempool(), rte_pktmbuf_init, nullptr);
  rte_mempool_obj_iter(store.mempool(), initialise_packet, nullptr);
  return store;
}

std::uint32_t MbufStore::packets_total() const {
  return mempool_->size;
}
std::uint32_t MbufStore::packets_free() const {
  return rte_mempool_avail_count(mempool_.get());
}

std::size_t MbufPool::fetch(Packet** out, std::size_t count) {
  std::array<void*, batch> objects;
  count = std::min(count, objects.size());
  // The store gives all or nothing, so less is asked for while it runs dry.
  while (count > 0 &&
         rte_mempool_get_bulk(mempool_, objects.data(), static_cast<unsigned>(count)) != 0) {
    count /= 2;
  }
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = packet_of(static_cast<rte_mbuf*>(objects[i]));
  }
  return count;
}

void MbufPool::store(Packet** packets, std::size_t count) noexcept {
  std::array<void*, batch> objects;
  while (count > 0) {
    const auto chunk = std::min(count, objects.size());
    for (std::size_t i = 0; i < chunk; ++i) {
      objects[i] = mbuf_of(packets[i]);
    }
    rte_mempool_put_bulk(mempool_, objects.data(), static_cast<unsigned>(chunk));
    packets += chunk;
    count -= chunk;
  }
}

}  // namespace tributary::dataplane
