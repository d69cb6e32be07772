// SPDX-License-Identifier: BSD-3-Clause
#include "support/virtual_fabric.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "forwarding/congestion_mark.h"
#include "forwarding/flow_plan.h"
#include "protocols/engines.h"
#include "support/stranger.h"
#include "support/virtual_nodes.h"
#include "wire/key.h"

namespace tributary::test {
namespace {

constexpr std::size_t outbox_datagrams = 64;

wire::MacAddress mac_of(std::uint8_t kind, std::size_t index, std::size_t port) {
  return {{0x02, kind, 0, static_cast<std::uint8_t>(index >> 8), static_cast<std::uint8_t>(index),
           static_cast<std::uint8_t>(port)}};
}

// Heaps in this order have the earliest on top.
constexpr auto later = [](const auto& a, const auto& b) {
  return std::pair(a.arrival, a.order) > std::pair(b.arrival, b.order);
};
constexpr auto acts_later = [](const auto& a, const auto& b) {
  return std::pair(a.when, a.order) > std::pair(b.when, b.order);
};

}  // namespace

VirtualFabric::VirtualFabric(FabricSpec spec, HeapPacketPool* pool)
    : spec_(std::move(spec)),
      own_pool_(pool == nullptr ? std::make_unique<HeapPacketPool>(pool_packets, frame_bytes_max)
                                : nullptr),
      pool_(pool == nullptr ? *own_pool_ : *pool),
      random_(spec_.seed) {
  build_switches();
  build_hosts();
  due_.assign(switches_.size() + hosts_.size(), now_);
}

VirtualFabric::~VirtualFabric() = default;

std::size_t VirtualFabric::find_switch(std::string_view name) const {
  for (std::size_t i = 0; i < spec_.switches.size(); ++i) {
    if (spec_.switches[i].config.name == name) {
      return i;
    }
  }
  throw std::invalid_argument("no switch " + std::string(name));
}

PortIndex VirtualFabric::find_port(std::size_t switch_index, std::string_view name) const {
  const auto& ports = spec_.switches[switch_index].config.ports;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].name == name) {
      return static_cast<PortIndex>(i);
    }
  }
  throw std::invalid_argument("no port " + std::string(name));
}

void VirtualFabric::build_switches() {
  for (std::size_t index = 0; index < spec_.switches.size(); ++index) {
    auto node = std::make_unique<SwitchNode>();
    node->index = index;
    node->config = spec_.switches[index].config;
    if (node->config.table_seed == 0) {
      node->config.table_seed = (spec_.seed << 16) + index + 1;
    }
    node->gauges = std::vector<forwarding::QueueGauge>(node->config.ports.size());
    node->buffers = std::vector<forwarding::PortBuffer>(node->config.ports.size());
    node->peers.resize(node->config.ports.size());
    for (std::size_t port = 0; port < node->peers.size(); ++port) {
      auto& config = node->config.ports[port];
      config.mac = mac_of(1, index, port);
      config.impair_in.seed = random_();
      config.impair_out.seed = random_();
      node->ports.emplace_back(config, &node->gauges[port]);
      const auto& device = spec_.switches[index].devices[port];
      if (const auto* link = std::get_if<control::InternalLink>(&device)) {
        const auto peer = find_switch(link->peer_switch);
        node->peers[port] = {peer, find_port(peer, link->peer_port), true, true};
      }
    }
    const auto plan = forwarding::plan_flow_control(node->config.ports);
    for (std::size_t port = 0; port < node->ports.size(); ++port) {
      node->ports[port].control_flow({node->buffers, static_cast<PortIndex>(port), &pool_},
                                     node->config.ports[port], plan);
    }
    make_shares(*node);
    switches_.push_back(std::move(node));
  }
}

void VirtualFabric::make_shares(SwitchNode& node) {
  node.owners = switching::Owners(node.config, spec_.cores);
  node.shares.clear();
  for (unsigned core = 0; core < spec_.cores; ++core) {
    node.shares.push_back(std::make_unique<switching::Switch>(
        node.config, switching::CoreShare{core, spec_.cores}, pool_, node.gauges));
  }
}

void VirtualFabric::build_hosts() {
  for (std::size_t index = 0; index < spec_.hosts.size(); ++index) {
    auto node = std::make_unique<HostNode>();
    node->index = index;
    node->spec = spec_.hosts[index];
    node->outbox = host::Outbox(node->spec.rate_bps == 0 ? outbox_datagrams : 1);
    node->mac = mac_of(2, index, 0);
    node->switch_index = find_switch(node->spec.switch_name);
    node->port = find_port(node->switch_index, node->spec.port_name);
    auto& neighbour = *switches_[node->switch_index];
    const auto& port = neighbour.config.ports[node->port];
    node->gateway_mac = port.is_routed() ? port.mac : bridge_mac_of(neighbour.config);
    neighbour.peers[node->port] = {switches_.size() + index, 0, true, true};
    hosts_.push_back(std::move(node));
  }
}

host::Endpoint VirtualFabric::endpoint(std::size_t host, std::uint16_t udp_port) const {
  const auto& spec = hosts_[host]->spec;
  return {spec.address, udp_port, spec.dress.prefix};
}

void VirtualFabric::attach(std::size_t host, std::uint16_t udp_port, Machine& machine,
                           std::function<void()> idle) {
  hosts_[host]->sockets.push_back({udp_port, &machine, std::move(idle)});
  wake(host);
}

void VirtualFabric::detach(const Machine& machine) {
  for (auto& node : hosts_) {
    std::erase_if(node->sockets,
                  [&machine](const auto& socket) { return socket.machine == &machine; });
  }
}

void VirtualFabric::hold_back(std::size_t host, Time until) {
  hosts_[host]->silent_until = until;
  wake(host);
}

void VirtualFabric::suspend(std::size_t host, Time until) {
  hosts_[host]->deaf_until = until;
  hold_back(host, until);
}

void VirtualFabric::wake(std::size_t host) {
  due_[switches_.size() + host] = now_;
}

void VirtualFabric::at(Time when, std::function<void()> action) {
  actions_.push_back({when, next_action_++, std::move(action)});
  std::push_heap(actions_.begin(), actions_.end(), acts_later);
}

void VirtualFabric::bury(const SwitchNode& node) {
  for (const auto& share : node.shares) {
    past_ledgers_.push_back(share->ledger());
    for (const auto& view : share->engines()) {
      for (const auto& figure : view.engine->figures()) {
        past_figures_.push_back({view.name, figure});
      }
    }
  }
}

void VirtualFabric::restart_switch(std::size_t switch_index) {
  auto& node = *switches_[switch_index];
  bury(node);
  node.ready.clear();
  for (auto& port : node.ports) {
    port.clear();
  }
  make_shares(node);
  for (std::size_t port = 0; port < node.peers.size(); ++port) {
    for (auto& share : node.shares) {
      share->set_port_up(static_cast<PortIndex>(port), node.peers[port].up);
    }
  }
  due_[switch_index] = now_;
}

void VirtualFabric::set_link_up(const LinkEnd& end, bool up) {
  const auto set = [this, up](std::size_t switch_index, PortIndex port) {
    auto& node = *switches_[switch_index];
    node.peers[port].up = up;
    for (auto& share : node.shares) {
      share->set_port_up(port, up);
    }
    due_[switch_index] = now_;
  };
  const auto& peer = switches_[end.switch_index]->peers[end.port];
  set(end.switch_index, end.port);
  if (peer.connected && peer.node < switches_.size()) {
    set(peer.node, peer.port);
  }
}

std::vector<LinkEnd> VirtualFabric::links() const {
  auto ends = cables();
  std::erase_if(ends, [this](const LinkEnd& end) {
    return switches_[end.switch_index]->peers[end.port].node >= switches_.size();
  });
  return ends;
}

std::vector<LinkEnd> VirtualFabric::cables() const {
  std::vector<LinkEnd> ends;
  for (const auto& node : switches_) {
    for (std::size_t port = 0; port < node->peers.size(); ++port) {
      const auto& peer = node->peers[port];
      if (peer.connected && node->index < peer.node) {
        ends.push_back({node->index, static_cast<PortIndex>(port)});
      }
    }
  }
  return ends;
}

void VirtualFabric::run(Duration limit) {
  run_while(
      [this] {
        return std::any_of(hosts_.begin(), hosts_.end(), [](const auto& node) {
          return std::any_of(node->sockets.begin(), node->sockets.end(),
                             [](const auto& socket) { return socket.machine->running(); });
        });
      },
      limit);
}

void VirtualFabric::run_while(const std::function<bool()>& wanted, Duration limit) {
  const Time end = now_ + limit;
  std::fill(due_.begin(), due_.end(), now_);  // machines may have been told to begin
  while (wanted()) {
    service_due();
    const Time next = next_time();
    if (next == never || !wanted()) {
      return;
    }
    if (next > end) {
      now_ = end;
      return;
    }
    advance(std::max(now_, next));
  }
}

void VirtualFabric::service_due() {
  // Most nodes are not due, and are not looked at.
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    auto& due = due_[switches_.size() + i];
    if (due <= now_) {
      service(*hosts_[i]);
      due = due_of(*hosts_[i]);
    }
  }
  for (std::size_t i = 0; i < switches_.size(); ++i) {
    if (due_[i] <= now_) {
      service(*switches_[i]);
      due_[i] = due_of(*switches_[i]);
    }
  }
}

Time VirtualFabric::next_time() const {
  Time next = never;
  for (const auto due : due_) {
    next = std::min(next, due);
  }
  if (!flights_.empty()) {
    next = std::min(next, flights_.front().arrival);
  }
  if (!actions_.empty()) {
    next = std::min(next, actions_.front().when);
  }
  return next;
}

void VirtualFabric::advance(Time next) {
  now_ = next;
  while (!actions_.empty() && actions_.front().when <= now_) {
    std::pop_heap(actions_.begin(), actions_.end(), acts_later);
    const auto act = std::move(actions_.back().act);
    actions_.pop_back();
    act();
  }
  while (!flights_.empty() && flights_.front().arrival <= now_) {
    std::pop_heap(flights_.begin(), flights_.end(), later);
    auto flight = std::move(flights_.back());
    flights_.pop_back();
    deliver(std::move(flight));
  }
}

bool VirtualFabric::happens(double share) {
  return share > 0 && static_cast<double>(random_() >> 11) * 0x1p-53 < share;
}

// Neither stray copies nor forgeries are copied themselves.
void VirtualFabric::launch(PacketPtr frame, std::size_t node, PortIndex port, Duration delay) {
  if (happens(spec_.marked)) {
    forwarding::mark_congestion(*frame);
  }
  if (happens(spec_.forged)) {
    const auto receiver = node < switches_.size() ? Receiver::fabric : Receiver::host;
    if (auto copy = pool_.clone(*frame); copy != nullptr && forge(*copy, receiver, random_)) {
      put_on_cable(std::move(copy), node, port, delay);
    }
  }
  if (happens(spec_.stray)) {
    const auto later_by = static_cast<std::uint64_t>(spec_.stray_delay.count()) + 1;
    if (auto copy = pool_.clone(*frame)) {
      put_on_cable(std::move(copy), node, port,
                   delay + Duration(static_cast<Duration::rep>(random_() % later_by)));
    }
  }
  put_on_cable(std::move(frame), node, port, delay);
}

void VirtualFabric::put_on_cable(PacketPtr frame, std::size_t node, PortIndex port,
                                 Duration delay) {
  flights_.push_back(
      {now_ + spec_.cable_delay + delay, next_order_++, node, port, std::move(frame)});
  std::push_heap(flights_.begin(), flights_.end(), later);
}

void VirtualFabric::note(const Flight& flight) {
  const auto bytes = std::as_const(*flight.frame).bytes();
  const auto* last = bytes.data() + bytes.size() - std::min<std::size_t>(bytes.size(), 8);
  std::uint64_t tail = 0;
  std::memcpy(&tail, last, std::min<std::size_t>(bytes.size(), 8));
  digest_ = wire::mix_key(
      digest_ + tail,
      static_cast<std::uint64_t>(flight.arrival.time_since_epoch().count()) + flight.node);
  if (trace_) {
    const bool to_switch = flight.node < switches_.size();
    const auto& host = hosts_[to_switch ? 0 : flight.node - switches_.size()];
    trace_({now_,
            to_switch ? std::string_view(switches_[flight.node]->config.name)
                      : std::string_view(host->spec.switch_name),
            to_switch ? std::string_view(switches_[flight.node]->config.ports[flight.port].name)
                      : std::string_view(host->spec.port_name),
            !to_switch, bytes});
  }
}

void VirtualFabric::deliver(Flight flight) {
  note(flight);
  if (flight.node >= switches_.size()) {
    auto& host = *hosts_[flight.node - switches_.size()];
    due_[flight.node] = now_;
    return deliver_to_host(host, *flight.frame);
  }
  auto& node = *switches_[flight.node];
  if (!node.peers[flight.port].up) {
    return;  // the cable is pulled
  }
  flight.frame->ingress = flight.port;
  node.ports[flight.port].arrive(PacketList(std::move(flight.frame)), now_, node.ready);
  due_[flight.node] = now_;
}

// Does what the data plane does with a burst: every packet goes to the core that owns its block.
void VirtualFabric::switch_burst(SwitchNode& node, PacketList ready) {
  if (ready.empty()) {
    return;
  }
  std::vector<PacketList> by_core(spec_.cores);
  while (auto packet = ready.pop()) {
    const unsigned here = packet->ingress % spec_.cores;
    const auto owner = node.owners.core_of(*packet, here);
    count_claimed(node.config, *packet);
    by_core[owner].push(std::move(packet));
  }
  for (unsigned core = 0; core < spec_.cores; ++core) {
    if (!by_core[core].empty()) {
      receive_on(node, core, std::move(by_core[core]));
    }
  }
}

void VirtualFabric::receive_on(SwitchNode& node, unsigned core, PacketList packets) {
  switching::Output output;
  {
    const Stopwatch time(spent_ ? &spent_->switches : nullptr);
    node.shares[core]->receive(std::move(packets), now_, output);
  }
  absorb_output(node, core, output);
}

// What one core hands over arrives at once.
void VirtualFabric::hand_over(SwitchNode& node, switching::Output& output) {
  output.passed_on.drain(
      [&](std::uint32_t core, PacketList run) { receive_on(node, core, std::move(run)); });
  output.partial_sums.drain([&](std::uint32_t core, PacketList run) {
    PacketList sums;
    while (auto sum = run.pop()) {
      if (happens(spec_.ring_loss)) {
        ++node.handover.originated;
        node.handover.lose(DropReason::handover_full);
      } else {
        sums.push(std::move(sum));
      }
    }
    switching::Output merged;
    node.shares[core]->merge(std::move(sums), now_, merged);
    absorb_output(node, core, merged);
  });
}

void VirtualFabric::absorb_output(SwitchNode& node, unsigned core, switching::Output& output) {
  output.departures.drain([&](std::uint32_t egress, PacketList run) {
    while (auto packet = run.pop()) {
      make_whole(*packet);
      node.ports[egress].enqueue(std::move(packet), now_);
    }
  });
  while (auto control = output.controls.pop()) {
    node.ports[control->ingress].obey(*control, now_);
  }
  while (auto update = output.table_updates.pop()) {
    for (unsigned other = 0; other < spec_.cores; ++other) {
      if (other != core) {
        node.shares[other]->learn(*update, now_);
      }
    }
  }
  hand_over(node, output);
}

void VirtualFabric::service(SwitchNode& node) {
  switch_burst(node, std::move(node.ready));
  for (unsigned core = 0; core < spec_.cores; ++core) {
    if (node.shares[core]->deadline() <= now_) {
      switching::Output output;
      {
        const Stopwatch time(spent_ ? &spent_->switches : nullptr);
        node.shares[core]->expire(now_, output);
      }
      absorb_output(node, core, output);
    }
  }
  for (std::size_t port = 0; port < node.ports.size(); ++port) {
    if (node.ports[port].deadline() > now_ && !node.ports[port].controls_flow()) {
      continue;
    }
    PacketList ready;
    node.ports[port].poll_arrivals(now_, ready);
    switch_burst(node, std::move(ready));
    PacketList leaving;
    node.ports[port].dequeue(now_, leaving, 64);
    auto& peer = node.peers[port];
    while (auto packet = leaving.pop()) {
      if (peer.connected && peer.up) {
        const auto delay = occupy_line(peer.line_free, spec_.cable_rate_bps, packet->frame_bytes());
        launch(std::move(packet), peer.node, peer.port, delay);
      }
    }
  }
}

Time VirtualFabric::due_of(const SwitchNode& node) const {
  Time due = node.ready.empty() ? never : now_;
  for (const auto& share : node.shares) {
    due = std::min(due, share->deadline());
  }
  for (const auto& port : node.ports) {
    due = std::min(due, port.deadline());
  }
  return due;
}

std::vector<Ledger> VirtualFabric::ledgers() const {
  auto all = past_ledgers_;
  for (const auto& node : switches_) {
    for (const auto& share : node->shares) {
      all.push_back(share->ledger());
    }
    all.push_back(node->handover);
  }
  return all;
}

void VirtualFabric::count_claimed(const switching::SwitchConfig& config, Packet& packet) {
  auto frame = engine::parse_frame(packet);
  PacketPtr plain;
  if (frame.ipv4 == nullptr && (plain = pool_.clone(packet)) != nullptr) {
    take_off(*plain);
    frame = engine::parse_frame(*plain);
  }
  const auto kinds = protocols::engines();
  for (std::size_t row = 0; row < kinds.size(); ++row) {
    const bool on = config.protocols.of(row).has_value();
    claimed_[row] += on && kinds[row]->protocol.claims(frame) ? 1 : 0;
  }
}

std::uint64_t VirtualFabric::claimed(std::string_view engine) const {
  const auto kinds = protocols::engines();
  const auto found = std::find_if(kinds.begin(), kinds.end(), [engine](const auto* kind) {
    return kind->protocol.name == engine;
  });
  return claimed_[static_cast<std::size_t>(found - kinds.begin())];
}

std::uint64_t VirtualFabric::figure(std::string_view name, std::string_view engine) const {
  std::uint64_t sum = figure_now(name, engine);
  for (const auto& past : past_figures_) {
    sum += past.figure.name == name && (engine.empty() || past.engine == engine) ? past.figure.value
                                                                                 : 0;
  }
  return sum;
}

std::vector<const engine::Engine*> VirtualFabric::engines(std::size_t switch_index,
                                                          std::string_view name) const {
  std::vector<const engine::Engine*> engines;
  for (const auto& share : switches_[switch_index]->shares) {
    for (const auto& view : share->engines()) {
      if (name.empty() || view.name == name) {
        engines.push_back(view.engine);
      }
    }
  }
  return engines;
}

std::uint64_t VirtualFabric::figure_now(std::string_view name, std::string_view engine) const {
  std::uint64_t sum = 0;
  for (std::size_t index = 0; index < switches_.size(); ++index) {
    for (const auto* one : engines(index, engine)) {
      for (const auto& figure : one->figures()) {
        sum += figure.name == name ? figure.value : 0;
      }
    }
  }
  return sum;
}

}  // namespace tributary::test
