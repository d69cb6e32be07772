// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/device_queue.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <rte_ethdev.h>

#include "dataplane/mbuf_pool.h"
#include "wire/ethernet.h"
#include "wire/vlan.h"

namespace tributary::dataplane {

void DeviceQueue::pause(bool paused) {
  paused_ = paused;
  if (paused) {
    drop_waiting();
  }
}

std::size_t DeviceQueue::receive(PacketPool& pool, PortIndex ingress, PacketList& out,
                                 std::size_t most) {
  if (paused_) {
    return 0;
  }
  std::array<rte_mbuf*, burst> mbufs;
  const auto count = rte_eth_rx_burst(
      port_, queue_, mbufs.data(), static_cast<std::uint16_t>(std::min<std::size_t>(most, burst)));
  // The driver has written the mbufs, but not what lies behind them.
  for (std::uint16_t i = 0; i < count; ++i) {
    __builtin_prefetch(packet_of(mbufs[i]), 1);
  }
  for (std::uint16_t i = 0; i < count; ++i) {
    rte_mbuf* mbuf = mbufs[i];
    if (mbuf->nb_segs > 1 && rte_pktmbuf_linearize(mbuf) != 0) {
      ++refused_;
      rte_pktmbuf_free(mbuf);
      continue;
    }
    Packet* packet = packet_of(mbuf);
    packet->pool = &pool;
    packet->offset = mbuf->data_off;
    packet->noted = 0;
    packet->length = mbuf->data_len;
    packet->ingress = ingress;
    packet->egress = no_port;
    packet->vlan = 0;
    packet->over_ipv6 = false;
    packet->marking = 0;
    out.push(PacketPtr(packet));
  }
  return count;
}

namespace {

// The driver frees both segments, and counts who still has the second one.
void chain(Packet& packet) {
  rte_mbuf* head = mbuf_of(&packet);
  Packet* body = std::exchange(packet.body, nullptr);
  rte_mbuf* segment = mbuf_of(body);
  segment->data_off = body->offset;
  segment->data_len = static_cast<std::uint16_t>(body->length);
  head->next = segment;
  head->nb_segs = 2;
  head->pkt_len += body->length;
}

}  // namespace

namespace {

bool is_tagged(const Packet& packet) {
  const auto* header = reinterpret_cast<const wire::EthernetHeader*>(packet.data());
  return packet.length >= sizeof *header && header->type.value() == wire::ethertype::vlan;
}

}  // namespace

bool DeviceQueue::is_too_long(const Packet& packet) const {
  const auto bytes = packet.frame_bytes();
  return bytes > frame_bytes_max_ &&
         (bytes > frame_bytes_max_ + sizeof(wire::VlanTag) || !is_tagged(packet));
}

std::size_t DeviceQueue::transmit(PacketList& packets, Time now) {
  if (waiting_ == 0) {
    if (packets.empty()) {
      return 0;
    }
    waiting_since_ = now;
  }
  while (waiting_ < burst && !packets.empty()) {
    auto next = packets.pop();
    if (is_too_long(*next)) {
      ++dropped_;
      continue;
    }
    Packet* packet = next.release();
    if (!gathers_) {
      make_whole(*packet);
    }
    rte_mbuf* mbuf = mbuf_of(packet);
    mbuf->data_off = packet->offset;
    mbuf->data_len = static_cast<std::uint16_t>(packet->length);
    mbuf->pkt_len = packet->length;
    mbuf->ol_flags = 0;
    if (packet->body != nullptr) {
      chain(*packet);
    }
    pending_[waiting_++] = mbuf;
  }
  if (waiting_ == 0) {
    return 0;
  }
  const auto sent = rte_eth_tx_burst(port_, queue_, pending_.data(), waiting_);
  std::copy(pending_.begin() + sent, pending_.begin() + waiting_, pending_.begin());
  waiting_ = static_cast<std::uint16_t>(waiting_ - sent);
  if (sent > 0) {
    waiting_since_ = now;
  } else if (waiting_ > 0 && now - waiting_since_ >= patience_) {
    drop_waiting();
  }
  return sent;
}

std::size_t DeviceQueue::waiting_bytes() const {
  return std::accumulate(
      pending_.begin(), pending_.begin() + waiting_, std::size_t{0},
      [](std::size_t bytes, const rte_mbuf* mbuf) { return bytes + mbuf->pkt_len; });
}

void DeviceQueue::drop_waiting() {
  dropped_ += waiting_;
  rte_pktmbuf_free_bulk(pending_.data(), waiting_);
  waiting_ = 0;
}

}  // namespace tributary::dataplane
