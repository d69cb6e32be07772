// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/actions.h"
#include "forwarding/ecmp.h"
#include "forwarding/flow_plan.h"
#include "forwarding/flowlet_table.h"
#include "forwarding/hop_group.h"
#include "forwarding/occupancy.h"
#include "forwarding/policy.h"
#include "packet/clock.h"
#include "switch/config.h"
#include "switch/routes.h"

namespace tributary::switching {

// A HopChooser chooses among several next hops, by the policies of their group, for the router of
// either version of IP.
class HopChooser {
 public:
  HopChooser(const SwitchConfig& config, const forwarding::Occupancy& queues)
      : queues_(queues), ecmp_(ecmp_seed_of(config)), level_(config.selection.reduction_seed) {}

  // `groups` are those that it is going to be asked about; each gets to know its lines.
  template <typename Groups>
  void reconfigure(const SwitchConfig& config, Groups& groups) {
    using forwarding::Policy;
    ecmp_ = forwarding::EcmpHash(ecmp_seed_of(config));
    level_ = forwarding::LevelHash(config.selection.reduction_seed);
    selection_ = config.selection;
    flowlets_.reset(std::any_of(groups.begin(), groups.end(), [](const auto& group) {
      return group.policies.ordinary == Policy::flowlet ||
             group.policies.reduction == Policy::flowlet;
    }));
    learns_ = false;
    for (forwarding::HopGroup& group : groups) {
      if (group.up.size() > 1 && group.policies.reduction == Policy::adaptive) {
        weigh(group, config);
        learns_ = true;
      }
    }
  }

  // Returns a next hop of the group that can be chosen, of which there is one, for a packet of a
  // reduction (`of` is its path) or for another one (`of` is its IP header and what follows that).
  template <typename Group, typename... Of>
  auto choose(Group& group, Time now, const Packet& packet, const Of&... of) {
    return group.live.size() == 1
               ? group.live.front()
               : group.route.next_hops[place(group, now, queues_.class_of(packet), of...)];
  }

  // Says whether results tell anything that is of use: some blocks have a choice.
  bool learns() const { return learns_; }
  // Learns what the result of a block, which the group leads to, told of the queues on its way. The
  // block may have left its root for a full queue, or before the root gave it up.
  void learn(forwarding::HopGroup& group, const engine::Answer& answer) const {
    const auto live = std::count(group.up.begin(), group.up.end(), true);
    if (live > 1 && group.policies.reduction == forwarding::Policy::adaptive) {
      const auto root = forwarding::root_behind(group, level_(answer.path.hash), answer.port);
      group.shares.note(root, answer.congested, group.up);
    }
  }

 private:
  // A hop on the bridge has the lines of many ports, which tell nothing of it.
  static void weigh(forwarding::HopGroup& group, const SwitchConfig& config) {
    std::vector<std::uint64_t> rates_bps;
    for (const auto interface : group.interfaces) {
      rates_bps.push_back(
          interface < config.ports.size() ? forwarding::known_rate(config.ports[interface]) : 0);
    }
    group.shares.weigh(rates_bps);
  }
  static wire::Ipv4Address destination_of(const wire::Ipv4Header& ip) { return ip.destination; }
  static wire::IpAddress destination_of(const wire::Ipv6Header& ip) {
    return wire::IpAddress(ip.destination);
  }

  std::size_t place(forwarding::HopGroup& group, Time now, std::size_t traffic_class,
                    const engine::Path& path) {
    return place_by(group, now, group.policies.reduction,
                    {level_(path.hash), path.block, true, traffic_class});
  }
  template <typename IpHeader>
  std::size_t place(forwarding::HopGroup& group, Time now, std::size_t traffic_class,
                    const IpHeader& ip, const wire::Bytes& l4) {
    using Spread = forwarding::PolicyRow::Spread;
    const auto policy = group.policies.ordinary;
    const bool by_destination = row_of(policy).spread == Spread::destination;
    const auto hash = by_destination ? ecmp_(destination_of(ip)) : ecmp_(ip, l4);
    return place_by(group, now, policy, {hash, 0, false, traffic_class});
  }
  std::size_t place_by(forwarding::HopGroup& group, Time now, forwarding::Policy policy,
                       const forwarding::Flow& flow) {
    return row_of(policy).choose({group, flow, now, selection_, queues_, flowlets_});
  }

  const forwarding::Occupancy& queues_;
  forwarding::EcmpHash ecmp_;
  forwarding::LevelHash level_;
  forwarding::SelectionConfig selection_;
  forwarding::FlowletTable flowlets_;
  bool learns_ = false;
};

}  // namespace tributary::switching
