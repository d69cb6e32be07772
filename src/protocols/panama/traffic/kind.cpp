// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/kind.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "protocols/panama/traffic/feed.h"
#include "protocols/panama/traffic/traffic.h"
#include "traffic/tree_kind.h"

namespace tributary::panama {
namespace {

using traffic::Conditions;
using traffic::Mode;

class PanamaTrafficKind final : public traffic::TreeKind {
 public:
  const char* name() const override { return "panama"; }
  const char* about() const override { return "PANAMA aggregation; every sum is checked"; }

  void declare(CLI::App& app, Mode mode) override;
  void interpret(Conditions& conditions) override;

  double lines(std::size_t ports) const override { return lines_of_trees(plan_, ports); }
  nlohmann::ordered_json settings() const override;
  std::unique_ptr<traffic::Traffic> make(const traffic::Stations& stations,
                                         const traffic::Neighbours& /*neighbours*/,
                                         PacketPool& pool) const override {
    return std::make_unique<PanamaTraffic>(plan_, stations, pool);
  }

  // There is a file for the port of each worker.
  std::size_t files() const override { return plan_.workers; }
  void feed(const traffic::Feed& to) const override { feed_panama(plan_, collectives_, to); }
  std::string switch_settings(const traffic::Stations& stations) const override;

 private:
  TrafficPlan plan_;
  std::uint32_t collectives_ = panama_collectives_min;  // of each job, in files
};

void PanamaTrafficKind::declare(CLI::App& app, Mode mode) {
  declare_trees(app, plan_);
  app.add_option("--trees", plan_.trees, "trees of each job")
      ->check(CLI::Range(1u, 1024u))
      ->capture_default_str();
  plan_.collective = mode == Mode::pcap ? 8 : plan_.collective;
  app.add_option("--collective", plan_.collective, "packets of each tree in a collective")
      ->check(CLI::Range(1u, 1u << 30))
      ->capture_default_str();
  if (mode == Mode::pcap) {
    app.add_option("--collectives", collectives_,
                   "collectives of each job; then the files are over")
        ->check(CLI::Range(panama_collectives_min, 65536u))
        ->capture_default_str();
    return;
  }
  app.add_option("--window", plan_.window,
                 "packets in flight, of each tree, if the switches allow so many")
      ->check(CLI::Range(1u, 65535u))
      ->capture_default_str();
  declare_loop(app, plan_);
}

void PanamaTrafficKind::interpret(Conditions& conditions) {
  plan_.run = conditions.clock_ms;
  interpret_trees(conditions, plan_, plan_.trees, sizeof(Headers) - sizeof(wire::EthernetHeader));
}

nlohmann::ordered_json PanamaTrafficKind::settings() const {
  return {{"workers", plan_.workers},       {"jobs", plan_.jobs},
          {"trees", plan_.trees},           {"window", plan_.window},
          {"collective", plan_.collective}, {"elements", plan_.elements},
          {"kinds", json_of(plan_.kinds)}};
}

std::string PanamaTrafficKind::switch_settings(const traffic::Stations& /*stations*/) const {
  return settings_of_trees(plan_, "switch.panama.tree", plan_.trees, [](std::uint32_t tree) {
    return "tree = " + std::to_string(tree) + "\n";
  });
}

}  // namespace

std::unique_ptr<traffic::TrafficKind> traffic_kind() {
  return std::make_unique<PanamaTrafficKind>();
}

}  // namespace tributary::panama
