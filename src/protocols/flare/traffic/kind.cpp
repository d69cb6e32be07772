// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/kind.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "protocols/flare/traffic/feed.h"
#include "protocols/flare/traffic/traffic.h"
#include "traffic/tree_kind.h"

namespace tributary::flare {
namespace {

using traffic::Conditions;
using traffic::Mode;

class FlareTrafficKind final : public traffic::TreeKind {
 public:
  const char* name() const override { return "flare"; }
  const char* about() const override { return "Flare aggregation; every sum is checked"; }
  std::optional<traffic::UdpPorts> udp_ports() const override {
    return traffic::UdpPorts{"Flare", wire::flare_udp_port, wire::flare_udp_port};
  }

  void declare(CLI::App& app, Mode mode) override;
  void interpret(Conditions& conditions) override;

  std::size_t senders(std::size_t ports) const override { return ports_with_workers(plan_, ports); }
  nlohmann::ordered_json settings() const override;
  std::unique_ptr<traffic::Traffic> make(const traffic::Stations& stations,
                                         const traffic::Neighbours& /*neighbours*/,
                                         PacketPool& pool) const override {
    return std::make_unique<FlareTraffic>(plan_, stations, pool);
  }

  // Of a port each.
  std::size_t files() const override { return plan_.workers; }
  void feed(const traffic::Stations& stations, PacketPool& pool,
            const traffic::FileSink& sink) const override {
    feed_flare(plan_, stations, pool, runs_, blocks_, sink);
  }
  std::string switch_settings(const traffic::Stations& stations) const override;

 private:
  void declare_pcap(CLI::App& app);

  traffic::TreePlan plan_;
  // In files.
  std::uint32_t runs_ = flare_runs_min;
  std::uint32_t blocks_ = 32;
};

void FlareTrafficKind::declare(CLI::App& app, Mode mode) {
  declare_trees(app, plan_);
  app.add_option("--window", plan_.window, "blocks of each job in flight, as the trees have it")
      ->check(CLI::Range(1u, wire::flare_window_max))
      ->capture_default_str();
  if (mode == Mode::pcap) {
    declare_pcap(app);
  } else {
    declare_loop(app, plan_);
  }
}

void FlareTrafficKind::declare_pcap(CLI::App& app) {
  app.add_option("--runs", runs_, "of each job; then the files are over")
      ->check(CLI::Range(flare_runs_min, 65536u))
      ->capture_default_str();
  app.add_option("--blocks", blocks_, "of each job in each run")
      ->check(CLI::Range(1u, 65536u))
      ->capture_default_str();
}

void FlareTrafficKind::interpret(Conditions& conditions) {
  plan_.run = conditions.clock_ms;
  interpret_trees(conditions, plan_, 1, sizeof(Headers) - sizeof(wire::EthernetHeader));
}

nlohmann::ordered_json FlareTrafficKind::settings() const {
  return {{"workers", plan_.workers},
          {"jobs", plan_.jobs},
          {"window", plan_.window},
          {"elements", plan_.elements},
          {"kinds", json_of(plan_.kinds)}};
}

std::string FlareTrafficKind::switch_settings(const traffic::Stations& /*stations*/) const {
  return settings_of_trees(plan_, "switch.flare.tree", 1, [this](std::uint32_t /*tree*/) {
    return "window = " + std::to_string(plan_.window) + "\n";
  });
}

}  // namespace

std::unique_ptr<traffic::TrafficKind> traffic_kind() {
  return std::make_unique<FlareTrafficKind>();
}

}  // namespace tributary::flare
