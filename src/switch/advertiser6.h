// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "forwarding/rows.h"
#include "packet/clock.h"
#include "switch/bridge.h"
#include "switch/icmp6.h"
#include "switch/interfaces.h"
#include "switch/outlet.h"
#include "switch/switch.h"

namespace tributary::switching {

// Tells the hosts of an interface that there is a router, and from which prefix they make their
// addresses. It does so by router advertisements (RFC 4861, 6.2; RFC 4862) to all nodes, now and
// then and when a host asks. One core of a switch advertises, and the others tell it who asked. The
// interfaces are those with `advertise6` in the configuration.
class Advertiser6 {
 public:
  // This core advertises.
  static constexpr unsigned core = 0;

  Advertiser6(const SwitchConfig& config, const Interfaces& interfaces, Bridge& bridge,
              Outlet& outlet, CoreShare share, std::uint64_t seed);

  bool advertises(PortIndex interface) const;

  // Says whether a solicitation is as RFC 4861 (6.1.1) wants it. `carried` is sound ICMPv6 of its
  // type.
  static bool is_valid(const Datagram6& datagram, const Carried6& carried);
  // Takes a valid solicitation from an interface on which the switch advertises.
  void receive(const Packet& frame, PortIndex interface, Time now);
  // Takes a frame that another core received, if it is a valid solicitation.
  void learn(const Packet& frame, PortIndex interface, Time now);

  void expire(Time now);
  Time deadline() const { return deadline_; }
  // The link of a port came up, so the hosts behind it, and with them all of its VLANs, need not
  // wait for the next advertisement.
  void hurry(PortIndex port);
  // Hosts on interfaces that do not advertise any more are told so by the next expire().
  void reconfigure(const SwitchConfig& config);
  // Hosts on all interfaces are told the same, as the switch ends.
  void withdraw();

  // Returns no rows on cores that do not advertise.
  std::vector<forwarding::AdvertiserRow> rows() const;

 private:
  struct Link {
    PortIndex interface = no_port;
    std::uint16_t vid = 0;  // of an interface on the bridge
    forwarding::Prefix6 prefix;
    std::uint16_t mtu = 0;
    std::uint32_t initial = 0;  // how many of the first, quick ones were sent
    Time due{};
    Time not_before{};  // RFC 4861, 6.2.6
    std::uint64_t advertisements = 0;
    std::uint64_t solicitations = 0;
  };
  // Hosts are told to believe an advertisement for so many seconds.
  struct Lifetimes {
    std::uint16_t router = 0;
    std::uint32_t valid = 0;  // of the prefix; 0: the prefix is left out
    std::uint32_t preferred = 0;
  };
  struct FinalAdvertisement {
    Link link;
    Lifetimes lifetimes;
  };

  static std::vector<Link> links_of(const SwitchConfig& config, const Interfaces& interfaces);
  Link* find(PortIndex interface);
  void tell_at_once(Link& link);
  void part(const Link& before);
  void solicit(Link& link, Time now);
  void advertise(Link& link, Time now);
  // Returns false if there is no way to send it.
  bool send(const Link& link, const Lifetimes& lifetimes, Time now);
  void transmit(PacketPtr frame, const Link& link, Time now);
  void refresh_deadline();
  Duration draw(Duration from, Duration to);

  const Interfaces& interfaces_;
  Bridge& bridge_;
  Outlet& outlet_;
  bool keeps_links_;
  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
  std::vector<Link> links_;
  std::vector<FinalAdvertisement> finals_;
  Time deadline_ = never;
};

}  // namespace tributary::switching
