// SPDX-License-Identifier: BSD-3-Clause
#include "support/virtual_fabric.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "wire/arp.h"
#include "wire/checksum.h"
#include "wire/transport.h"

namespace tributary::test {
namespace {

constexpr std::uint32_t frame_bytes_max = 2048;
constexpr std::size_t pool_packets = 16384;

wire::MacAddress mac_of(std::uint8_t kind, std::size_t index, std::size_t port) {
  return {{0x02, kind, 0, 0, static_cast<std::uint8_t>(index), static_cast<std::uint8_t>(port)}};
}

template <typename Header>
void append(std::vector<std::byte>& frame, const Header& header) {
  const auto bytes = std::as_bytes(std::span(&header, 1));
  frame.insert(frame.end(), bytes.begin(), bytes.end());
}

}  // namespace

struct VirtualFabric::SwitchNode {
  switching::SwitchConfig config;
  std::vector<std::unique_ptr<switching::Switch>> shares;  // one per core
  std::vector<switching::Port> ports;
  struct Peer {
    std::size_t switch_index = Flight::no_switch;
    std::size_t host_index = 0;
    PortIndex port = 0;
    bool connected = false;
  };
  std::vector<Peer> peers;
};

struct VirtualFabric::HostNode {
  HostSpec spec;
  wire::MacAddress mac;
  wire::MacAddress gateway_mac;
  std::size_t switch_index = 0;
  PortIndex port = 0;
  Time silent_until{};
  struct Socket {
    std::uint16_t port;
    host::CanaryAllreduce* machine;
  };
  std::vector<Socket> sockets;
};

VirtualFabric::VirtualFabric(FabricSpec spec)
    : spec_(std::move(spec)), pool_(pool_packets, frame_bytes_max) {
  const auto find_switch = [this](const std::string& name) {
    for (std::size_t i = 0; i < spec_.switches.size(); ++i) {
      if (spec_.switches[i].config.name == name) {
        return i;
      }
    }
    throw std::invalid_argument("no switch " + name);
  };
  const auto find_port = [this](std::size_t index, const std::string& name) {
    const auto& ports = spec_.switches[index].config.ports;
    for (std::size_t i = 0; i < ports.size(); ++i) {
      if (ports[i].name == name) {
        return static_cast<PortIndex>(i);
      }
    }
    throw std::invalid_argument("no port " + name);
  };

  std::mt19937_64 random(spec_.seed);
  for (std::size_t index = 0; index < spec_.switches.size(); ++index) {
    auto node = std::make_unique<SwitchNode>();
    node->config = spec_.switches[index].config;
    for (std::size_t port = 0; port < node->config.ports.size(); ++port) {
      node->config.ports[port].mac = mac_of(1, index, port);
      node->config.ports[port].impair_in.seed = random();
      node->config.ports[port].impair_out.seed = random();
      node->ports.emplace_back(node->config.ports[port]);
    }
    for (unsigned core = 0; core < spec_.cores; ++core) {
      node->shares.push_back(std::make_unique<switching::Switch>(
          node->config, switching::CoreShare{core, spec_.cores}, pool_));
    }
    node->peers.resize(node->config.ports.size());
    for (std::size_t port = 0; port < node->peers.size(); ++port) {
      const auto& device = spec_.switches[index].devices[port];
      if (const auto* link = std::get_if<control::InternalLink>(&device)) {
        const auto peer = find_switch(link->peer_switch);
        node->peers[port] = {peer, 0, find_port(peer, link->peer_port), true};
      }
    }
    switches_.push_back(std::move(node));
  }
  for (std::size_t index = 0; index < spec_.hosts.size(); ++index) {
    auto node = std::make_unique<HostNode>();
    node->spec = spec_.hosts[index];
    node->mac = mac_of(2, index, 0);
    node->switch_index = find_switch(node->spec.switch_name);
    node->port = find_port(node->switch_index, node->spec.port_name);
    node->gateway_mac = switches_[node->switch_index]->config.ports[node->port].mac;
    switches_[node->switch_index]->peers[node->port] = {Flight::no_switch, index, 0, true};
    hosts_.push_back(std::move(node));
  }
}

VirtualFabric::~VirtualFabric() = default;

host::Endpoint VirtualFabric::endpoint(std::size_t host, std::uint16_t udp_port) const {
  return {hosts_[host]->spec.address, udp_port};
}

void VirtualFabric::attach(std::size_t host, std::uint16_t udp_port,
                           host::CanaryAllreduce& machine) {
  hosts_[host]->sockets.push_back({udp_port, &machine});
}

void VirtualFabric::hold_back(std::size_t host, Time until) {
  hosts_[host]->silent_until = until;
}

bool VirtualFabric::any_running() const {
  return std::any_of(hosts_.begin(), hosts_.end(), [](const auto& node) {
    return std::any_of(node->sockets.begin(), node->sockets.end(),
                       [](const auto& socket) { return socket.machine->running(); });
  });
}

void VirtualFabric::run(Duration limit) {
  const Time end = now_ + limit;
  while (any_running() && now_ <= end) {
    for (auto& node : hosts_) {
      service(*node);
    }
    for (auto& node : switches_) {
      service(*node);
    }
    const Time next = next_time();
    if (next == never || !any_running()) {
      return;
    }
    now_ = std::max(now_, next);
    while (!flights_.empty() && flights_.top().arrival <= now_) {
      const Flight flight = flights_.top();
      flights_.pop();
      deliver(flight);
    }
  }
}

Time VirtualFabric::next_time() const {
  Time next = flights_.empty() ? never : flights_.top().arrival;
  for (const auto& node : switches_) {
    for (const auto& share : node->shares) {
      next = std::min(next, share->deadline());
    }
    for (const auto& port : node->ports) {
      next = std::min(next, port.deadline());
    }
  }
  for (const auto& node : hosts_) {
    if (node->silent_until > now_) {
      next = std::min(next, node->silent_until);
    }
    for (const auto& socket : node->sockets) {
      next = std::min(next, Time(socket.machine->deadline().time_since_epoch()));
    }
  }
  return next;
}

void VirtualFabric::launch(Flight flight) {
  flight.order = next_order_++;
  flights_.push(std::move(flight));
}

void VirtualFabric::deliver(const Flight& flight) {
  if (flight.switch_index == Flight::no_switch) {
    auto frame = *flight.frame;
    deliver_to_host(*hosts_[flight.host_index], frame);
  } else {
    deliver_to_switch(*switches_[flight.switch_index], flight.port, *flight.frame);
  }
}

void VirtualFabric::deliver_to_switch(SwitchNode& node, PortIndex port,
                                      const std::vector<std::byte>& frame) {
  auto packet = pool_.allocate();
  if (!packet) {
    throw std::runtime_error("the fabric's pool is empty: packets leak");
  }
  std::memcpy(packet->data(), frame.data(), frame.size());
  packet->length = static_cast<std::uint32_t>(frame.size());
  packet->ingress = port;
  PacketList ready;
  node.ports[port].arrive(std::move(packet), now_, ready);
  switch_burst(node, std::move(ready));
}

// What the data plane does with a burst: every packet to the core that owns its block.
void VirtualFabric::switch_burst(SwitchNode& node, PacketList ready) {
  std::vector<PacketList> by_core(spec_.cores);
  while (auto packet = ready.pop()) {
    const unsigned here = packet->ingress % spec_.cores;
    const auto owner = switching::owner_core(*packet, node.config, here, spec_.cores);
    by_core[owner].push(std::move(packet));
  }
  for (unsigned core = 0; core < spec_.cores; ++core) {
    if (!by_core[core].empty()) {
      switching::Output output;
      node.shares[core]->receive(std::move(by_core[core]), now_, output);
      absorb_output(node, core, output);
    }
  }
}

void VirtualFabric::absorb_output(SwitchNode& node, unsigned core, switching::Output& output) {
  while (auto packet = output.departures.pop()) {
    node.ports[packet->egress].enqueue(std::move(packet), now_);
  }
  while (auto lesson = output.lessons.pop()) {
    for (unsigned other = 0; other < spec_.cores; ++other) {
      if (other != core) {
        node.shares[other]->learn(*lesson, now_);
      }
    }
  }
}

void VirtualFabric::service(SwitchNode& node) {
  for (unsigned core = 0; core < spec_.cores; ++core) {
    if (node.shares[core]->deadline() <= now_) {
      switching::Output output;
      node.shares[core]->expire(now_, output);
      absorb_output(node, core, output);
    }
  }
  for (std::size_t port = 0; port < node.ports.size(); ++port) {
    if (node.ports[port].deadline() > now_) {
      continue;
    }
    PacketList ready;
    node.ports[port].poll_arrivals(now_, ready);
    switch_burst(node, std::move(ready));
    PacketList leaving;
    node.ports[port].dequeue(now_, leaving, 64);
    const auto& peer = node.peers[port];
    while (auto packet = leaving.pop()) {
      if (!peer.connected) {
        continue;
      }
      const auto bytes = std::as_const(*packet).bytes();
      launch({now_ + spec_.cable_delay, 0, peer.switch_index, peer.host_index, peer.port,
              std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end())});
    }
  }
}

void VirtualFabric::service(HostNode& node) {
  if (node.silent_until > now_) {
    return;
  }
  host::Outbox outbox(64);
  for (auto& socket : node.sockets) {
    if (socket.machine->deadline() <= host_now()) {
      socket.machine->expire(host_now());
    }
    bool more = true;
    while (more) {
      socket.machine->poll(outbox);
      more = outbox.full();
      while (!outbox.empty()) {
        send(node, outbox.front(), socket.port);
        outbox.pop();
      }
    }
  }
}

void VirtualFabric::send(HostNode& node, const host::Datagram& datagram,
                         std::uint16_t source_port) {
  std::vector<std::byte> frame;
  const auto udp_bytes = static_cast<std::uint16_t>(
      sizeof(wire::UdpHeader) + sizeof(wire::CanaryHeader) + datagram.payload.size());
  wire::Ipv4Header ip;
  ip.total_length = static_cast<std::uint16_t>(sizeof ip + udp_bytes);
  ip.protocol = wire::ip_protocol::udp;
  ip.tos = wire::ecn::ect0;
  ip.source = node.spec.address;
  ip.destination = datagram.destination.address;
  wire::finish_ipv4(ip);
  append(frame,
         wire::EthernetHeader{node.gateway_mac, node.mac, wire::be16{wire::ethertype::ipv4}});
  append(frame, ip);
  append(frame, wire::UdpHeader{wire::be16{source_port}, wire::be16{datagram.destination.port},
                                wire::be16{udp_bytes}, wire::be16{}});
  append(frame, datagram.header);
  frame.insert(frame.end(), datagram.payload.begin(), datagram.payload.end());
  launch({now_ + spec_.cable_delay, 0, node.switch_index, 0, node.port,
          std::make_shared<std::vector<std::byte>>(std::move(frame))});
}

void VirtualFabric::deliver_to_host(HostNode& node, std::vector<std::byte>& frame) {
  wire::MutableCursor cursor(frame);
  const auto* ethernet = cursor.take<wire::EthernetHeader>();
  if (ethernet == nullptr) {
    return;
  }
  if (ethernet->type.value() == wire::ethertype::arp) {
    const auto* request = cursor.take<wire::ArpHeader>();
    if (request == nullptr || request->operation.value() != wire::ArpHeader::request ||
        request->target_address != node.spec.address) {
      return;
    }
    std::vector<std::byte> answer;
    append(answer,
           wire::EthernetHeader{request->sender_mac, node.mac, wire::be16{wire::ethertype::arp}});
    wire::ArpHeader arp;
    arp.operation = wire::ArpHeader::reply;
    arp.sender_mac = node.mac;
    arp.sender_address = node.spec.address;
    arp.target_mac = request->sender_mac;
    arp.target_address = request->sender_address;
    append(answer, arp);
    launch({now_ + spec_.cable_delay, 0, node.switch_index, 0, node.port,
            std::make_shared<std::vector<std::byte>>(std::move(answer))});
    return;
  }
  const auto* ip = cursor.take<wire::Ipv4Header>();
  const auto* udp = cursor.take<wire::UdpHeader>();
  if (udp == nullptr || ethernet->destination != node.mac || ip->destination != node.spec.address ||
      wire::internet_checksum(std::as_bytes(std::span(ip, 1))) != 0 ||
      udp->length.value() < sizeof *udp ||
      udp->length.value() - sizeof *udp > cursor.rest().size()) {
    return;
  }
  for (auto& socket : node.sockets) {
    if (socket.port == udp->destination_port.value()) {
      socket.machine->receive(cursor.rest().first(udp->length.value() - sizeof *udp));
    }
  }
}

std::vector<Ledger> VirtualFabric::ledgers() const {
  std::vector<Ledger> all;
  for (const auto& node : switches_) {
    for (const auto& share : node->shares) {
      all.push_back(share->ledger());
    }
  }
  return all;
}

std::uint64_t VirtualFabric::figure(std::string_view name) const {
  std::uint64_t sum = 0;
  for (const auto& node : switches_) {
    for (const auto& share : node->shares) {
      for (const auto& view : share->engines()) {
        for (const auto& figure : view.engine->figures()) {
          sum += figure.name == name ? figure.value : 0;
        }
      }
    }
  }
  return sum;
}

}  // namespace tributary::test
