// SPDX-License-Identifier: BSD-3-Clause
#include "switch/advertiser6.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "switch/leads_to.h"
#include "wire/checksum.h"
#include "wire/key.h"

namespace tributary::switching {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// These values are from RFC 4861 (6.2.1 and section 10).
constexpr Duration interval_min = seconds(200);
constexpr Duration interval_max = seconds(600);
constexpr Duration initial_interval_max = seconds(16);
constexpr std::uint32_t initial_advertisements = 3;
constexpr Duration answer_delay_max = milliseconds(500);
constexpr Duration between_two = seconds(3);
constexpr std::uint16_t router_lifetime_s = 1800;
constexpr std::uint32_t valid_s = 30 * 24 * 3600;
constexpr std::uint32_t preferred_s = 7 * 24 * 3600;
// A host shortens a lifetime to no less than this, lest a stranger takes addresses away (RFC 4862,
// 5.5.3, e).
constexpr std::uint32_t least_valid_s = 2 * 3600;
constexpr std::uint32_t host_hop_limit = 64;

struct [[gnu::packed]] AdvertisementFrame {
  wire::EthernetHeader ethernet;
  wire::Ipv6Header ip;
  wire::RouterAdvertisement message;
  wire::LinkAddressOption link;
  wire::MtuOption mtu;
  wire::PrefixOption prefix;  // left out if its lifetime is 0
};

AdvertisementFrame to_all_nodes(const wire::MacAddress& mac, const wire::IpAddress& link_local) {
  AdvertisementFrame frame;
  frame.ethernet.destination = wire::group_mac_of(wire::all_nodes);
  frame.ethernet.source = mac;
  frame.ethernet.type = wire::ethertype::ipv6;
  frame.ip.next_header = wire::ipv6_next::icmp;
  frame.ip.hop_limit = wire::RouterAdvertisement::hop_limit;
  frame.ip.source = link_local.octets();
  frame.ip.destination = wire::all_nodes.octets();
  frame.message.icmp.type = wire::Icmp6Header::router_advertisement;
  frame.link.type = wire::LinkAddressOption::of_source;
  frame.link.mac = mac;
  return frame;
}

// Fills in length and checksum. `message` is what follows the IPv6 header.
void finish(AdvertisementFrame& frame, wire::Bytes message) {
  frame.ip.payload_length = static_cast<std::uint16_t>(message.size());
  frame.message.icmp.checksum = wire::transport_checksum(frame.ip, message);
}

// Returns the VLAN of an interface on the bridge; 0 if it is none, or there are no VLANs.
std::uint16_t vid_of(const Interfaces& interfaces, PortIndex interface) {
  const auto* const on_bridge =
      forwarding::is_on_bridge(interface) ? interfaces.find_on_bridge(interface) : nullptr;
  return on_bridge == nullptr ? std::uint16_t{0} : on_bridge->vid;
}

// Where VLANs were turned on or off, the hosts may be the same.
bool is_same_vlan(std::uint16_t now, std::uint16_t before) {
  return now == before || now == 0 || before == 0;
}

}  // namespace

Advertiser6::Advertiser6(const SwitchConfig& config, const Interfaces& interfaces, Bridge& bridge,
                         Outlet& outlet, CoreShare share, std::uint64_t seed)
    : interfaces_(interfaces),
      bridge_(bridge),
      outlet_(outlet),
      keeps_links_(share.core == core),
      seed_(seed),
      links_(links_of(config, interfaces)) {
  refresh_deadline();
}

std::vector<Advertiser6::Link> Advertiser6::links_of(const SwitchConfig& config,
                                                     const Interfaces& interfaces) {
  std::vector<Link> links;
  const auto add = [&](bool advertised, PortIndex interface) {
    if (const auto& own = interfaces.address6(interface); advertised && own) {
      links.push_back(
          {interface, vid_of(interfaces, interface), prefix_of(*own), interfaces.mtu(interface)});
    }
  };
  for (PortIndex port = 0; port < interfaces.count(); ++port) {
    add(config.ports[port].advertise6, port);
  }
  for (const auto& vlan : config.vlans) {
    add(vlan.advertise6, forwarding::vlan_interface(vlan.vid));
  }
  add(config.bridge_advertise6, forwarding::bridge_interface);
  return links;
}

void Advertiser6::reconfigure(const SwitchConfig& config) {
  const auto before = std::exchange(links_, links_of(config, interfaces_));
  for (const auto& link : before) {
    auto* const now = find(link.interface);
    if (now != nullptr && now->prefix == link.prefix && is_same_vlan(now->vid, link.vid)) {
      const auto fresh = std::exchange(*now, link);
      now->vid = fresh.vid;
      if (now->mtu != fresh.mtu) {
        now->mtu = fresh.mtu;
        tell_at_once(*now);
      }
    } else if (keeps_links_) {
      part(link);
    }
  }
  refresh_deadline();
}

// The prefix may still be that of the link: hosts need not give up their addresses then. Where the
// interface advertises another prefix now, they must not give up the router.
void Advertiser6::part(const Link& before) {
  Lifetimes lifetimes;
  const bool is_here = is_same_vlan(vid_of(interfaces_, before.interface), before.vid);
  if (auto* const now = find(before.interface)) {
    lifetimes.router = is_here ? router_lifetime_s : std::uint16_t{0};
    now->advertisements = before.advertisements;
    now->solicitations = before.solicitations;
  }
  const auto& own = interfaces_.address6(before.interface);
  if (!own || prefix_of(*own) != before.prefix || !is_here) {
    lifetimes.valid = least_valid_s;
  }
  finals_.push_back({before, lifetimes});
}

void Advertiser6::withdraw() {
  for (const auto& link : std::exchange(links_, {})) {
    if (keeps_links_) {
      finals_.push_back({link, {}});
    }
  }
  refresh_deadline();
}

Advertiser6::Link* Advertiser6::find(PortIndex interface) {
  const auto found = std::find_if(links_.begin(), links_.end(),
                                  [=](const Link& link) { return link.interface == interface; });
  return found == links_.end() ? nullptr : &*found;
}

bool Advertiser6::advertises(PortIndex interface) const {
  return std::any_of(links_.begin(), links_.end(),
                     [=](const Link& link) { return link.interface == interface; });
}

bool Advertiser6::is_valid(const Datagram6& datagram, const Carried6& carried) {
  wire::Cursor cursor(carried.payload);
  const auto* icmp = cursor.take<wire::Icmp6Header>();
  const wire::MacAddress* link = nullptr;
  return icmp != nullptr && icmp->code == 0 &&
         datagram.ip->hop_limit == wire::RouterAdvertisement::hop_limit &&
         find_link(cursor.rest(), wire::LinkAddressOption::of_source, link) &&
         !(datagram.source.is_unspecified() && link != nullptr);
}

void Advertiser6::receive(const Packet& frame, PortIndex interface, Time now) {
  if (!keeps_links_) {
    outlet_.publish(frame);
  } else if (auto* const link = find(interface)) {
    solicit(*link, now);
  }
}

void Advertiser6::learn(const Packet& frame, PortIndex interface, Time now) {
  auto* const link = keeps_links_ ? find(interface) : nullptr;
  const auto datagram = parse_ipv6(const_cast<Packet&>(frame));
  const auto carried = link != nullptr && datagram ? carried_by(*datagram) : std::nullopt;
  if (carried && icmp6_type(*carried) == wire::Icmp6Header::router_solicitation &&
      is_sound_icmp6(*datagram, *carried) && is_valid(*datagram, *carried)) {
    solicit(*link, now);
  }
}

// One advertisement answers all hosts that ask before it leaves.
void Advertiser6::solicit(Link& link, Time now) {
  ++link.solicitations;
  const auto from = std::max(now, link.not_before);
  if (link.due > from + answer_delay_max) {
    link.due = from + draw({}, answer_delay_max);
    refresh_deadline();
  }
}

void Advertiser6::hurry(PortIndex port) {
  for (auto& link : links_) {
    if (leads_to(port, link.interface, interfaces_, bridge_.vlans())) {
      tell_at_once(link);
    }
  }
  refresh_deadline();
}

void Advertiser6::tell_at_once(Link& link) {
  link.initial = 0;
  link.due = link.not_before;
}

void Advertiser6::expire(Time now) {
  if (now < deadline_) {
    return;
  }
  for (const auto& last : std::exchange(finals_, {})) {
    if (interfaces_.is_up(last.link.interface)) {
      send(last.link, last.lifetimes, now);
    }
    if (auto* const link = find(last.link.interface); link && link->vid == last.link.vid) {
      link->due = link->not_before = now + between_two;
    }
  }
  for (auto& link : links_) {
    if (link.due <= now) {
      advertise(link, now);
    }
  }
  refresh_deadline();
}

void Advertiser6::advertise(Link& link, Time now) {
  if (!interfaces_.is_up(link.interface)) {
    link.due = never;  // until hurry()
    return;
  }
  link.advertisements += send(link, {router_lifetime_s, valid_s, preferred_s}, now) ? 1 : 0;
  const auto pause = draw(interval_min, interval_max);
  const bool is_initial = ++link.initial <= initial_advertisements;
  link.due = now + (is_initial ? std::min(pause, initial_interval_max) : pause);
  link.not_before = now + between_two;
}

bool Advertiser6::send(const Link& link, const Lifetimes& lifetimes, Time now) {
  auto packet = outlet_.originate();
  if (!packet) {
    return false;
  }
  if (packet->tailroom() < sizeof(AdvertisementFrame)) {
    outlet_.drop(std::move(packet), DropReason::no_buffer, Account::originated);
    return false;
  }
  packet->length = sizeof(AdvertisementFrame);
  auto& frame = *wire::MutableCursor(packet->bytes()).take<AdvertisementFrame>();
  frame = to_all_nodes(interfaces_.mac(link.interface), interfaces_.link_local(link.interface));
  frame.message.icmp.rest = host_hop_limit << 24 | lifetimes.router;
  frame.mtu.mtu = std::uint32_t{link.mtu};
  frame.prefix.prefix_length = link.prefix.length;
  frame.prefix.flags = wire::PrefixOption::on_link | wire::PrefixOption::autonomous;
  frame.prefix.valid_s = lifetimes.valid;
  frame.prefix.preferred_s = lifetimes.preferred;
  frame.prefix.prefix = link.prefix.network.octets();
  if (lifetimes.valid == 0) {
    packet->length = static_cast<std::uint32_t>(sizeof(AdvertisementFrame) - sizeof frame.prefix);
  }
  finish(frame, packet->bytes().subspan(sizeof frame.ethernet + sizeof frame.ip));
  transmit(std::move(packet), link, now);
  return true;
}

// An advertisement may also go to a VLAN that the router has just left.
void Advertiser6::transmit(PacketPtr frame, const Link& link, Time now) {
  if (!forwarding::is_on_bridge(link.interface)) {
    outlet_.send(std::move(frame), link.interface, Account::originated);
  } else if (const auto* here = interfaces_.find_on_bridge(link.interface);
             here != nullptr && is_same_vlan(here->vid, link.vid)) {
    bridge_.send_routed(std::move(frame), link.interface, Account::originated, now);
  } else {
    Vlans::put_into(*frame, link.vid);
    bridge_.forward(std::move(frame), no_port, no_port, Account::originated);
  }
}

void Advertiser6::refresh_deadline() {
  deadline_ = finals_.empty() ? never : Time{};
  for (const auto& link : links_) {
    deadline_ = std::min(deadline_, keeps_links_ ? link.due : never);
  }
}

Duration Advertiser6::draw(Duration from, Duration to) {
  const auto span = static_cast<std::uint64_t>((to - from).count());
  return from + Duration(static_cast<Duration::rep>(wire::mix_key(++drawn_, seed_) % span));
}

std::vector<forwarding::AdvertiserRow> Advertiser6::rows() const {
  std::vector<forwarding::AdvertiserRow> rows;
  for (const auto& link : links_) {
    if (keeps_links_) {
      rows.push_back({link.interface, link.advertisements, link.solicitations});
    }
  }
  return rows;
}

}  // namespace tributary::switching
