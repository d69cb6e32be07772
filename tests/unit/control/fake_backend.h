// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "control/backend.h"

namespace tributary::control {

// A data plane that answers with given values, and records its calls.
class FakeBackend final : public Backend {
 public:
  FakeBackend() {
    SwitchSection& section = running.switches.emplace_back();
    section.config.name = "leaf1";
    section.config.id = 1;
    section.config.ports.emplace_back().name = "h1";
    section.devices.emplace_back(InterfaceDevice{"veth-h1"});
  }

  void set_core_patience(std::chrono::milliseconds patience) override { core_patience = patience; }
  Queried<DaemonStatus> status() override {
    core_patience_of_status = core_patience;
    DaemonStatus status;
    status.version = "0.1.0";
    status.uptime_s = 1.5;
    status.resident_bytes = 64 << 20;
    status.idle = "adaptive";
    status.cores = {
        {.cpu = 3, .loops = 10, .busy_loops = 4, .handover_full = 3, .handover_lost = 2}};
    return known(status);
  }
  Queried<std::vector<SwitchStatus>> switches() override {
    SwitchStatus status;
    status.name = "leaf1";
    status.id = 1;
    status.address = wire::Ipv4Address(10, 1, 255, 1);
    status.ports = 1;
    status.engines = {"canary"};
    status.ledger.received = 10;
    status.ledger.forwarded = 6;
    status.ledger.absorbed = 3;
    status.ledger.drop(DropReason::no_route);
    std::vector<SwitchStatus> rows;
    const auto config = with_seeds(running, running, given_seeds);
    for (const auto& section : config.switches) {
      status.name = section.config.name;
      status.reduction_seed = section.config.selection.reduction_seed;
      rows.push_back(status);
    }
    return known(rows);
  }
  Queried<std::vector<PortStatus>> ports() override {
    PortStatus status;
    status.device = "af_packet veth-h1";
    status.address = forwarding::InterfaceAddress{wire::Ipv4Address(10, 1, 1, 1), 24};
    status.mtu = 1500;
    status.up = port_up;
    status.counters.rx_packets = 10;
    status.counters.queue_tail_dropped = 5;
    status.counters.paused_ns = 1'500'000'000;
    status.counters.tx_device_dropped = lost;
    status.counters.rx_missed = lost;
    lost += lost_between_questions;
    std::vector<PortStatus> rows;
    for (const auto& section : running.switches) {
      status.switch_name = section.config.name;
      for (const auto& port : section.config.ports) {
        status.name = port.name;
        status.vlan = port.vlan;
        status.flow_control = port.flow.mode;
        status.limits = limits;
        status.classes = classes;
        rows.push_back(status);
      }
    }
    return known(rows);
  }
  Queried<std::vector<RouteStatus>> routes() override {
    const wire::Ipv4Address hop(10, 100, 1, 2);
    const RouteStatus row{"leaf1",
                          {wire::Ipv4Address(10, 2, 0, 0), 16},
                          false,
                          {{hop, "h1", true, 0.25}, {hop, "h2", true}},
                          {forwarding::Policy::ecmp, forwarding::Policy::adaptive},
                          {3, 0, 0}};
    return known(std::vector{row});
  }
  Queried<std::vector<BfdStatus>> bfd() override {
    BfdStatus status{"leaf1", "h1", {}};
    status.row.neighbour = wire::Ipv4Address(10, 100, 1, 2);
    status.row.alive = true;
    status.row.state = wire::BfdState::up;
    status.row.remote_state = wire::BfdState::admin_down;
    status.row.diagnostic = wire::BfdDiagnostic::administratively_down;
    status.row.discriminator = 11;
    status.row.remote_discriminator = 22;
    status.row.transmit_interval = std::chrono::milliseconds(100);
    status.row.detection_time = std::chrono::milliseconds(300);
    status.row.received = 5;
    status.row.sent = 6;
    status.row.failures = 1;
    return known(std::vector{status});
  }
  Queried<std::vector<FdbStatus>> fdb() override {
    FdbStatus entry{"leaf1", {{2, 0, 0, 0, 0, 1}}, "h1", false, 0.5, fdb_vlan};
    return known(std::vector<FdbStatus>(fdb_entries, entry));
  }
  Queried<std::vector<VlanStatus>> vlans() override {
    const VlanStatus row{
        "leaf1",         20,
        "vlan20",        forwarding::InterfaceAddress{wire::Ipv4Address(10, 0, 20, 254), 24},
        std::nullopt,    forwarding::AdvertiserRow{0, 3, 4},
        {1, 100, 2, 200}};
    return known(std::vector{row});
  }
  Queried<std::vector<ArpStatus>> arp() override {
    const ArpStatus row{
        "leaf1", wire::Ipv4Address(10, 1, 1, 2), {{2, 0, 0, 0, 0, 2}}, "h1", "reachable", 3};
    return known(std::vector{row});
  }
  Queried<std::vector<RouteStatus6>> routes6() override {
    const auto hop = wire::IpAddress::of_halves(0x20010db800010000, 2);
    return known(std::vector{RouteStatus6{"leaf1", {}, false, {{hop, "h1", true}}}});
  }
  Queried<std::vector<NeighbourStatus6>> neighbours6() override {
    const NeighbourStatus6 row{"leaf1",
                               wire::IpAddress::of_halves(0x20010db800010000, 2),
                               {{2, 0, 0, 0, 0, 2}},
                               "h1",
                               "reachable",
                               3};
    return known(std::vector{row});
  }
  Queried<std::vector<EngineStatus>> engines() override {
    return known(std::vector{EngineStatus{"leaf1", "canary", {{"collisions_total", 7}}}});
  }
  Queried<std::vector<JobRow>> jobs() override { return known(job_rows); }
  Queried<std::vector<DescriptorRow>> descriptors(std::size_t limit) override {
    descriptor_limit = limit;
    engine::DescriptorStatus descriptor;
    descriptor.job = 9;
    descriptor.id = 42;
    descriptor.counter = 3;
    descriptor.hosts = 8;
    descriptor.age = std::chrono::milliseconds(2);
    descriptor.leader = wire::Ipv4Address(10, 2, 1, 2);
    descriptor.children = {0};
    return known(std::vector{DescriptorRow{"leaf1", "canary", descriptor}});
  }

  Queried<std::vector<StallRow>> stalled(std::size_t limit) override {
    auto rows = stalls;
    rows.resize(std::min(limit, rows.size()));
    return known(rows);
  }

  Queried<std::vector<TreeRow>> tree_states() override { return known(states); }

  const DaemonConfig& config() const override { return running; }
  const RuntimeTrees& trees() const override { return installed; }
  Outcome set_trees(const RuntimeTrees& next) override {
    if (!trees_refused.empty()) {
      return tl::unexpected(trees_refused);
    }
    installed = next;
    ++tree_changes;
    return {};
  }
  const RuntimeSeeds& seeds() const override { return given_seeds; }
  Outcome set_seeds(const RuntimeSeeds& next) override {
    if (!seeds_refused.empty()) {
      return tl::unexpected(seeds_refused);
    }
    given_seeds = next;
    ++seed_changes;
    return {};
  }
  tl::expected<std::vector<ConfigChange>, std::string> check_reload(
      const DaemonConfig& next) override {
    if (!reload_refused.empty()) {
      return tl::unexpected(reload_refused);
    }
    return loader.check(next.handlers);
  }
  tl::expected<LateCpus, std::string> reload(const DaemonConfig& next) override {
    running = next;
    ++reloads;
    return late_cpus;
  }
  std::vector<HandlerRow> handlers() override { return loader.list(); }
  Outcome load_handler(const HandlerConfig& wanted) override { return loader.load(wanted); }
  Outcome unload_handler(unsigned number) override { return loader.unload(number); }
  Outcome set_port(const std::string& switch_name, const std::string& port, bool up) override {
    if (switch_name != "leaf1" || port != "h1") {
      return tl::unexpected("no port `" + switch_name + ":" + port + "`");
    }
    port_up = up;
    return core_late.empty() ? Outcome{} : tl::unexpected(core_late);
  }
  void shutdown() override { ++shutdowns; }

  static StallRow stall(std::uint32_t block, std::vector<std::uint16_t> missing, Duration waiting) {
    StallRow row{"leaf1", "canary", {}, {}};
    row.stall.job = 9;
    row.stall.block = block;
    row.stall.contributions = 6;
    row.stall.hosts = 8;
    row.stall.waiting = waiting;
    row.stall.leader = wire::Ipv4Address(10, 2, 1, 2);
    row.stall.missing = std::move(missing);
    return row;
  }

  std::vector<StallRow> stalls = {stall(42, {3, 5}, std::chrono::milliseconds(1200))};
  std::vector<TreeRow> states;
  DaemonConfig running;
  std::vector<JobRow> job_rows{{"leaf1", "canary", {9, 70, 10, 1}}};
  std::size_t fdb_entries = 1;
  std::uint16_t fdb_vlan = 0;
  std::size_t descriptor_limit = 0;
  std::uint64_t lost = 0;
  std::uint64_t lost_between_questions = 0;
  bool port_up = true;
  forwarding::BufferLimits limits;
  std::vector<ClassStatus> classes;
  RuntimeTrees installed;
  std::string trees_refused;  // why set_trees() fails; empty: it does not
  RuntimeSeeds given_seeds;
  std::string seeds_refused;   // why set_seeds() fails; likewise
  std::string reload_refused;  // why reload() would fail; likewise
  LateCpus late_cpus;          // after a reload
  std::chrono::milliseconds core_patience = core_patience_default;
  std::chrono::milliseconds core_patience_of_status{};
  std::string core_late;  // why the state is unknown; empty: all cores answer
  HandlerLoader loader{{}, [this] { return known(0).map([](int) {}); }};
  int tree_changes = 0;
  int seed_changes = 0;
  int reloads = 0;
  int shutdowns = 0;

 private:
  template <class Value>
  Queried<Value> known(Value value) const {
    if (!core_late.empty()) {
      return tl::unexpected(core_late);
    }
    return value;
  }
};

}  // namespace tributary::control
