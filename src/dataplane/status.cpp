// SPDX-License-Identifier: BSD-3-Clause
// The Dataplane tells this about itself: each core's part, fetched between two of its bursts,
// merged.
#include <algorithm>
#include <fstream>
#include <map>
#include <tuple>
#include <unistd.h>
#include <utility>

#include "dataplane/dataplane.h"
#include "dataplane/merge.h"
#include "forwarding/flow_plan.h"
#include "forwarding/traffic_class.h"

namespace tributary::dataplane {
namespace {

std::uint64_t resident_bytes() {
  std::uint64_t total = 0;
  std::uint64_t resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// Adds what another queue of the port has in its classes, which are the same.
void add_classes(std::vector<control::ClassStatus>& to,
                 const std::vector<forwarding::ClassRow>& classes) {
  to.resize(std::max(to.size(), classes.size()));
  for (std::size_t i = 0; i < classes.size(); ++i) {
    to[i].name = classes[i].name;
    to[i].queue_packets += classes[i].packets;
    to[i].queue_bytes += classes[i].bytes;
    to[i].counters += classes[i].counters;
  }
}

using FdbKey = std::tuple<std::size_t, std::uint16_t, wire::MacAddress>;

bool better(const forwarding::FdbRow& a, const forwarding::FdbRow& b) {
  return std::make_tuple(!a.is_static, a.age) < std::make_tuple(!b.is_static, b.age);
}

}  // namespace

control::Queried<control::DaemonStatus> Dataplane::status() {
  const std::lock_guard lock(mutex_);
  control::DaemonStatus status;
  status.version = version_;
  status.uptime_s = in_seconds(std::chrono::steady_clock::now() - started_);
  status.resident_bytes = resident_bytes();
  status.packets_total = store_->packets_total();
  status.packets_free = store_->packets_free();
  status.idle = config_.idle == control::IdlePolicy::poll ? "poll" : "adaptive";
  status.hugepages = memory_.hugepages;
  const auto asked = on_cores([&](Core& core, Time) { status.cores.push_back(core.status()); });
  if (!asked) {
    return tl::unexpected(asked.error());
  }
  return status;
}

control::Queried<std::vector<control::SwitchStatus>> Dataplane::switches() {
  const std::lock_guard lock(mutex_);
  std::vector<control::SwitchStatus> rows(config_.switches.size());
  // What one core learns it teaches the others, and all have the same routes. So nothing is copied
  // on the packet cores, who must not wait for a big table.
  const auto asked = on_cores([&](Core& core, Time) {
    for (std::size_t s = 0; s < rows.size(); ++s) {
      const auto& share = core.shares()[s];
      rows[s].ledger += share.logical->ledger();
      rows[s].ledger += share.handover;
      const auto sizes = share.logical->table_sizes();
      rows[s].routes = std::max(rows[s].routes, sizes.routes);
      rows[s].fdb_entries = std::max(rows[s].fdb_entries, sizes.fdb);
      rows[s].arp_entries = std::max(rows[s].arp_entries, sizes.arp);
      rows[s].routes6 = std::max(rows[s].routes6, sizes.routes6);
      rows[s].neighbours6 = std::max(rows[s].neighbours6, sizes.neighbours6);
      rows[s].engines.clear();
      for (const auto& view : share.logical->engines()) {
        rows[s].engines.emplace_back(view.name);
      }
    }
  });
  if (!asked) {
    return tl::unexpected(asked.error());
  }
  for (std::size_t s = 0; s < rows.size(); ++s) {
    const auto& config = config_.switches[s].config;
    rows[s].name = config.name;
    rows[s].id = config.id;
    rows[s].address = config.address;
    rows[s].reduction_seed = config.selection.reduction_seed;
    rows[s].ports = config.ports.size();
  }
  return rows;
}

control::Queried<std::vector<control::PortStatus>> Dataplane::ports() {
  const std::lock_guard lock(mutex_);
  std::vector<control::PortStatus> rows(topology_.ports.size());
  sent_told_.resize(rows.size());
  const auto asked = on_cores([&](Core& core, Time) {
    for (const auto& home : core.ports()) {
      auto& row = rows[home.number()];
      row.queue_packets += home.port().queue_packets();
      row.queue_bytes += home.port().queue_bytes();
      if (home.device() != nullptr) {
        row.queue_packets += home.device()->waiting_packets();
        row.queue_bytes += home.device()->waiting_bytes();
      }
      row.charged_bytes = home.port().charged_bytes();
      row.paused |= home.port().paused();
      row.counters += home.counters();
      add_classes(row.classes, home.port().class_rows());
    }
    for (std::size_t number = 0; number < rows.size(); ++number) {
      const auto& place = topology_.ports[number];
      const auto& share = core.shares()[place.switch_index];
      rows[number].dropped +=
          share.logical->dropped_from(place.port) + share.refused_from[place.port];
      const auto here = share.logical->addresses(place.port);
      auto& all = rows[number].addresses;
      all.learned = std::max(all.learned, here.learned);  // the cores teach each other
      all.refused += here.refused;
    }
    for (std::uint32_t s = 0; s < core.shares().size(); ++s) {
      for (const auto& row : core.shares()[s].logical->advertisers()) {
        if (!forwarding::is_on_bridge(row.interface)) {
          rows[topology_.number(s, row.interface)].advertise6 = row;
        }
      }
    }
  });
  if (!asked) {
    return tl::unexpected(asked.error());
  }
  std::vector<forwarding::FlowPlan> plans;
  for (const auto& section : config_.switches) {
    plans.push_back(forwarding::plan_flow_control(section.config.ports));
  }
  for (std::size_t number = 0; number < rows.size(); ++number) {
    const auto& place = topology_.ports[number];
    const auto& section = config_.switches[place.switch_index];
    const auto& port = section.config.ports[place.port];
    auto& row = rows[number];
    row.switch_name = section.config.name;
    row.name = port.name;
    row.index = place.port;
    row.learning = port.learning;
    const auto& classes = port.queue.classes;
    for (std::size_t i = 0; i < std::min(row.classes.size(), classes.size()); ++i) {
      auto& one = row.classes[i];
      one.switch_name = row.switch_name;
      one.port = row.name;
      one.settings = classes[i];
      one.settings.capacity_bytes =
          forwarding::class_capacity(classes[i], classes, port.queue.capacity_bytes);
    }
    row.vlan = port.vlan;
    row.trusts_tags = port.trusts_tags;
    for (const auto core : place.cores) {
      row.cpus.push_back(config_.cores[core]);
    }
    row.cpu = row.cpus.front();
    if (devices_[number]) {
      const auto losses = devices_[number]->losses();
      row.counters.rx_missed += losses.missed;
      take_off_unsent(row.counters, losses.unsent, sent_told_[number]);
    }
    row.device = describe(section.devices[place.port]);
    row.mac = port.mac;
    row.address = port.address;
    row.address6 = port.address6;
    row.mtu = port.mtu;
    row.up = links_[number].applied;
    row.rate_bps = port.queue.rate_bps;
    row.line_bps = port.line_bps;
    row.queue_capacity_bytes = port.queue.capacity_bytes;
    row.flow_control = port.flow.mode;
    const auto& plan = plans[place.switch_index];
    row.limits = plan.active() ? plan.ports[place.port] : forwarding::BufferLimits{};
  }
  return rows;
}

control::Queried<std::vector<control::BfdStatus>> Dataplane::bfd() {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<std::uint32_t, forwarding::BfdRow>> found;
  const auto asked = on_cores([&](Core& core, Time) {
    for (std::uint32_t s = 0; s < core.shares().size(); ++s) {
      for (const auto& row : core.shares()[s].logical->bfd()) {
        found.emplace_back(s, row);
      }
    }
  });
  if (!asked) {
    return tl::unexpected(asked.error());
  }
  std::vector<control::BfdStatus> rows;
  for (const auto& [s, row] : found) {
    rows.push_back({config_.switches[s].config.name, port_name(s, row.interface), row});
  }
  return rows;
}

control::Queried<std::vector<control::FdbStatus>> Dataplane::fdb() {
  const std::lock_guard lock(mutex_);
  std::map<FdbKey, forwarding::FdbRow> merged;
  const auto asked = on_cores([&](Core& core, Time now) {
    for (std::size_t s = 0; s < core.shares().size(); ++s) {
      for (const auto& row : core.shares()[s].logical->fdb(now)) {
        keep_better(merged, FdbKey{s, row.vid, row.mac}, row,
                    [](const auto& a, const auto& b) { return better(a, b); });
      }
    }
  });
  if (!asked) {
    return tl::unexpected(asked.error());
  }
  std::vector<control::FdbStatus> rows;
  for (const auto& [key, row] : merged) {
    const auto s = std::get<std::size_t>(key);
    rows.push_back({config_.switches[s].config.name, row.mac,
                    port_name(static_cast<std::uint32_t>(s), row.port), row.is_static,
                    in_seconds(row.age), row.vid});
  }
  return rows;
}

}  // namespace tributary::dataplane
