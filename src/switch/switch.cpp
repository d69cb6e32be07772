// SPDX-License-Identifier: BSD-3-Clause
#include "switch/switch.h"

#include <algorithm>
#include <array>
#include <random>
#include <span>
#include <utility>

#include "switch/aggregation.h"
#include "switch/bridge.h"
#include "switch/departures.h"
#include "switch/express_lane.h"
#include "switch/interfaces.h"
#include "switch/liveness.h"
#include "switch/neighbours.h"
#include "switch/neighbours6.h"
#include "switch/outlet.h"
#include "switch/router.h"
#include "switch/router6.h"
#include "wire/pause.h"

namespace tributary::switching {
namespace {

using forwarding::bridge_interface;

// Table seeds are drawn: what a stranger can compute, he can aim at. They change no decision unless
// a table overflows.
std::uint64_t draw_seed(const SwitchConfig& config) {
  if (config.table_seed != 0) {
    return config.table_seed;
  }
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

// The ARP message in a frame, or null. One whose sender gives another address than its frame came
// from was damaged or forged: it would be believed for minutes.
const wire::ArpHeader* arp_of(const wire::EthernetHeader& ethernet, wire::Bytes payload) {
  if (ethernet.type.value() != wire::ethertype::arp) {
    return nullptr;
  }
  const auto* arp = wire::Cursor(payload).take<wire::ArpHeader>();
  const bool is_sound =
      arp != nullptr && arp->is_ethernet_ipv4() && arp->sender_mac == ethernet.source;
  return is_sound ? arp : nullptr;
}

// A frame to the group of a tree is for the switch, whose places in trees were set up beforehand.
bool is_to_group(const engine::Frame& frame, const engine::Protocol& protocol) {
  return protocol.to_groups && frame.ethernet->destination.is_group();
}

bool is_misdirected(const wire::Ipv4Header& ip, const engine::Protocol& protocol) {
  return protocol.to_groups ? !ip.source.is_routable_unicast() || !ip.destination.is_multicast()
                            : is_unroutable(ip);
}

}  // namespace

class Switch::Impl {
 public:
  Impl(const SwitchConfig& config, CoreShare share, PacketPool& pool,
       std::span<const forwarding::QueueGauge> gauges)
      : interfaces_(config),
        outlet_(interfaces_, pool, share, gauges),
        bridge_(config, interfaces_, outlet_, draw_seed(config)),
        neighbours_(config, interfaces_, bridge_, outlet_, share, draw_seed(config)),
        liveness_(interfaces_, neighbours_, outlet_, share, draw_seed(config)),
        router_(config, interfaces_, neighbours_, liveness_, outlet_),
        neighbours6_(config, interfaces_, bridge_, outlet_, share, draw_seed(config)),
        router6_(config, interfaces_, neighbours6_, outlet_),
        aggregation_(config, interfaces_, pool, share.cores),
        departures_(interfaces_, bridge_, router_, outlet_),
        lane_(interfaces_, aggregation_.classifier(),
              RouterLane(interfaces_, neighbours_, router_, outlet_), BridgeLane(bridge_, outlet_)),
        has_lane_(config.express_lane),
        actions_(outlet_.ledger(), share.cores),
        cores_(share.cores) {
    actions_.departures().reserve(1024);
  }

  void receive(PacketList burst, Time now, Output& out) {
    bind(out);
    outlet_.ledger().received += burst.size();
    do {
      std::size_t taken = 0;
      while (taken < pass_packets && !burst.empty()) {
        taken += accept_stage(burst, now);
      }
      aggregation_.process(now, actions_);
      finish(now);
    } while (!burst.empty());
  }

  void merge(PacketList sums, Time now, Output& out) {
    bind(out);
    while (!sums.empty()) {
      const auto claim = engine::noted_claim(*sums.front());
      merge_run(take_of(claim, sums), claim, now);
    }
    finish(now);
  }

  void expire(Time now, Output& out) {
    bind(out);
    aggregation_.expire(now, actions_);
    bridge_.fdb().expire(now);
    neighbours_.expire(now);
    neighbours6_.expire(now);
    if (liveness_.looks_at_queues(now)) {
      liveness_.note_crowded(router_.is_crowded());
    }
    liveness_.expire(now);
    finish(now);
  }

  Time deadline() const {
    return std::min({aggregation_.deadline(), bridge_.fdb().deadline(), neighbours_.deadline(),
                     neighbours6_.deadline(), liveness_.deadline()});
  }

  void learn(const Packet& update, Time now) {
    if (update.ingress == no_port) {
      liveness_.learn(update);
      router_.follow_liveness();
      return;
    }
    wire::Cursor cursor(update.bytes());
    const auto* ethernet = cursor.take<wire::EthernetHeader>();
    if (ethernet == nullptr || update.ingress >= interfaces_.count()) {
      return;
    }
    if (interfaces_.port(update.ingress).bridged()) {
      bridge_.learn_quietly(update, ethernet->source, now);
    }
    const auto interface = interfaces_.interface_of(update);
    if (interface == no_port) {
      return;
    }
    if (const auto* arp = arp_of(*ethernet, cursor.rest()); arp != nullptr) {
      neighbours_.learn_quietly(*arp, interface, now);
    } else if (ethernet->type.value() == wire::ethertype::ipv6) {
      neighbours6_.learn_quietly(update, interface, now);
    }
  }

  void set_port_up(PortIndex port, bool up) {
    if (port >= interfaces_.count() || interfaces_.port(port).up == up) {
      return;
    }
    interfaces_.set_up(port, up);
    router_.set_port_up(port, up);
    router6_.set_port_up(port, up);
    if (!up) {
      bridge_.forget(port);
    }
  }

  void reconfigure(const SwitchConfig& config) {
    interfaces_.reconfigure(config);
    bridge_.reconfigure(config);
    neighbours_.reconfigure(config);
    router_.reconfigure(config);
    neighbours6_.reconfigure(config);
    router6_.reconfigure(config);
    aggregation_.reconfigure(config);
  }

  const Ledger& ledger() const { return outlet_.ledger(); }
  const Bridge& bridge() const { return bridge_; }
  const Neighbours& neighbours() const { return neighbours_; }
  const Router& router() const { return router_; }
  const Neighbours6& neighbours6() const { return neighbours6_; }
  const Router6& router6() const { return router6_; }
  const Liveness& liveness() const { return liveness_; }
  const Aggregation& aggregation() const { return aggregation_; }

 private:
  // Engines get no more packets at once than they and the actions have room for.
  static constexpr std::size_t pass_packets = 256;

  // A packet of the stage, what it consists of, the engine that claims it, if any, and, if the
  // router will forward it, by which way.
  struct Accepted {
    PacketPtr packet;
    engine::Frame frame;
    Aggregation::Slot* slot = nullptr;
    const forwarding::Way* way = nullptr;
    std::uint8_t noted = 0;  // of a packet whose block another core owns; 0: it is none
  };

  void bind(Output& out) {
    outlet_.bind(&out);
    if (cores_ > 1) {
      out.passed_on.reserve(cores_);
      out.partial_sums.reserve(cores_);
    }
  }

  // The first sums, as far as they are of that protocol.
  static PacketList take_of(std::uint8_t claim, PacketList& sums) {
    PacketList run;
    while (!sums.empty() && engine::noted_claim(*sums.front()) == claim) {
      run.push(sums.pop());
    }
    return run;
  }
  void merge_run(PacketList run, std::uint8_t claim, Time now) {
    if (auto* slot = aggregation_.claimed_by(claim)) {
      return slot->engine->merge(std::move(run), now, actions_);
    }
    while (run.pop()) {  // the engine was taken away meanwhile
      actions_.lose(DropReason::local_unserved);
    }
  }

  void drop(PacketPtr packet, DropReason reason) {
    outlet_.drop(std::move(packet), reason, Account::received);
  }

  // The packets of a stage wait for memory together: for their headers, then for the table entries
  // that they look up. They leave in their order, by whichever way.
  std::size_t accept_stage(PacketList& burst, Time now) {
    std::size_t count = 0;
    for (; count < arrived_.size() && !burst.empty(); ++count) {
      arrived_[count] = burst.pop();
      arrived_[count]->prefetch();
    }
    if (bridge_.vlans().on()) {
      count = enter_vlans(count);
    }
    const auto arrived = std::span(arrived_).first(count);
    if (has_lane_) {
      lane_.look_at(arrived);
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (!lane_.expects(i)) {
        admit(std::move(arrived[i]), stage_[i]);
      }
    }
    for (std::size_t i = 0; (i = lane_.send_from(i, arrived, now)) < count; ++i) {
      if (lane_.expects(i)) {
        admit_late(std::move(arrived[i]), stage_[i]);
      }
      if (stage_[i].packet) {
        accept(stage_[i], now);
      }
    }
    return count;
  }

  // Takes the tags off the packets that arrived, and drops those that go no further: how many are
  // left.
  [[gnu::noinline]] std::size_t enter_vlans(std::size_t count) {
    std::size_t left = 0;
    for (std::size_t i = 0; i < count; ++i) {
      auto packet = std::move(arrived_[i]);
      if (const auto reason = bridge_.vlans().enter(*packet)) {
        drop(std::move(packet), *reason);
      } else {
        arrived_[left++] = std::move(packet);
      }
    }
    return left;
  }

  // What the core that received the packet has noted. Not inline: where one core does all, nothing
  // is noted.
  [[gnu::noinline]] void recall(Accepted& accepted) {
    auto& [packet, frame, slot, way, noted] = accepted;
    frame = engine::noted_frame(*packet);
    slot = aggregation_.claimed_by(engine::noted_claim(*packet));
    if ((packet->noted & engine::noted::elsewhere) != 0) {
      noted = static_cast<std::uint8_t>(packet->noted & ~engine::noted::elsewhere);
    }
    packet->noted = 0;  // it will not be true for long
  }

  // Finds the headers and the engine that claims the frame. False if there is not even an Ethernet
  // header.
  [[gnu::always_inline]] bool recognise(Accepted& accepted) {
    auto& [packet, frame, slot, way, noted] = accepted;
    noted = 0;
    if (packet->noted != 0) {
      recall(accepted);
      return true;
    }
    frame = engine::parse_frame(*packet);
    if (frame.ethernet == nullptr) {
      return false;
    }
    slot = aggregation_.claimed_by(frame);
    return true;
  }

  // Drops the packet, gives it to its engine, or finds out what accept() needs to know of it.
  [[gnu::always_inline]] void admit(PacketPtr&& arrived, Accepted& accepted) {
    auto& [packet, frame, slot, way, noted] = accepted;
    packet = std::move(arrived);
    if (!recognise(accepted)) {
      return drop(std::move(packet), DropReason::truncated);
    }
    way = nullptr;
    const auto ingress = packet->ingress;
    if (ingress >= interfaces_.count() || !interfaces_.port(ingress).up) {
      return drop(std::move(packet), DropReason::port_down);
    }
    if (frame.ethernet->source.is_group()) {
      return drop(std::move(packet), DropReason::source_group_mac);
    }
    if (interfaces_.port(ingress).bridged()) {
      bridge_.prefetch(*packet, *frame.ethernet);
      slot = bridge_.vlans().is_own(*packet) ? slot : nullptr;
    } else if (slot != nullptr && is_for_engine(accepted)) {
      aggregate(accepted);
    } else if (frame.ipv4 != nullptr) {
      way = &router_.prepare(frame.ipv4->destination);
    }
  }

  // What the lane expected, until it looked closer.
  [[gnu::noinline]] void admit_late(PacketPtr&& arrived, Accepted& accepted) {
    admit(std::move(arrived), accepted);
  }

  // Of what an engine claims, a routed port takes what is for the switch on the link layer, and
  // over IP, of which the router knows version 4 only.
  bool is_for_engine(const Accepted& accepted) const {
    const auto& [packet, frame, slot, way, noted] = accepted;
    const auto& ethernet = *frame.ethernet;
    return (frame.ipv4 != nullptr && ethernet.destination == interfaces_.mac(packet->ingress)) ||
           ethernet.type.value() == slot->kind->protocol.ethertype ||
           is_to_group(frame, slot->kind->protocol);
  }

  void accept(Accepted& accepted, Time now) {
    if (interfaces_.port(accepted.packet->ingress).bridged()) {
      accept_bridged(accepted, now);
    } else {
      accept_routed(accepted, now);
    }
  }

  // Engines see what is intact on the way: a damaged IP header would misdirect the sum.
  void aggregate(Accepted& accepted) {
    auto& [packet, frame, slot, way, noted] = accepted;
    if (frame.ipv4 != nullptr && !has_right_ip_checksum(frame)) {
      drop(std::move(packet), DropReason::ip_checksum);
    } else if (frame.ipv4 != nullptr && is_misdirected(*frame.ipv4, slot->kind->protocol)) {
      drop(std::move(packet), DropReason::ip_martian);
    } else if (noted != 0) {
      packet->noted = noted;  // for the owner, should it be passed on
      slot->elsewhere.push_back({std::move(packet), frame});
    } else {
      slot->burst.push_back({std::move(packet), frame});
    }
  }

  void accept_bridged(Accepted& accepted, Time now) {
    auto& [packet, frame, slot, way, noted] = accepted;
    const auto ingress = packet->ingress;
    const auto& destination = frame.ethernet->destination;
    const bool is_arp = frame.ethernet->type.value() == wire::ethertype::arp;
    if (wire::is_reserved_group(destination)) {
      if (wire::is_mac_control(*frame.ethernet)) {
        outlet_.absorb_control(std::move(packet));
      } else {
        drop(std::move(packet), DropReason::bridge_reserved);
      }
      return;
    }
    if (!bridge_.learn(*packet, frame.ethernet->source, now)) {
      return drop(std::move(packet), DropReason::bridge_port_security);
    }
    if (slot != nullptr) {
      aggregate(accepted);
      return;
    }
    const auto to = bridge_.find(*packet, destination, now);
    const bool ours = to == bridge_interface;
    const auto interface = interfaces_.interface_of(*packet);
    const bool is_known = interface != no_port;
    const auto* arp = is_arp && is_known ? arp_of(*frame.ethernet, frame.payload) : nullptr;
    if (arp != nullptr && neighbours_.receive(*packet, *arp, interface, now)) {
      bridge_.count_routed(*packet, interface);
      outlet_.absorb(std::move(packet));
    } else if (destination.is_group() && is_known && speaks_ipv6(frame, interface) &&
               router6_.hear(*packet, interface, now)) {
      bridge_.count_routed(*packet, interface);
      outlet_.absorb(std::move(packet));
    } else if (!ours) {
      bridge_.forward(std::move(packet), ingress, to, Account::received);
    } else if (!is_known) {
      drop(std::move(packet), DropReason::local_unserved);
    } else if (is_arp) {
      drop(std::move(packet),
           arp == nullptr ? DropReason::arp_malformed : DropReason::local_unserved);
    } else {
      bridge_.count_routed(*packet, interface);
      route(accepted, interface, now);
    }
  }

  bool speaks_ipv6(const engine::Frame& frame, PortIndex interface) const {
    return frame.ethernet->type.value() == wire::ethertype::ipv6 &&
           interfaces_.address6(interface).has_value();
  }
  // What is for the switch on the link layer, or for a group; not ARP.
  void route(Accepted& accepted, PortIndex interface, Time now) {
    auto& [packet, frame, slot, way, noted] = accepted;
    if (speaks_ipv6(frame, interface)) {
      router6_.receive(std::move(packet), interface, now);
    } else {
      router_.receive(std::move(packet), frame, interface, way, now);
    }
  }

  void accept_routed(Accepted& accepted, Time now) {
    auto& [packet, frame, slot, way, noted] = accepted;
    const auto ingress = packet->ingress;
    const auto& destination = frame.ethernet->destination;
    const bool ours = destination == interfaces_.mac(ingress);
    if (!ours && !destination.is_group()) {
      drop(std::move(packet), DropReason::other_mac);
    } else if (!ours && wire::is_mac_control(*frame.ethernet)) {
      outlet_.absorb_control(std::move(packet));
    } else if (frame.ethernet->type.value() != wire::ethertype::arp) {
      route(accepted, ingress, now);
    } else if (const auto* arp = arp_of(*frame.ethernet, frame.payload); arp == nullptr) {
      drop(std::move(packet), DropReason::arp_malformed);
    } else {
      neighbours_.receive(*packet, *arp, ingress, now);
      outlet_.absorb(std::move(packet));
    }
  }

  // Sends what the engines want sent, and what waited for a neighbour.
  void finish(Time now) {
    router_.follow_liveness();
    departures_.send(actions_, now);
    neighbours_.flush(now);
    neighbours6_.flush(now);
    hand_over(actions_.passed_on(), outlet_.out().passed_on);
    hand_over(actions_.partial_sums(), outlet_.out().partial_sums);
  }
  static void hand_over(PacketRuns& from, PacketRuns& to) {
    from.drain([&](std::uint32_t core, PacketList run) { to.append(core, std::move(run)); });
  }

  Interfaces interfaces_;
  Outlet outlet_;
  Bridge bridge_;
  Neighbours neighbours_;
  Liveness liveness_;
  Router router_;
  Neighbours6 neighbours6_;
  Router6 router6_;
  Aggregation aggregation_;
  Departures departures_;
  ExpressLane lane_;
  bool has_lane_;
  engine::Actions actions_;
  unsigned cores_;
  std::array<PacketPtr, ExpressLane::stage_packets> arrived_;
  std::array<Accepted, ExpressLane::stage_packets> stage_;
};

Switch::Switch(const SwitchConfig& config, CoreShare share, PacketPool& pool,
               std::span<const forwarding::QueueGauge> gauges)
    : impl_(std::make_unique<Impl>(config, share, pool, gauges)) {}
Switch::~Switch() = default;

void Switch::receive(PacketList burst, Time now, Output& out) {
  impl_->receive(std::move(burst), now, out);
}
void Switch::merge(PacketList sums, Time now, Output& out) {
  impl_->merge(std::move(sums), now, out);
}
void Switch::learn(const Packet& update, Time now) {
  impl_->learn(update, now);
}
void Switch::expire(Time now, Output& out) {
  impl_->expire(now, out);
}
Time Switch::deadline() const {
  return impl_->deadline();
}
void Switch::set_port_up(PortIndex port, bool up) {
  impl_->set_port_up(port, up);
}
void Switch::reconfigure(const SwitchConfig& config) {
  impl_->reconfigure(config);
}
const Ledger& Switch::ledger() const {
  return impl_->ledger();
}
TableSizes Switch::table_sizes() const {
  return {impl_->bridge().fdb().size(), impl_->neighbours().table().size(),
          impl_->router().routes().size(), impl_->neighbours6().table().size(),
          impl_->router6().routes().size()};
}
std::vector<forwarding::FdbRow> Switch::fdb(Time now) const {
  return impl_->bridge().fdb().rows(now);
}
forwarding::PortAddresses Switch::addresses(PortIndex port) const {
  return impl_->bridge().fdb().addresses(port);
}
std::vector<forwarding::VlanRow> Switch::vlans() const {
  return impl_->bridge().routed();
}
std::vector<forwarding::ArpRow> Switch::arp(Time now) const {
  return impl_->neighbours().table().rows(now);
}
std::vector<forwarding::NeighbourRow6> Switch::neighbours6(Time now) const {
  return impl_->neighbours6().rows(now);
}
std::vector<forwarding::RouteRow6> Switch::routes6() const {
  return impl_->router6().routes().rows();
}
std::vector<forwarding::RouteRow> Switch::routes() const {
  return impl_->router().routes().rows();
}
std::vector<forwarding::BfdRow> Switch::bfd() const {
  return impl_->liveness().rows();
}
std::vector<EngineView> Switch::engines() const {
  return impl_->aggregation().views();
}

}  // namespace tributary::switching
