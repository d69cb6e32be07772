// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/kind.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "control/config.h"
#include "protocols/canary/engine/config.h"
#include "protocols/canary/traffic/feed.h"
#include "protocols/canary/traffic/traffic.h"
#include "switch/owners.h"
#include "traffic/block_kind.h"
#include "traffic/option_text.h"

namespace tributary::canary {
namespace {

using traffic::Conditions;
using traffic::Mode;

constexpr const char* run_examples =
    R"(  # 8 workers reduce f32 through a switch behind memif; every sum is checked
  tributary-pktgen canary --port memif=/run/gen.sock,role=client,address=10.1.1.2,gateway=10.1.1.1 \
    --workers 8 --blocks 64 --elements 256)";

constexpr const char* pcap_examples = R"(  # a file for a net_pcap port with infinite = true
  tributary-pktgen pcap canary --file feed.pcap --workers 8 --blocks 64 --switch 10.1.255.1 \
    --address 10.1.1.2 --gateway-mac 02:00:00:01:00:01)";

class CanaryTrafficKind final : public traffic::BlockKind {
 public:
  const char* name() const override { return "canary"; }
  const char* about() const override { return "Canary aggregation; every sum is checked"; }
  const char* examples(Mode mode) const override {
    return mode == Mode::run ? run_examples : mode == Mode::pcap ? pcap_examples : nullptr;
  }
  std::optional<traffic::UdpPorts> udp_ports() const override {
    return traffic::UdpPorts{"Canary", wire::canary_udp_port_first, wire::canary_udp_port_last};
  }

  // Directly over Ethernet there is nothing to translate: packets name hosts by what is embedded.
  bool speaks_ipv6() const override { return plan_.encapsulation == wire::Encapsulation::ethernet; }

  void declare(CLI::App& app, Mode mode) override;
  void interpret(Conditions& conditions) override;

  double lines(std::size_t ports) const override { return lines_of(plan_.workers, ports); }
  // Without a switch on the way a leader holds every contribution.
  std::uint64_t packets_kept() const override {
    return std::uint64_t{plan_.window} * plan_.jobs * plan_.workers;
  }
  nlohmann::ordered_json settings() const override;
  std::unique_ptr<traffic::Traffic> make(const traffic::Stations& stations,
                                         const traffic::Neighbours& neighbours,
                                         PacketPool& pool) const override {
    return std::make_unique<CanaryTraffic>(plan_, stations, neighbours, pool);
  }

  std::size_t files() const override { return cores_; }
  void feed(const traffic::Feed& to) const override;
  std::string switch_settings(const traffic::Stations& stations) const override {
    return neighbours_of_switch(plan_, stations);
  }

 private:
  void declare_pcap(CLI::App& app);
  wire::Ipv4Address switch_of(const Conditions& conditions) const;

  TrafficPlan plan_;
  std::optional<std::uint16_t> workers_;
  std::optional<std::uint32_t> first_job_;
  std::string encapsulation_ = "udp";
  // These are settings of mode pcap.
  std::uint32_t blocks_ = 64;
  std::uint16_t cores_ = 1;  // of the switch, with a file for each
  std::string switch_;       // to which results go
  wire::Ipv4Address switch_address_;
};

void CanaryTrafficKind::declare(CLI::App& app, Mode mode) {
  if (mode == Mode::pcap) {
    declare_pcap(app);
  }
  app.add_option("--workers", workers_, "workers of each job, the leader included")
      ->default_str("8")
      ->check(CLI::Range(2u, traffic::Ranks::ranks_max));
  app.add_option("--first-job", first_job_, "number of the first job; others count up")
      ->default_str("drawn");
  declare_jobs(app, plan_);
  declare_elements(app, plan_.elements);
  app.add_option("--encapsulation", encapsulation_, "of packets; ethernet leaves out IP and UDP")
      ->check(CLI::IsMember({"udp", "ethernet"}))
      ->capture_default_str();
  declare_interleave(app, plan_);
  if (mode != Mode::pcap) {
    app.add_option("--blocks", plan_.window, "blocks in flight, of each job")
        ->check(CLI::Range(1u, 65536u))
        ->capture_default_str();
    declare_block_timeout(app);
  }
}

void CanaryTrafficKind::declare_pcap(CLI::App& app) {
  app.add_option("--blocks", blocks_, "blocks of each job; then the file is over")
      ->check(CLI::Range(1u, 1u << 20))
      ->capture_default_str();
  app.add_option(
         "--cores", cores_,
         "packet cores of the switch: as many files are written (feed.0.pcap, ...), each with the "
         "blocks that one core owns")
      ->check(CLI::Range(std::uint16_t{1}, control::queues_max))
      ->capture_default_str();
  app.add_option("--switch", switch_, "address of the switch, to which the results go")->required();
}

void CanaryTrafficKind::interpret(Conditions& conditions) {
  if (conditions.mode == Mode::pcap) {
    switch_address_ = switch_of(conditions);
  }
  plan_.workers = workers_.value_or(8);
  plan_.encapsulation =
      encapsulation_ == "udp" ? wire::Encapsulation::udp : wire::Encapsulation::ethernet;
  // Switches may still know the blocks of the run before under its numbers.
  plan_.first_job = first_job_.value_or(conditions.drawn | 1u);
  interpret_block_timeout(plan_);
  interpret_jobs(plan_);
  const auto ip_headers = sizeof(wire::Ipv4Header) + sizeof(wire::UdpHeader) + conditions.growth();
  const std::size_t headers = sizeof(wire::CanaryHeader) +
                              (plan_.encapsulation == wire::Encapsulation::udp ? ip_headers : 0);
  require_room(plan_, plan_.elements, headers, conditions.mtu);
  require_blocks("--blocks", conditions.mode, std::uint64_t{plan_.jobs} * plan_.window);
  spread_workers(plan_, conditions.stations);
}

// An address of IPv6 is one that embeds the switch's.
wire::Ipv4Address CanaryTrafficKind::switch_of(const Conditions& conditions) const {
  const auto address = traffic::value_of("--switch", control::parse_ip(switch_));
  if (address.is_v4()) {
    return address.v4();
  }
  if (conditions.stations.front().prefix != wire::EmbeddingPrefix::of(address)) {
    traffic::refuse("--switch", switch_ +
                                    " has not the prefix of the hosts; say an address that "
                                    "has the first 96 bits of --address");
  }
  return wire::EmbeddingPrefix::embedded_in(address);
}

nlohmann::ordered_json CanaryTrafficKind::settings() const {
  const bool udp = plan_.encapsulation == wire::Encapsulation::udp;
  return {{"workers", plan_.workers},         {"jobs", plan_.jobs},
          {"blocks_in_flight", plan_.window}, {"elements", plan_.elements},
          {"kinds", json_of(plan_.kinds)},    {"encapsulation", udp ? "udp" : "ethernet"}};
}

// Gives each file what the switch would hand to that core.
void CanaryTrafficKind::feed(const traffic::Feed& to) const {
  switching::SwitchConfig blocks_have_owners;
  blocks_have_owners.protocols.emplace<CanaryConfig>();
  const switching::Owners owners(blocks_have_owners, cores_);
  const auto take = [&](std::size_t, Packet& frame) { to.take(owners.core_of(frame, 0), frame); };
  feed_canary(plan_, blocks_, switch_address_, {to.stations, to.pool, take});
}

}  // namespace

std::unique_ptr<traffic::TrafficKind> traffic_kind() {
  return std::make_unique<CanaryTrafficKind>();
}

}  // namespace tributary::canary
