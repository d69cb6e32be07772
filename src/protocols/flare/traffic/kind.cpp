// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/kind.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "control/config.h"
#include "protocols/flare/engine/headers.h"
#include "protocols/flare/traffic/feed.h"
#include "protocols/flare/traffic/sparse_plan.h"
#include "protocols/flare/traffic/sparse_traffic.h"
#include "protocols/flare/traffic/traffic.h"
#include "traffic/option_text.h"
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

  double lines(std::size_t ports) const override { return lines_of_trees(plan_, ports); }
  nlohmann::ordered_json settings() const override;
  std::unique_ptr<traffic::Traffic> make(const traffic::Stations& stations,
                                         const traffic::Neighbours& /*neighbours*/,
                                         PacketPool& pool) const override {
    if (density_) {
      return std::make_unique<FlareSparseTraffic>(plan_, sparse_, stations, pool);
    }
    return std::make_unique<FlareTraffic>(plan_, stations, pool);
  }

  // There is a file for each port and each core of the switch.
  std::size_t files() const override { return std::size_t{plan_.workers} * series_.cores; }
  void feed(const traffic::Feed& to) const override {
    if (density_) {
      return feed_flare_sparse(plan_, sparse_, series_, to);
    }
    feed_flare(plan_, series_, to);
  }
  std::string switch_settings(const traffic::Stations& stations) const override;

 private:
  void declare_pcap(CLI::App& app);
  void declare_sparse(CLI::App& app);
  void interpret_sparse(Conditions& conditions);
  std::uint32_t pairs_max() const;

  traffic::TreePlan plan_;
  std::optional<double> density_;  // none: blocks are dense
  std::optional<std::uint32_t> shards_;
  std::optional<std::uint32_t> pairs_;
  SparsePlan sparse_;
  FlareSeries series_;  // in files
};

void FlareTrafficKind::declare(CLI::App& app, Mode mode) {
  declare_trees(app, plan_);
  app.add_option("--window", plan_.window,
                 "blocks of each job in flight, as the trees have it: window, of sparse blocks "
                 "sparse_window")
      ->check(CLI::Range(1u, wire::flare_window_max))
      ->capture_default_str();
  declare_sparse(app);
  if (mode == Mode::pcap) {
    declare_pcap(app);
  } else {
    declare_loop(app, plan_);
  }
}

void FlareTrafficKind::declare_pcap(CLI::App& app) {
  app.add_option("--runs", series_.runs, "runs of each job; then the files are over")
      ->check(CLI::Range(flare_runs_min, 65536u))
      ->capture_default_str();
  app.add_option("--blocks", series_.blocks, "blocks of each job in each run")
      ->check(CLI::Range(1u, 65536u))
      ->capture_default_str();
  app.add_option(
         "--cores", series_.cores,
         "packet cores of the switch: as many files are written for each worker, those of the "
         "first one first, each with blocks that one core owns")
      ->check(CLI::Range(1u, unsigned{control::queues_max}))
      ->capture_default_str();
}

void FlareTrafficKind::declare_sparse(CLI::App& app) {
  app.add_option("--density", density_,
                 "share of a block's elements, which each worker brings as pairs of a place and a "
                 "value, as in 0.01")
      ->check(CLI::Range(1e-5, 1.0))
      ->default_str("blocks are dense");
  app.add_option("--shards", shards_, "packets of each contribution to a sparse block")
      ->check(CLI::Range(std::size_t{1}, wire::flare_runs_max))
      ->default_str("1");
  app.add_option("--pairs", pairs_, "pairs in each of these")
      ->check(CLI::Range(1, 9000))
      ->default_str("as many as fit");
}

void FlareTrafficKind::interpret(Conditions& conditions) {
  plan_.run = conditions.clock_ms;
  if (density_) {
    return interpret_sparse(conditions);
  }
  if (shards_ || pairs_) {
    traffic::refuse(shards_ ? "--shards" : "--pairs", "is of sparse blocks; give --density, too");
  }
  interpret_trees(conditions, plan_, 1, sizeof(Headers) - sizeof(wire::EthernetHeader));
}

// Packets are as long as the MTU allows where runs take less than pairs, as workers' are.
void FlareTrafficKind::interpret_sparse(Conditions& conditions) {
  constexpr auto headers = sizeof(SparseHeaders) - sizeof(wire::EthernetHeader);
  if (std::isnan(*density_)) {  // which CLI::Range lets pass
    traffic::refuse("--density", "is not a number");
  }
  plan_.elements = 1;  // of dense blocks, of which there are none
  interpret_trees(conditions, plan_, 1, headers);
  for (const auto& kind : plan_.kinds) {
    if (!wire::is_flare_sparse_type(kind.type) || kind.op != wire::Operator::sum) {
      traffic::refuse(kind.op == wire::Operator::sum ? "--type" : "--op",
                      "sparse blocks are sums of f32, f64, f16, bf16, i8, i16, i32 or i64");
    }
  }
  const auto room = conditions.mtu - headers - conditions.growth();
  sparse_.full = room / wire::element_bytes_max * wire::element_bytes_max;
  sparse_.spacing = static_cast<std::uint32_t>(std::lround(1 / *density_));
  sparse_.shards = shards_.value_or(1);
  const auto most = pairs_max();
  if (most == 0) {
    traffic::refuse("--density", "blocks would have more elements than fit in " +
                                     std::to_string(wire::flare_runs_max) +
                                     " packets; say more, or less --shards");
  }
  sparse_.pairs = pairs_.value_or(most);
  if (sparse_.pairs > most) {
    traffic::refuse("--pairs", "at most " + std::to_string(most) +
                                   " fit in a packet, and in a block with that --density");
  }
}

std::uint32_t FlareTrafficKind::pairs_max() const {
  auto most = std::numeric_limits<std::uint32_t>::max();
  for (const auto& kind : plan_.kinds) {
    most = std::min(most, sparse_.pairs_max(kind.type));
  }
  return most;
}

nlohmann::ordered_json FlareTrafficKind::settings() const {
  nlohmann::ordered_json all = {
      {"workers", plan_.workers}, {"jobs", plan_.jobs}, {"window", plan_.window}};
  if (density_) {
    all["density"] = 1.0 / sparse_.spacing;
    all["shards"] = sparse_.shards;
    all["pairs"] = sparse_.pairs;
    all["span"] = sparse_.span();
  } else {
    all["elements"] = plan_.elements;
  }
  all["kinds"] = json_of(plan_.kinds);
  return all;
}

std::string FlareTrafficKind::switch_settings(const traffic::Stations& /*stations*/) const {
  return settings_of_trees(plan_, "switch.flare.tree", 1, [this](std::uint32_t /*tree*/) {
    const auto window = std::to_string(plan_.window);
    return density_ ? "window = 1\nsparse_window = " + window + "\n" : "window = " + window + "\n";
  });
}

}  // namespace

std::unique_ptr<traffic::TrafficKind> traffic_kind() {
  return std::make_unique<FlareTrafficKind>();
}

}  // namespace tributary::flare
