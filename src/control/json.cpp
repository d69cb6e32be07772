// SPDX-License-Identifier: BSD-3-Clause
#include "control/json.h"

#include "control/text.h"
#include "protocols/engines.h"

namespace tributary::control {
namespace {

using nlohmann::json;

constexpr const char* bfd_state_names[] = {"admin-down", "down", "init", "up"};

template <class Address>
json optional_address(const std::optional<Address>& address) {
  return address ? json(to_string(*address)) : json(nullptr);
}

// Writes next hops of either version of IP.
template <class Hop>
json hops_json(const std::vector<Hop>& all) {
  json hops = json::array();
  for (const auto& hop : all) {
    hops.push_back(
        {{"address", hop.address.is_unspecified() ? json(nullptr) : json(to_string(hop.address))},
         {"port", hop.port},
         {"up", hop.up},
         {"share", hop.share}});
  }
  return hops;
}

template <class Status>
json route_json(const Status& status) {
  return {{"switch", status.switch_name},
          {"prefix", to_string(status.prefix)},
          {"connected", status.connected},
          {"next_hops", hops_json(status.next_hops)},
          {"selection",
           {{"ordinary", name(status.policies.ordinary)},
            {"reduction", name(status.policies.reduction)},
            {"evaded_packets_total", status.selection.evaded},
            {"flowlets_total", status.selection.flowlets},
            {"flowlets_moved_total", status.selection.flowlets_moved}}}};
}

template <class Status>
json neighbour_json(const Status& status) {
  return {{"switch", status.switch_name},
          {"address", to_string(status.address)},
          {"mac", status.mac.is_zero() ? json(nullptr) : json(to_string(status.mac))},
          {"port", status.port},
          {"state", status.state},
          {"age_seconds", status.age_s}};
}

json advertiser_json(const std::optional<forwarding::AdvertiserRow>& row) {
  return row ? json{{"advertisements_total", row->advertisements},
                    {"solicitations_total", row->solicitations}}
             : json(nullptr);
}

json to_json(const CoreStatus& core) {
  return {{"cpu", core.cpu},
          {"loops_total", core.loops},
          {"busy_loops_total", core.busy_loops},
          {"sleeps_total", core.sleeps},
          {"handed_over_packets_total", core.handed_over},
          {"handover_full_packets_total", core.handover_full}};
}

json to_json(const forwarding::PortCounters& counters) {
  json figures = json::object();
  for (const auto& figure : forwarding::port_figures) {
    const auto count = counters.*figure.member;
    figures[std::string(figure.name)] =
        figure.is_time ? json(in_seconds(std::chrono::nanoseconds(count))) : json(count);
  }
  return figures;
}

// An engine without leaders has zero here.
json leader_or_null(wire::Ipv4Address leader) {
  return leader == wire::Ipv4Address{} ? json(nullptr) : json(to_string(leader));
}

json priorities_json(forwarding::Priorities priorities) {
  json list = json::array();
  for (std::size_t priority = 0; priority < wire::priority_classes; ++priority) {
    if (priorities.has(priority)) {
      list.push_back(priority);
    }
  }
  return list;
}

json thresholds_json(const forwarding::BufferLimits& limits) {
  if (limits.mode == forwarding::FlowControl::off) {
    return nullptr;
  }
  json row = {{"xoff_bytes", limits.xoff},
              {"xon_bytes", limits.xon},
              {"headroom_bytes", limits.headroom},
              {"pfc_priorities", nullptr}};
  if (limits.mode == forwarding::FlowControl::pfc) {
    row["pfc_priorities"] = priorities_json(limits.classes);
    row["priority_xoff_bytes"] = limits.class_xoff;
    row["priority_xon_bytes"] = limits.class_xon;
  }
  return row;
}

// A class that goes by no codepoint has null here.
json codepoints_json(const std::vector<forwarding::Codepoint>& codepoints) {
  json list = json::array();
  for (const auto codepoint : codepoints) {
    list.push_back(to_string(codepoint));
  }
  return codepoints.empty() ? json(nullptr) : list;
}

json port_list(const std::vector<PortIndex>& ports) {
  json list = json::array();
  for (const PortIndex port : ports) {
    list.push_back(port);
  }
  return list;
}

}  // namespace

json to_json(const Ledger& ledger) {
  return {{"received_packets_total", ledger.received},
          {"forwarded_packets_total", ledger.forwarded},
          {"absorbed_packets_total", ledger.absorbed},
          {"dropped_packets_total", ledger.dropped()},
          {"originated_packets_total", ledger.originated},
          {"sent_packets_total", ledger.sent},
          {"lost_packets_total", ledger.lost()},
          {"balanced", ledger.balanced()}};
}

json to_json(const DaemonStatus& status) {
  json cores = json::array();
  for (const CoreStatus& core : status.cores) {
    cores.push_back(to_json(core));
  }
  return {{"version", status.version},
          {"uptime_seconds", status.uptime_s},
          {"resident_bytes", status.resident_bytes},
          {"packet_buffers", status.packets_total},
          {"packet_buffers_free", status.packets_free},
          {"idle", status.idle},
          {"hugepages", status.hugepages},
          {"cores", std::move(cores)}};
}

json to_json(const SwitchStatus& status) {
  return {{"switch", status.name},
          {"id", status.id},
          {"address",
           status.address.is_unspecified() ? json(nullptr) : json(to_string(status.address))},
          {"ports", status.ports},
          {"routes", status.routes},
          {"fdb_entries", status.fdb_entries},
          {"arp_entries", status.arp_entries},
          {"routes6", status.routes6},
          {"neighbours6", status.neighbours6},
          {"reduction_seed", status.reduction_seed},
          {"engines", status.engines},
          {"ledger", to_json(status.ledger)}};
}

json to_json(const PortStatus& status) {
  return {
      {"switch", status.switch_name},
      {"port", status.name},
      {"index", status.index},
      {"device", status.device},
      {"mac", to_string(status.mac)},
      {"address", optional_address(status.address)},
      {"address6", optional_address(status.address6)},
      {"advertise6", advertiser_json(status.advertise6)},
      {"mtu_bytes", status.mtu},
      {"up", status.up},
      {"cpu", status.cpu},
      {"cpus", status.cpus},
      {"rate_bits_per_second", status.rate_bps},
      {"line_bits_per_second", status.line_bps},
      {"queue_packets", status.queue_packets},
      {"queue_bytes", status.queue_bytes},
      {"queue_capacity_bytes", status.queue_capacity_bytes},
      {"learn", status.learning.on ? "on" : "off"},
      {"addresses_max",
       status.learning.addresses_max ? json(*status.learning.addresses_max) : json(nullptr)},
      {"addresses", status.addresses.learned},
      {"addresses_refused_packets_total", status.addresses.refused},
      {"dropped_packets_total", status.dropped},
      {"vlan", status.vlan.untagged != 0 ? json(status.vlan.untagged) : json(nullptr)},
      {"vlans", status.vlan.tagged.empty() ? json(nullptr) : json(to_string(status.vlan.tagged))},
      {"trust", status.trusts_tags ? "pcp" : "dscp"},
      {"flow_control", name(status.flow_control)},
      {"thresholds", thresholds_json(status.limits)},
      {"charged_bytes", status.charged_bytes},
      {"paused", status.paused},
      {"counters", to_json(status.counters)}};
}

json to_json(const ClassStatus& status) {
  const auto& settings = status.settings;
  json row = {
      {"switch", status.switch_name},
      {"port", status.port},
      {"class", status.name},
      {"dscp", codepoints_json(settings.codepoints)},
      {"pcp", settings.pcp ? priorities_json(*settings.pcp) : json(nullptr)},
      {"service", settings.strict ? "strict" : "weighted"},
      {"weight", settings.strict ? json(nullptr) : json(settings.weight)},
      {"rate_bits_per_second", settings.rate_bps},
      {"queue_capacity_bytes", settings.capacity_bytes},
      {"ecn_threshold_packets", settings.ecn_threshold_packets},
      {"ecn_ramp_packets", settings.ecn_ramp_packets},
      {"pfc_priority", settings.pfc_priority ? json(*settings.pfc_priority) : json(nullptr)},
      {"queue_packets", status.queue_packets},
      {"queue_bytes", status.queue_bytes}};
  for (const auto& figure : forwarding::class_figures) {
    row[std::string(figure.name)] = status.counters.*figure.member;
  }
  return row;
}

json to_json(const RouteStatus& status) {
  return route_json(status);
}

json to_json(const BfdStatus& status) {
  const auto& row = status.row;
  return {{"switch", status.switch_name},
          {"port", status.port},
          {"neighbour", to_string(row.neighbour)},
          {"alive", row.alive},
          {"state", bfd_state_names[static_cast<std::size_t>(row.state)]},
          {"remote_state", bfd_state_names[static_cast<std::size_t>(row.remote_state)]},
          {"diagnostic", static_cast<unsigned>(row.diagnostic)},
          {"discriminator", row.discriminator},
          {"remote_discriminator", row.remote_discriminator},
          {"transmit_interval_seconds", in_seconds(row.transmit_interval)},
          {"detection_time_seconds", in_seconds(row.detection_time)},
          {"received_packets_total", row.received},
          {"sent_packets_total", row.sent},
          {"failures_total", row.failures}};
}

json to_json(const FdbStatus& status) {
  return {{"switch", status.switch_name},
          {"mac", to_string(status.mac)},
          {"vlan", status.vlan != 0 ? json(status.vlan) : json(nullptr)},
          {"port", status.port},
          {"static", status.is_static},
          {"age_seconds", status.age_s}};
}

json to_json(const VlanStatus& status) {
  const auto& counters = status.counters;
  return {{"switch", status.switch_name},
          {"vlan", status.vlan != 0 ? json(status.vlan) : json(nullptr)},
          {"interface", status.interface},
          {"address", optional_address(status.address)},
          {"address6", optional_address(status.address6)},
          {"advertise6", advertiser_json(status.advertise6)},
          {"rx_packets_total", counters.rx_packets},
          {"rx_bytes_total", counters.rx_bytes},
          {"tx_packets_total", counters.tx_packets},
          {"tx_bytes_total", counters.tx_bytes}};
}

json to_json(const ArpStatus& status) {
  return neighbour_json(status);
}

json to_json(const RouteStatus6& status) {
  return route_json(status);
}

json to_json(const NeighbourStatus6& status) {
  return neighbour_json(status);
}

json to_json(const EngineStatus& status) {
  json figures = json::object();
  for (const auto& [name, value] : status.figures) {
    figures[name] = value;
  }
  return {
      {"switch", status.switch_name}, {"engine", status.engine}, {"figures", std::move(figures)}};
}

json to_json(const JobRow& row) {
  return {{"switch", row.switch_name},
          {"engine", row.engine},
          {"job", row.job.job},
          {"contributions_total", row.job.contributions},
          {"results_total", row.job.results},
          {"bypassed_total", row.job.bypassed},
          {"descriptors", row.job.descriptors},
          {"descriptors_high_water", row.job.descriptors_high_water},
          {"timeout_seconds",
           row.job.timeout == Duration{} ? json(nullptr) : json(in_seconds(row.job.timeout))}};
}

json to_json(const DescriptorRow& row) {
  const auto& d = row.descriptor;
  return {{"switch", row.switch_name},
          {"engine", row.engine},
          {"job", d.job},
          {"id", d.id},
          {"sparse", d.sparse},
          {"counter", d.counter},
          {"hosts", d.hosts},
          {"sent", d.sent},
          {"age_seconds", in_seconds(d.age)},
          {"leader", leader_or_null(d.leader)},
          {"children_ports", port_list(d.children)}};
}

json to_json(const StallRow& row) {
  const auto& s = row.stall;
  return {{"switch", row.switch_name},
          {"engine", row.engine},
          {"job", s.job},
          {"block", s.block},
          {"sparse", s.sparse},
          {"attempt", s.attempt},
          {"leader", leader_or_null(s.leader)},
          {"waiting_seconds", in_seconds(s.waiting)},
          {"contributions", s.contributions},
          {"hosts", s.hosts},
          {"missing_ranks", s.missing.empty() ? json(nullptr) : json(s.missing)},
          {"missing_ports", row.missing_ports.empty() ? json(nullptr) : json(row.missing_ports)}};
}

json to_json(const ConfigChange& change) {
  return {{"setting", change.setting},
          {"before", change.before.empty() ? json(nullptr) : json(change.before)},
          {"after", change.after.empty() ? json(nullptr) : json(change.after)},
          {"needs_restart", change.restart},
          {"line", to_string(change)}};
}

json to_json(const ConfigErrors& errors) {
  json list = json::array();
  for (const ConfigError& error : errors) {
    list.push_back({{"file", error.file},
                    {"line", error.line},
                    {"column", error.column},
                    {"message", error.message},
                    {"hint", error.hint}});
  }
  return list;
}

json drop_rows(const std::vector<SwitchStatus>& switches, const std::vector<PortStatus>& ports,
               const std::vector<CoreStatus>& cores) {
  json rows = json::array();
  const auto add = [&](const char* scope, const std::string& where, std::string_view reason,
                       std::uint64_t packets) {
    rows.push_back(
        {{"scope", scope}, {"where", where}, {"reason", reason}, {"packets_total", packets}});
  };
  const auto reasons = protocols::drop_reasons();
  for (const SwitchStatus& sw : switches) {
    for (const auto& [reason, name] : reasons) {
      add("received", sw.name, name, sw.ledger.dropped(reason));
    }
    for (const auto& [reason, name] : reasons) {
      add("originated", sw.name, name, sw.ledger.lost(reason));
    }
  }
  for (const PortStatus& port : ports) {
    const std::string where = port.switch_name + ":" + port.name;
    for (const auto& figure : forwarding::port_figures) {
      if (!figure.drop_reason.empty()) {
        add("port", where, figure.drop_reason, port.counters.*figure.member);
      }
    }
  }
  for (const CoreStatus& core : cores) {
    add("core", "cpu " + std::to_string(core.cpu), "handover_full", core.handover_lost);
  }
  return rows;
}

}  // namespace tributary::control
