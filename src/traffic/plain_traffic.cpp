// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/plain_traffic.h"

#include <cstring>
#include <utility>

#include "wire/checksum.h"
#include "wire/cursor.h"

namespace tributary::traffic {

PlainTraffic::PlainTraffic(PlainPlan plan, const Stations& stations, const Neighbours& neighbours,
                           PacketPool& pool)
    : plan_(std::move(plan)), stations_(stations), neighbours_(neighbours), pool_(pool) {
  for (const auto& ends : plan_.paths) {
    paths_.push_back({ends, plan_.sizes, std::vector<Headers>(plan_.flows)});
  }
}

// Is called once the gateways are known.
void PlainTraffic::make_flows(Path& path) {
  for (std::uint32_t flow = 0; flow < plan_.flows; ++flow) {
    path.flows[flow] = headers_of(path.ends, flow);
  }
}

PlainTraffic::Headers PlainTraffic::headers_of(const PlainPath& ends, std::uint32_t flow) const {
  const auto source = flow % stations_.range(ends.from).count;
  const auto destination = flow % stations_.range(ends.to).count;
  Headers headers;
  headers.ethernet.source = stations_.mac(ends.from, source);
  headers.ethernet.destination =
      neighbours_.next_hop(ends.from, stations_.mac(ends.to, destination));
  headers.ethernet.type = wire::ethertype::ipv4;
  headers.ip.fragment = wire::Ipv4Header::dont_fragment;
  headers.ip.protocol = wire::ip_protocol::udp;
  headers.ip.source = stations_.address(ends.from, source);
  headers.ip.destination = stations_.address(ends.to, destination);
  wire::finish_ipv4(headers.ip);
  const std::uint32_t ports = 65536u - plan_.source_port;
  headers.udp.source_port = static_cast<std::uint16_t>(
      plan_.source_port + flow / stations_.range(ends.from).count % ports);
  headers.udp.destination_port = plan_.destination_port;
  return headers;
}

void PlainTraffic::send(std::size_t most, Time now, Pacer& pacer, Outbox& out) {
  if (!ready_) {
    for (auto& path : paths_) {
      make_flows(path);
    }
    ready_ = true;
  }
  for (; most > 0 && !is_closed() && pacer.ready(); --most) {
    auto packet = pool_.allocate();
    if (packet == nullptr) {
      ++counters_.no_buffer;
      return;
    }
    auto& path = paths_[next_path_];
    next_path_ = next_path_ + 1 == paths_.size() ? 0 : next_path_ + 1;
    fill(*packet, path, path.sizes.next_bytes(), now);
    charge(*packet, pacer);
    ++counters_.begun;
    out[path.ends.from].push(std::move(packet));
  }
}

// Behind the stamp stands whatever the buffer held before: nobody looks at it.
void PlainTraffic::fill(Packet& packet, Path& path, std::uint32_t bytes, Time now) {
  packet.length = bytes;
  auto* headers = reinterpret_cast<Headers*>(packet.data());
  std::memcpy(headers, &path.flows[path.next_flow], sizeof(Headers));
  path.next_flow = path.next_flow + 1 == path.flows.size() ? 0 : path.next_flow + 1;
  const auto ip_bytes = static_cast<std::uint16_t>(bytes - sizeof(wire::EthernetHeader));
  headers->ip.total_length = ip_bytes;
  headers->ip.checksum = wire::update_checksum(headers->ip.checksum.value(), 0, ip_bytes);
  headers->udp.length = static_cast<std::uint16_t>(ip_bytes - sizeof(wire::Ipv4Header));
  auto* stamp = reinterpret_cast<Stamp*>(headers + 1);
  stamp->magic = Stamp::magic_value;
  stamp->epoch = epoch_;
  stamp->path = static_cast<std::uint8_t>(&path - paths_.data());
  stamp->sequence = path.sent++;
  stamp->sent_ns = static_cast<std::uint64_t>(now.time_since_epoch().count());
}

void PlainTraffic::receive(PacketList arrivals, std::size_t port, Time now, Outbox& /*out*/) {
  while (const auto packet = arrivals.pop()) {
    arrived(*packet, port, now);
  }
}

void PlainTraffic::arrived(const Packet& packet, std::size_t port, Time now) {
  wire::Cursor cursor(packet.bytes());
  const auto* headers = cursor.take<Headers>();
  const auto* stamp = headers == nullptr ? nullptr : cursor.take<Stamp>();
  if (stamp == nullptr || headers->ethernet.type.value() != wire::ethertype::ipv4 ||
      headers->udp.destination_port.value() != plan_.destination_port ||
      stamp->magic.value() != Stamp::magic_value || stamp->path >= paths_.size() ||
      paths_[stamp->path].ends.to != port) {
    ++counters_.foreign;
    return;
  }
  auto& path = paths_[stamp->path];
  const auto sequence = stamp->sequence.value();
  const auto before = [](std::uint32_t left, std::uint32_t right) {
    return static_cast<std::int32_t>(left - right) < 0;
  };
  // A frame that was never sent in this epoch is of an earlier process, or of a file.
  if (stamp->epoch != epoch_ || !before(sequence, path.sent)) {
    ++counters_.late;
    return;
  }
  const bool overtaken = before(sequence, path.come.next());
  if (!path.come.take(sequence)) {
    ++duplicates_;
    return;
  }
  reordered_ += overtaken ? 1 : 0;
  ++counters_.done;
  const auto now_ns = static_cast<std::uint64_t>(now.time_since_epoch().count());
  latency_.record(now_ns - stamp->sent_ns.value());
}

void PlainTraffic::epoch_begins() {
  ++epoch_;
  reordered_ = 0;
  duplicates_ = 0;
  for (auto& path : paths_) {
    path.sent = 0;
    path.come.reset();
  }
}

}  // namespace tributary::traffic
