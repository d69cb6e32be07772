// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/kind.h"

#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "protocols/netreduce/traffic/feed.h"
#include "protocols/netreduce/traffic/traffic.h"
#include "protocols/netreduce/wire.h"
#include "traffic/block_kind.h"
#include "traffic/option_text.h"
#include "traffic/ranks.h"

namespace tributary::netreduce {
namespace {

using traffic::Conditions;
using traffic::Mode;

class NetReduceTrafficKind final : public traffic::BlockKind {
 public:
  const char* name() const override { return "netreduce"; }
  const char* about() const override { return "NetReduce aggregation; every sum is checked"; }

  void declare(CLI::App& app, Mode mode) override;
  void interpret(Conditions& conditions) override;

  double lines(std::size_t ports) const override { return lines_of(plan_.workers, ports); }
  nlohmann::ordered_json settings() const override;
  std::unique_ptr<traffic::Traffic> make(const traffic::Stations& stations,
                                         const traffic::Neighbours& neighbours,
                                         PacketPool& pool) const override {
    return std::make_unique<NetReduceTraffic>(plan_, stations, neighbours, pool);
  }

  void feed(const traffic::Feed& to) const override { feed_netreduce(plan_, messages_, to); }
  std::string switch_settings(const traffic::Stations& stations) const override;

 private:
  TrafficPlan plan_;
  std::optional<std::uint16_t> workers_;
  std::uint32_t messages_ = 4;  // of each run, in a file
};

void NetReduceTrafficKind::declare(CLI::App& app, Mode mode) {
  if (mode == Mode::pcap) {
    app.add_option("--messages", messages_,
                   "messages of each of five runs, the first of which has one packet")
        ->check(CLI::Range(1u, 65536u))
        ->capture_default_str();
  }
  app.add_option("--workers", workers_, "workers of each ring")
      ->default_str("8")
      ->check(CLI::Range(2u, traffic::Ranks::ranks_max));
  app.add_option("--first-ring", plan_.first_ring, "number of the first ring; others count up")
      ->capture_default_str();
  app.add_option("--message-packets", plan_.message_packets, "packets of each message")
      ->check(CLI::Range(1u, 8192u))
      ->capture_default_str();
  app.add_option("--path-mtu", plan_.path_mtu, "payload bytes of each packet")
      ->check(CLI::IsMember(std::vector(wire::ring_mtus.begin(), wire::ring_mtus.end())))
      ->capture_default_str();
  declare_jobs(app, plan_);
  declare_interleave(app, plan_);
  if (mode != Mode::pcap) {
    app.add_option("--window", plan_.window, "messages in flight, of each worker")
        ->check(CLI::Range(1u, 64u))
        ->capture_default_str();
    declare_block_timeout(app);
  }
}

void NetReduceTrafficKind::interpret(Conditions& conditions) {
  plan_.workers = workers_.value_or(8);
  plan_.first_run = conditions.clock_ms;
  interpret_block_timeout(plan_);
  interpret_jobs(plan_);
  const std::size_t headers = sizeof(wire::Ipv4Header) + sizeof(wire::UdpHeader) +
                              sizeof(wire::BthHeader) + sizeof(wire::RethHeader) +
                              sizeof(wire::ImmediateHeader) + wire::icrc_bytes +
                              conditions.growth();
  if (plan_.path_mtu + headers > conditions.mtu) {
    traffic::refuse("--path-mtu", "does not fit an MTU of " + std::to_string(conditions.mtu) +
                                      "; say --mtu " + std::to_string(plan_.path_mtu + headers));
  }
  const std::size_t slots = std::size_t{2} * plan_.window * plan_.message_packets * plan_.workers;
  if (slots > wire::ring_slots_max) {
    traffic::refuse("--message-packets",
                    "twice --window, for each worker, is " + std::to_string(slots) +
                        " packets that a switch would hold, which takes " +
                        std::to_string(wire::ring_slots_max) + " at most; say less");
  }
  require_blocks("--window", conditions.mode,
                 std::uint64_t{plan_.jobs} * plan_.window * plan_.message_packets);
  spread_workers(plan_, conditions.stations);
}

nlohmann::ordered_json NetReduceTrafficKind::settings() const {
  return {{"workers", plan_.workers},   {"jobs", plan_.jobs},
          {"window", plan_.window},     {"message_packets", plan_.message_packets},
          {"path_mtu", plan_.path_mtu}, {"kinds", json_of(plan_.kinds)}};
}

std::string NetReduceTrafficKind::switch_settings(const traffic::Stations& stations) const {
  std::string members;
  for (std::uint32_t rank = 0; rank < plan_.workers; ++rank) {
    members += (rank == 0 ? "\"" : ", \"") + control::to_string(stations.ip(0, rank)) + '"';
  }
  auto text = neighbours_of_switch(plan_, stations) + "[switch.netreduce]\n";
  for (std::uint32_t job = 0; job < plan_.jobs; ++job) {
    text += "[[switch.netreduce.ring]]\nid = " + std::to_string(plan_.first_ring + job) +
            "\nmembers = [" + members +
            "]\nmessage_packets = " + std::to_string(plan_.message_packets) +
            "\nmtu = " + std::to_string(plan_.path_mtu) + "\n";
  }
  return text;
}

}  // namespace

std::unique_ptr<traffic::TrafficKind> traffic_kind() {
  return std::make_unique<NetReduceTrafficKind>();
}

}  // namespace tributary::netreduce
