// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/kind.h"

#include <limits>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "protocols/panama/traffic/feed.h"
#include "protocols/panama/traffic/traffic.h"
#include "traffic/block_kind.h"
#include "traffic/option_text.h"
#include "traffic/ranks.h"

namespace tributary::panama {
namespace {

using traffic::Conditions;
using traffic::Mode;

class PanamaTrafficKind final : public traffic::BlockKind {
 public:
  const char* name() const override { return "panama"; }
  const char* about() const override { return "PANAMA aggregation; every sum is checked"; }

  void declare(CLI::App& app, Mode mode) override;
  void interpret(Conditions& conditions) override;

  std::size_t senders(std::size_t ports) const override { return ports_with_workers(plan_, ports); }
  nlohmann::ordered_json settings() const override;
  std::unique_ptr<traffic::Traffic> make(const traffic::Stations& stations,
                                         const traffic::Neighbours& /*neighbours*/,
                                         PacketPool& pool) const override {
    return std::make_unique<PanamaTraffic>(plan_, stations, pool);
  }

  // Of a port each.
  std::size_t files() const override { return plan_.workers; }
  void feed(const traffic::Stations& stations, PacketPool& pool,
            const traffic::FileSink& sink) const override {
    feed_panama(plan_, stations, pool, collectives_, sink);
  }
  std::string switch_settings(const traffic::Stations& stations) const override;

 private:
  void declare_pcap(CLI::App& app);
  void declare_run(CLI::App& app);
  void interpret_workers(std::size_t ports);
  wire::Ipv4Address first_group() const;

  TrafficPlan plan_;
  std::optional<std::uint16_t> workers_;
  std::string group_ = "239.192.0.1";
  std::uint32_t collectives_ = panama_collectives_min;  // of each job, in files
};

void PanamaTrafficKind::declare(CLI::App& app, Mode mode) {
  if (mode == Mode::pcap) {
    declare_pcap(app);
  }
  app.add_option("--workers", workers_,
                 "of each job, each at another port; default: one at every port")
      ->check(CLI::Range(1u, traffic::Ranks::ranks_max));
  app.add_option("--first-job", plan_.first_job, "number of the first job")
      ->check(CLI::Range(1u, std::numeric_limits<std::uint32_t>::max()))
      ->capture_default_str();
  app.add_option("--trees", plan_.trees, "of each job")
      ->check(CLI::Range(1u, 1024u))
      ->capture_default_str();
  app.add_option("--group", group_,
                 "multicast address of the first job's first tree; other trees and jobs count up")
      ->capture_default_str();
  app.add_option("--collective", plan_.collective, "packets of each tree in one")
      ->check(CLI::Range(1u, 1u << 30))
      ->capture_default_str();
  declare_jobs(app, plan_);
  declare_elements(app, plan_.elements);
  if (mode != Mode::pcap) {
    declare_run(app);
  }
}

void PanamaTrafficKind::declare_pcap(CLI::App& app) {
  plan_.collective = 8;
  app.add_option("--collectives", collectives_, "of each job; then the files are over")
      ->check(CLI::Range(panama_collectives_min, 65536u))
      ->capture_default_str();
}

void PanamaTrafficKind::declare_run(CLI::App& app) {
  app.add_option("--window", plan_.window,
                 "packets in flight, of each tree, if the switches allow so many")
      ->check(CLI::Range(1u, 65535u))
      ->capture_default_str();
  app.add_option("--parent", plan_.parent,
                 "number of the port at which the root is played; default: the switch is the root");
  declare_interleave(app, plan_);
  declare_block_timeout(app);
}

// A port for each worker, beside the first.
std::vector<traffic::StationRange> ports_of_files(const traffic::StationRange& first,
                                                  std::uint32_t workers) {
  const traffic::Stations stations({first});
  std::vector<traffic::StationRange> ports(workers, first);
  for (std::uint32_t port = 0; port < workers; ++port) {
    ports[port].mac = stations.mac(0, port);
    ports[port].address = stations.address(0, port);
  }
  return ports;
}

void PanamaTrafficKind::interpret(Conditions& conditions) {
  if (conditions.mode == Mode::pcap) {
    conditions.stations = ports_of_files(conditions.stations.front(), workers_.value_or(8));
  }
  interpret_workers(conditions.stations.size());
  plan_.run = conditions.clock_ms;
  interpret_block_timeout(plan_);
  interpret_jobs(plan_);
  require_room(plan_, plan_.elements, sizeof(Headers) - sizeof(wire::EthernetHeader),
               conditions.mtu);
  require_blocks("--window", conditions.mode,
                 std::uint64_t{plan_.jobs} * plan_.trees * plan_.window);
  if (plan_.jobs - 1 > std::numeric_limits<std::uint32_t>::max() - plan_.first_job) {
    traffic::refuse("--first-job",
                    "there are not so many jobs from " + std::to_string(plan_.first_job) + " on");
  }
  plan_.group = first_group();
}

void PanamaTrafficKind::interpret_workers(std::size_t ports) {
  if (plan_.parent && *plan_.parent >= ports) {
    traffic::refuse("--parent", "there are " + std::to_string(ports) + " ports; the first is 0");
  }
  const auto places = ports - (plan_.parent ? 1 : 0);
  plan_.workers = workers_.value_or(static_cast<std::uint16_t>(places));
  if (plan_.workers > places || plan_.workers == 0) {
    traffic::refuse("--workers", "each worker of a job has a port of its own; there are " +
                                     std::to_string(places) + " for them");
  }
}

wire::Ipv4Address PanamaTrafficKind::first_group() const {
  const auto group = traffic::value_of("--group", control::parse_group(group_));
  const wire::Ipv4Address last(group.value() + plan_.jobs * plan_.trees - 1);
  if (!last.is_multicast()) {
    traffic::refuse("--group", "not all groups after " + group_ +
                                   " are multicast addresses; say for example 239.192.0.1");
  }
  return group;
}

nlohmann::ordered_json PanamaTrafficKind::settings() const {
  return {{"workers", plan_.workers},       {"jobs", plan_.jobs},
          {"trees", plan_.trees},           {"window", plan_.window},
          {"collective", plan_.collective}, {"elements", plan_.elements},
          {"kinds", json_of(plan_.kinds)}};
}

std::string PanamaTrafficKind::switch_settings(const traffic::Stations& /*stations*/) const {
  std::string children;
  for (std::size_t port = 0; port < plan_.workers; ++port) {
    children += (port == 0 ? "\"feed" : ", \"feed") + std::to_string(port) + '"';
  }
  const auto workers = std::to_string(plan_.workers);
  const auto places =
      "children = [" + children + "]\nworkers = " + workers + "\nworkers_below = " + workers + "\n";
  std::string text = "# Trees for the switch's configuration:\n";
  for (std::uint32_t i = 0; i < plan_.jobs * plan_.trees; ++i) {
    text += "[[switch.panama.tree]]\njob = " + std::to_string(plan_.first_job + i / plan_.trees) +
            "\ntree = " + std::to_string(i % plan_.trees) + "\ngroup = \"" +
            control::to_string(wire::Ipv4Address(plan_.group.value() + i)) + "\"\n" + places;
  }
  return text;
}

}  // namespace

std::unique_ptr<traffic::TrafficKind> traffic_kind() {
  return std::make_unique<PanamaTrafficKind>();
}

}  // namespace tributary::panama
