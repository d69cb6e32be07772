// SPDX-License-Identifier: BSD-3-Clause
// The Dataplane tells this about VLANs, neighbours and routes, as in status.cpp.
#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include "dataplane/dataplane.h"
#include "dataplane/merge.h"

namespace tributary::dataplane {
namespace {

const char* text(forwarding::NeighbourState state) {
  switch (state) {
    case forwarding::NeighbourState::fixed:
      return "static";
    case forwarding::NeighbourState::reachable:
      return "reachable";
    case forwarding::NeighbourState::resolving:
      break;
  }
  return "resolving";
}

// An address that is link-local may be there several times, once on each link.
PortIndex link_of(const forwarding::ArpRow&) {
  return no_port;
}
PortIndex link_of(const forwarding::NeighbourRow6& row) {
  return row.address.is_link_local() ? row.interface : no_port;
}

template <class Row>
void keep_least_shares(Row& route, const Row& of_others) {
  for (std::size_t hop = 0; hop < route.next_hops.size(); ++hop) {
    auto& share = route.next_hops[hop].share;
    share = std::min(share, of_others.next_hops[hop].share);
  }
}

}  // namespace

control::Queried<std::vector<control::VlanStatus>> Dataplane::vlans() {
  const std::lock_guard lock(mutex_);
  std::map<std::pair<std::uint32_t, PortIndex>, forwarding::VlanRow> merged;
  std::map<std::pair<std::uint32_t, PortIndex>, forwarding::AdvertiserRow> advertisers;
  const auto asked = on_cores([&](Core& core, Time) {
    for (std::uint32_t s = 0; s < core.shares().size(); ++s) {
      for (const auto& row : core.shares()[s].logical->vlans()) {
        auto& all = merged[{s, row.interface}];
        const auto before = all.counters;
        all = row;
        all.counters += before;
      }
      for (const auto& row : core.shares()[s].logical->advertisers()) {
        advertisers[{s, row.interface}] = row;
      }
    }
  });
  if (!asked) {
    return tl::unexpected(asked.error());
  }
  std::vector<control::VlanStatus> rows;
  for (const auto& [key, row] : merged) {
    if (row.address || row.address6) {
      const auto& [s, interface] = key;
      const auto advertiser = advertisers.find(key);
      rows.push_back(
          {config_.switches[s].config.name, row.vid, port_name(s, interface), row.address,
           row.address6,
           advertiser == advertisers.end() ? std::nullopt : std::optional(advertiser->second),
           row.counters});
    }
  }
  return rows;
}

template <class Status, class Row>
control::Queried<std::vector<Status>> Dataplane::neighbours_by(
    std::vector<Row> (switching::Switch::*known)(Time) const) {
  const std::lock_guard lock(mutex_);
  using Key = std::tuple<std::uint32_t, decltype(Row::address), PortIndex>;
  std::map<Key, Row> merged;
  const auto asked = on_cores([&](Core& core, Time now) {
    for (std::uint32_t s = 0; s < core.shares().size(); ++s) {
      for (const auto& row : (*core.shares()[s].logical.*known)(now)) {
        keep_better(merged, Key{s, row.address, link_of(row)}, row, [](const Row& a, const Row& b) {
          return std::tie(a.state, a.age) < std::tie(b.state, b.age);
        });
      }
    }
  });
  if (!asked) {
    return tl::unexpected(asked.error());
  }
  std::vector<Status> rows;
  for (const auto& [key, row] : merged) {
    const auto s = std::get<0>(key);
    rows.push_back({config_.switches[s].config.name, row.address, row.mac,
                    port_name(s, row.interface), text(row.state), in_seconds(row.age)});
  }
  return rows;
}

control::Queried<std::vector<control::ArpStatus>> Dataplane::arp() {
  return neighbours_by<control::ArpStatus>(&switching::Switch::arp);
}

control::Queried<std::vector<control::NeighbourStatus6>> Dataplane::neighbours6() {
  return neighbours_by<control::NeighbourStatus6>(&switching::Switch::neighbours6);
}

// All cores have the same routes, and each its own counters and shares; the least shares are told.
template <class Status, class Row>
control::Queried<std::vector<Status>> Dataplane::routes_by(
    std::vector<Row> (switching::Switch::*of)() const) {
  const std::lock_guard lock(mutex_);
  std::vector<std::vector<Row>> tables(config_.switches.size());
  const auto asked = on_cores([&](Core& core, Time) {
    for (std::size_t s = 0; s < tables.size(); ++s) {
      auto table = (*core.shares()[s].logical.*of)();
      for (std::size_t i = 0; i < std::min(table.size(), tables[s].size()); ++i) {
        table[i].counters += tables[s][i].counters;
        keep_least_shares(table[i], tables[s][i]);
      }
      tables[s] = std::move(table);
    }
  });
  if (!asked) {
    return tl::unexpected(asked.error());
  }
  std::vector<Status> rows;
  for (std::uint32_t s = 0; s < tables.size(); ++s) {
    for (const auto& route : tables[s]) {
      Status row{config_.switches[s].config.name,
                 route.prefix,
                 route.connected,
                 {},
                 route.policies,
                 route.counters};
      for (const auto& hop : route.next_hops) {
        row.next_hops.push_back({hop.via, port_name(s, hop.interface), hop.up, hop.share});
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

control::Queried<std::vector<control::RouteStatus>> Dataplane::routes() {
  return routes_by<control::RouteStatus>(&switching::Switch::routes);
}

control::Queried<std::vector<control::RouteStatus6>> Dataplane::routes6() {
  return routes_by<control::RouteStatus6>(&switching::Switch::routes6);
}

}  // namespace tributary::dataplane
