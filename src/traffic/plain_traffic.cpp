// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/plain_traffic.h"

#include <cstring>
#include <utility>

#include "wire/checksum.h"
#include "wire/ethernet.h"

namespace tributary::traffic {

PlainTraffic::PlainTraffic(PlainPlan plan, const Stations& stations, const Neighbours& neighbours,
                           PacketPool& pool)
    : plan_(std::move(plan)),
      stations_(stations),
      neighbours_(neighbours),
      pool_(pool),
      over_ipv6_(stations.over_ipv6()) {
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
  const wire::EthernetHeader ethernet = {
      neighbours_.next_hop(ends.from, stations_.mac(ends.to, destination)),
      stations_.mac(ends.from, source),
      wire::be16(over_ipv6_ ? wire::ethertype::ipv6 : wire::ethertype::ipv4)};
  const std::uint32_t ports = 65536u - plan_.source_port;
  wire::UdpHeader udp;
  udp.source_port = static_cast<std::uint16_t>(plan_.source_port +
                                               flow / stations_.range(ends.from).count % ports);
  udp.destination_port = plan_.destination_port;
  Headers headers{};
  if (over_ipv6_) {
    Ipv6Headers made{ethernet, {}, udp};
    made.ip.next_header = wire::ip_protocol::udp;
    made.ip.source = stations_.ip(ends.from, source).octets();
    made.ip.destination = stations_.ip(ends.to, destination).octets();
    std::memcpy(headers.data(), &made, sizeof made);
    return headers;
  }
  Headers4 made{{ethernet, {}}, udp};
  auto& ip = made.ip.ip;
  ip.fragment = wire::Ipv4Header::dont_fragment;
  ip.protocol = wire::ip_protocol::udp;
  ip.source = stations_.address(ends.from, source);
  ip.destination = stations_.address(ends.to, destination);
  wire::finish_ipv4(ip);
  std::memcpy(headers.data(), &made, sizeof made);
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
  const auto& headers = path.flows[path.next_flow];
  std::memcpy(packet.data(), headers.data(), header_bytes());
  path.next_flow = path.next_flow + 1 == path.flows.size() ? 0 : path.next_flow + 1;
  stamp(packet.data() + header_bytes(), path, now);
  const auto udp_bytes =
      static_cast<std::uint16_t>(bytes - header_bytes() + sizeof(wire::UdpHeader));
  if (!over_ipv6_) {
    auto& made = *reinterpret_cast<Headers4*>(packet.data());
    auto& ip = made.ip.ip;
    ip.total_length = static_cast<std::uint16_t>(sizeof ip + udp_bytes);
    ip.checksum = wire::update_checksum(ip.checksum.value(), 0, ip.total_length.value());
    made.udp.length = udp_bytes;
    return;
  }
  auto& made = *reinterpret_cast<Ipv6Headers*>(packet.data());
  made.ip.payload_length = udp_bytes;
  made.udp.length = udp_bytes;
  // Over IPv6, UDP has to have a checksum (RFC 8200, 8.1), and 0 stands for none.
  const auto sum = wire::transport_checksum(made.ip, packet.bytes().last(udp_bytes));
  made.udp.checksum = sum == 0 ? std::uint16_t{0xffff} : sum;
}

void PlainTraffic::stamp(std::byte* at, Path& path, Time now) const {
  auto& stamp = *new (at) Stamp;
  stamp.magic = Stamp::magic_value;
  stamp.epoch = epoch_;
  stamp.path = static_cast<std::uint8_t>(&path - paths_.data());
  stamp.sequence = path.sent++;
  stamp.sent_ns = static_cast<std::uint64_t>(now.time_since_epoch().count());
}

void PlainTraffic::receive(PacketList arrivals, std::size_t port, Time now, Outbox& /*out*/) {
  while (const auto packet = arrivals.pop()) {
    arrived(*packet, port, now);
  }
}

// Returns the stamp of a frame that may be one of ours; null if it is none.
const Stamp* PlainTraffic::stamp_in(const Packet& packet) const {
  if (packet.length < header_bytes() + sizeof(Stamp)) {
    return nullptr;
  }
  const auto* ethernet = reinterpret_cast<const wire::EthernetHeader*>(packet.data());
  const auto* at = packet.data() + header_bytes();
  const auto* udp = reinterpret_cast<const wire::UdpHeader*>(at - sizeof(wire::UdpHeader));
  const auto* stamp = reinterpret_cast<const Stamp*>(at);
  const auto type = over_ipv6_ ? wire::ethertype::ipv6 : wire::ethertype::ipv4;
  const bool is_one = ethernet->type.value() == type &&
                      udp->destination_port.value() == plan_.destination_port &&
                      stamp->magic.value() == Stamp::magic_value;
  return is_one ? stamp : nullptr;
}

void PlainTraffic::arrived(const Packet& packet, std::size_t port, Time now) {
  const auto* stamp = stamp_in(packet);
  if (stamp == nullptr || stamp->path >= paths_.size() || paths_[stamp->path].ends.to != port) {
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
