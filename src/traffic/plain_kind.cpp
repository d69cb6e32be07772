// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdlib>
#include <utility>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "traffic/kind.h"
#include "traffic/option_text.h"
#include "traffic/plain_feed.h"
#include "traffic/plain_traffic.h"

namespace tributary::traffic {
namespace {

constexpr const char* run_examples =
    R"(  # 64-byte frames from one veth to the other, as fast as they go, for 10 s
  tributary-pktgen plain --port interface=veth0 --port interface=veth1 --duration 10s

  # IMIX at half of 10 Gbit/s, routed, 1,000 flows, results as JSON
  tributary-pktgen plain --port pci=0000:01:00.0,address=10.1.1.2,gateway=10.1.1.1 \
    --port pci=0000:01:00.1,address=10.1.2.2,gateway=10.1.2.1 \
    --size imix --flows 1000 --line-rate 10Gbit --rate 50% --json result.json)";

constexpr const char* ndr_examples = R"(  # the highest rate without loss (RFC 2544)
  tributary-pktgen ndr plain --port interface=veth0 --port interface=veth1 --line-rate 1Gbit \
    --rate 100% --trial 5s)";

std::string text_of(const UdpPorts& ports) {
  const auto first = std::to_string(ports.first);
  return ports.first == ports.last ? first : first + " to " + std::to_string(ports.last);
}

class PlainKind final : public TrafficKind {
 public:
  explicit PlainKind(std::vector<UdpPorts> taken) : taken_(std::move(taken)) {}

  const char* name() const override { return "plain"; }
  const char* about() const override { return "UDP frames that come back"; }
  const char* unit() const override { return "frames"; }
  bool speaks_ipv6() const override { return true; }
  bool checks_results() const override { return false; }
  const char* examples(Mode mode) const override {
    return mode == Mode::run ? run_examples : mode == Mode::ndr ? ndr_examples : nullptr;
  }

  void declare(CLI::App& app, Mode mode) override;
  void interpret(Conditions& conditions) override;

  double lines(std::size_t ports) const override {
    std::vector<std::size_t> paths_from(ports);
    for (const auto& path : plan_->paths) {
      ++paths_from[path.from];
    }
    return static_cast<double>(plan_->paths.size()) /
           static_cast<double>(*std::max_element(paths_from.begin(), paths_from.end()));
  }
  nlohmann::ordered_json settings() const override;
  std::unique_ptr<Traffic> make(const Stations& stations, const Neighbours& neighbours,
                                PacketPool& pool) const override {
    return std::make_unique<PlainTraffic>(*plan_, stations, neighbours, pool);
  }
  void feed(const Feed& to) const override { feed_plain(*plan_, frames_, to); }

 private:
  FrameSizes interpret_size(const Conditions& conditions);
  std::vector<PlainPath> interpret_paths(std::size_t ports) const;
  void require_flows(std::size_t paths) const;

  std::vector<UdpPorts> taken_;
  std::vector<std::string> paths_;
  std::string size_;  // none: the smallest
  std::uint32_t flows_ = 1;
  std::uint32_t hosts_ = 1;
  std::uint16_t source_port_ = 1024;
  std::uint16_t destination_port_ = 9;
  std::uint64_t frames_ = 1024;  // of a file
  std::optional<PlainPlan> plan_;
};

void PlainKind::declare(CLI::App& app, Mode mode) {
  if (mode == Mode::pcap) {
    app.add_option("--count", frames_, "frames in the file")
        ->check(CLI::Range(1u, 1u << 24))
        ->capture_default_str();
  }
  app.add_option("--size", size_,
                 "bytes of a frame with its check sequence: 64, 64-1518 (every size in between, "
                 "mixed) or imix (7:4:1 of the smallest, 570 and 1518)")
      ->default_str("the smallest: 64, over IPv6 " + std::to_string(PlainTraffic::smallest(true)));
  app.add_option("--flows", flows_, "5-tuples of each path")
      ->check(CLI::Range(1u, PlainTraffic::flows_max))
      ->capture_default_str();
  app.add_option("--source-port", source_port_, "UDP port of the first flows; others count up")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  std::string destinations = "UDP port";
  for (const auto& ports : taken_) {
    destinations += "; not " + text_of(ports);
  }
  app.add_option("--destination-port", destination_port_, destinations)
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  app.add_option("--hosts", hosts_, "hosts behind each port, with addresses of their own")
      ->check(CLI::Range(1u, 1u << 18))
      ->capture_default_str();
  if (mode != Mode::pcap) {
    app.add_option("--path", paths_,
                   "path of frames, once for each, up to " +
                       std::to_string(PlainTraffic::paths_max) +
                       ": 0:1 is from the first port to the second")
        ->default_str("around all ports");
  }
}

FrameSizes PlainKind::interpret_size(const Conditions& conditions) {
  const auto smallest = PlainTraffic::smallest(conditions.over_ipv6());
  size_ = size_.empty() ? std::to_string(smallest) : size_;
  auto sizes = value_of("--size", FrameSizes::parse(size_, smallest));
  const auto frame_max = conditions.mtu + sizeof(wire::EthernetHeader);
  if (sizes.largest_bytes() > frame_max) {
    refuse("--size", "frames of " + size_ + " do not fit an MTU of " +
                         std::to_string(conditions.mtu) + "; say --mtu " +
                         std::to_string(sizes.largest_bytes() - sizeof(wire::EthernetHeader)));
  }
  return sizes;
}

// Unless paths are named, they go around the ring of ports: from the first to the second, and so
// on.
std::vector<PlainPath> PlainKind::interpret_paths(std::size_t ports) const {
  std::vector<PlainPath> paths;
  for (const auto& text : paths_) {
    const auto colon = text.find(':');
    char* end = nullptr;
    const auto from = std::strtoul(text.c_str(), &end, 10);
    const bool first = end == text.c_str() + colon && colon != 0;
    const auto to = first ? std::strtoul(text.c_str() + colon + 1, &end, 10) : ports;
    if (!first || *end != '\0' || colon + 1 == text.size() || from >= ports || to >= ports) {
      refuse("--path", "\"" + text + "\" is no path; say 0:1 for one from the first port to the " +
                           "second; there are " + std::to_string(ports) + " ports");
    }
    paths.push_back({from, to});
  }
  for (std::size_t port = 0; paths_.empty() && port < ports; ++port) {
    paths.push_back({port, (port + 1) % ports});
  }
  if (paths.size() > PlainTraffic::paths_max) {
    refuse("--path", "there can be at most " + std::to_string(PlainTraffic::paths_max) + " paths");
  }
  return paths;
}

void PlainKind::require_flows(std::size_t paths) const {
  if (std::uint64_t{flows_} * paths > PlainTraffic::flows_max) {
    refuse("--flows", "all paths together can have at most " +
                          std::to_string(PlainTraffic::flows_max) + " flows");
  }
  for (const auto& ports : taken_) {
    if (destination_port_ >= ports.first && destination_port_ <= ports.last) {
      refuse("--destination-port", std::to_string(destination_port_) + " is one of " + ports.owner +
                                       "'s (" + text_of(ports) + "); choose another");
    }
  }
  const auto ports = 65536u - source_port_;
  if ((flows_ + hosts_ - 1) / hosts_ > ports) {
    refuse("--flows", "there are not so many UDP ports from " + std::to_string(source_port_) +
                          " on; say --hosts " + std::to_string((flows_ + ports - 1) / ports) +
                          ", or a lower --source-port");
  }
}

void PlainKind::interpret(Conditions& conditions) {
  auto sizes = interpret_size(conditions);
  auto paths = interpret_paths(std::max<std::size_t>(conditions.stations.size(), 1));
  require_flows(paths.size());
  for (auto& port : conditions.stations) {
    port.count = hosts_;
  }
  plan_ = PlainPlan{std::move(sizes), std::move(paths), flows_, source_port_, destination_port_};
}

nlohmann::ordered_json PlainKind::settings() const {
  auto paths = nlohmann::ordered_json::array();
  for (const auto& path : plan_->paths) {
    paths.push_back(std::to_string(path.from) + ":" + std::to_string(path.to));
  }
  return {{"sizes", size_}, {"flows", plan_->flows}, {"paths", paths}};
}

}  // namespace

std::unique_ptr<TrafficKind> plain_traffic_kind(std::vector<UdpPorts> taken) {
  return std::make_unique<PlainKind>(std::move(taken));
}

}  // namespace tributary::traffic
