// SPDX-License-Identifier: BSD-3-Clause
// What the command line means.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <random>
#include <set>
#include <utility>

#include <CLI/CLI.hpp>

#include "control/cores.h"
#include "control/text.h"
#include "options_raw.h"

namespace tributary::pktgen {
namespace {

constexpr std::uint64_t ring_buffers = 8192;  // in the devices' rings and on the way
// In flight, of all jobs: of each something is kept.
constexpr std::uint64_t blocks_max = buffers_max;

[[noreturn]] void refuse(const std::string& option, const std::string& what) {
  throw CLI::ValidationError(option, what);
}

template <typename T>
T value_of(const std::string& option, const control::Parsed<T>& parsed) {
  if (!parsed) {
    const auto& complaint = parsed.error();
    refuse(option, complaint.message + (complaint.hint.empty() ? "" : "; " + complaint.hint));
  }
  return *parsed;
}
template <typename T>
T value_of(const std::string& option, const tl::expected<T, std::string>& parsed) {
  if (!parsed) {
    refuse(option, parsed.error());
  }
  return *parsed;
}

Duration duration_of(const std::string& option, const std::string& text) {
  return value_of(option, control::parse_duration(text));
}

void interpret_ports(const Raw& raw, Options& options) {
  std::set<std::string> uses;
  for (const auto& text : raw.ports) {
    options.ports.push_back(value_of("--port", parse_port(text, options.ports.size())));
    const auto use = control::exclusive_use(options.ports.back().device);
    if (!use.empty() && !uses.insert(use).second) {
      refuse("--port", use + " is given twice; a port may both send and receive");
    }
  }
  if (options.ports.size() > control::devices_max) {
    refuse("--port", "there can be at most " + std::to_string(control::devices_max) + " ports");
  }
  const auto cores = control::automatic_cores();
  options.core = raw.core.value_or(cores.empty() ? 0 : cores.back());
  options.idle = raw.idle == "poll" ? control::IdlePolicy::poll : control::IdlePolicy::adaptive;
  options.hugepages = raw.hugepages == "never"    ? control::Hugepages::never
                      : raw.hugepages == "always" ? control::Hugepages::always
                                                  : control::Hugepages::automatic;
  options.interval = std::chrono::duration_cast<std::chrono::milliseconds>(
      duration_of("--interval", raw.interval));
  if (options.interval < std::chrono::milliseconds(100)) {
    refuse("--interval", "is at least 100ms");
  }
  if (options.json == "-" && options.csv == "-") {
    refuse("--csv", "standard output is taken by --json; name a file for one of them");
  }
  if (!options.csv.empty() && options.json == options.csv) {
    refuse("--csv", options.csv + " is taken by --json; name another file");
  }
}

// How many ports send of their own accord.
std::size_t senders(const Options& options) {
  const auto workers = options.kind == Kind::canary      ? options.canary.hosts
                       : options.kind == Kind::panama    ? options.panama.workers
                       : options.kind == Kind::netreduce ? options.netreduce.workers
                                                         : 0u;
  if (workers != 0) {
    return std::min<std::size_t>(options.ports.size(), workers);
  }
  std::set<std::size_t> ports;
  for (const auto& path : options.plain->paths) {
    ports.insert(path.from);
  }
  return ports.size();
}

void interpret_run(const Raw& raw, Options& options) {
  const double line_rate = raw.line_rate.empty()
                               ? 0
                               : value_of("--line-rate", traffic::parse_line_rate(raw.line_rate)) *
                                     static_cast<double>(senders(options));
  auto& trial = options.session.trial;
  trial.rate = value_of("--rate", traffic::parse_rate(raw.rate, line_rate));
  trial.duration = duration_of(options.mode == Mode::run ? "--duration" : "--trial", raw.duration);
  trial.warm_up = duration_of("--warm-up", raw.warm_up);
  trial.drain = duration_of("--drain", raw.drain);
  if (trial.duration <= Duration::zero()) {
    refuse(options.mode == Mode::run ? "--duration" : "--trial", "must not be 0");
  }
  if (options.mode != Mode::run) {
    const double loss = options.mode == Mode::pdr ? raw.loss / 100 : 0;
    options.session.search = traffic::SearchPlan{loss, trial.rate, raw.precision / 100};
  }
}

void interpret_plain(const Raw& raw, Options& options) {
  auto sizes = value_of("--size", traffic::FrameSizes::parse(raw.size));
  const auto frame_max = options.mtu + sizeof(wire::EthernetHeader);
  if (sizes.largest_bytes() > frame_max) {
    refuse("--size", "frames of " + raw.size + " do not fit an MTU of " +
                         std::to_string(options.mtu) + "; say --mtu " +
                         std::to_string(sizes.largest_bytes() - sizeof(wire::EthernetHeader)));
  }
  // Around the ring of ports: from the first to the second, and so on.
  std::vector<traffic::PlainPath> paths;
  const auto count = std::max<std::size_t>(options.ports.size(), 1);
  for (const auto& text : raw.paths) {
    const auto colon = text.find(':');
    char* end = nullptr;
    const auto from = std::strtoul(text.c_str(), &end, 10);
    const bool first = end == text.c_str() + colon && colon != 0;
    const auto to = first ? std::strtoul(text.c_str() + colon + 1, &end, 10) : count;
    if (!first || *end != '\0' || colon + 1 == text.size() || from >= count || to >= count) {
      refuse("--path", "\"" + text + "\" is no path; say 0:1 for one from the first port to the " +
                           "second; there are " + std::to_string(count) + " ports");
    }
    paths.push_back({from, to});
  }
  for (std::size_t port = 0; raw.paths.empty() && port < count; ++port) {
    paths.push_back({port, (port + 1) % count});
  }
  if (paths.size() > traffic::PlainTraffic::paths_max) {
    refuse("--path",
           "there can be at most " + std::to_string(traffic::PlainTraffic::paths_max) + " paths");
  }
  if (std::uint64_t{raw.flows} * paths.size() > traffic::PlainTraffic::flows_max) {
    refuse("--flows", "all paths together can have at most " +
                          std::to_string(traffic::PlainTraffic::flows_max) + " flows");
  }
  if (wire::is_canary_udp_port(raw.destination_port)) {
    refuse("--destination-port", std::to_string(raw.destination_port) +
                                     " is one of Canary's (17000 to 17255); choose another");
  }
  if (raw.flows / raw.hosts > 65536u - raw.source_port) {
    refuse("--flows", "there are not so many UDP ports from " + std::to_string(raw.source_port) +
                          " on; say --hosts " +
                          std::to_string(raw.flows / (65536u - raw.source_port) + 1) +
                          ", or a lower --source-port");
  }
  for (auto& port : options.ports) {
    port.stations.count = raw.hosts;
  }
  options.sizes = raw.size;
  options.plain = traffic::PlainPlan{std::move(sizes), std::move(paths), raw.flows, raw.source_port,
                                     raw.destination_port};
}

template <typename T, typename Of>
std::vector<T> named(const std::string& option, const std::vector<std::string>& names,
                     std::size_t count, Of of) {
  std::vector<T> values;
  for (const auto& text : names) {
    if (text == "all") {
      for (std::size_t i = 0; i < count; ++i) {
        values.push_back(static_cast<T>(i));
      }
    } else if (const auto value = of(text)) {
      values.push_back(*value);
    } else {
      refuse(option, "\"" + text + "\" is none; --help lists them");
    }
  }
  return values;
}

template <typename Plan>
void interpret_kinds(const Raw& raw, Plan& plan) {
  plan.kinds.clear();
  const auto types = named<wire::ElementType>("--type", raw.types, wire::element_type_count,
                                              wire::element_type_of);
  const auto operators =
      named<wire::Operator>("--op", raw.operators, wire::operator_count, wire::operator_of);
  for (const auto type : types) {
    for (const auto op : operators) {
      if (wire::is_valid(type, op)) {
        plan.kinds.push_back({type, op});
      }
    }
  }
  if (plan.kinds.empty()) {
    refuse("--op", "and, or and xor are for integers; choose another --type");
  }
  if (plan.kinds.size() > plan.jobs) {
    if (plan.jobs != 1) {
      refuse("--jobs", std::to_string(plan.kinds.size()) +
                           " combinations of types and operators need as many jobs");
    }
    plan.jobs = static_cast<std::uint32_t>(plan.kinds.size());
  }
}

template <typename Plan>
void interpret_block_timeout(const Raw& raw, Plan& plan) {
  plan.block_timeout = duration_of("--block-timeout", raw.block_timeout);
  if (plan.block_timeout < std::chrono::milliseconds(1)) {
    refuse("--block-timeout", "is at least 1ms");
  }
}

// With so many bytes before the elements.
template <typename Plan>
void interpret_blocks(const Raw& raw, const Options& options, std::size_t headers, Plan& plan) {
  interpret_block_timeout(raw, plan);
  interpret_kinds(raw, plan);
  for (const auto& kind : plan.kinds) {
    const auto bytes = wire::element_bytes(kind.type);
    if (plan.elements * bytes + headers > options.mtu) {
      refuse("--elements", std::to_string(plan.elements) + " of " + std::string(name(kind.type)) +
                               " do not fit an MTU of " + std::to_string(options.mtu) +
                               "; at most " + std::to_string((options.mtu - headers) / bytes) +
                               " do");
    }
  }
}

// In flight at the same time; a file has one after the other.
void require_blocks(const std::string& option, const Options& options, std::uint64_t blocks) {
  if (options.mode != Mode::pcap && blocks > blocks_max) {
    refuse(option, std::to_string(blocks) + " blocks of all jobs would be in flight; at most " +
                       std::to_string(blocks_max) + " can be");
  }
}

// As many behind each port as it takes.
void spread_workers(Options& options, std::size_t workers) {
  for (auto& port : options.ports) {
    port.stations.count =
        static_cast<std::uint32_t>((workers + options.ports.size() - 1) / options.ports.size());
  }
}

void interpret_canary(const Raw& raw, Options& options) {
  auto& plan = options.canary;
  plan.hosts = raw.workers.value_or(8);
  plan.encapsulation =
      raw.encapsulation == "udp" ? wire::Encapsulation::udp : wire::Encapsulation::ethernet;
  // Switches may still know the blocks of the run before under its numbers.
  plan.first_job = raw.first_job.value_or(std::random_device{}() | 1u);
  const std::size_t headers =
      sizeof(wire::CanaryHeader) + (plan.encapsulation == wire::Encapsulation::udp
                                        ? sizeof(wire::Ipv4Header) + sizeof(wire::UdpHeader)
                                        : 0);
  interpret_blocks(raw, options, headers, plan);
  require_blocks("--blocks", options, std::uint64_t{plan.jobs} * plan.window);
  spread_workers(options, plan.hosts);
}

// The number of a run: switches that remember the run before take it for another.
std::uint32_t run_of_today() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint32_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

wire::Ipv4Address first_group(const Raw& raw, const panama::TrafficPlan& plan) {
  const auto group = value_of("--group", control::parse_group(raw.group));
  const wire::Ipv4Address last(group.value() + plan.jobs * plan.trees - 1);
  if (!last.is_multicast()) {
    refuse("--group", "not all groups after " + raw.group + " are multicast addresses; say for " +
                          "example 239.192.0.1");
  }
  return group;
}

void interpret_panama(const Raw& raw, Options& options) {
  auto& plan = options.panama;
  const auto ports = options.ports.size();
  if (plan.parent && *plan.parent >= ports) {
    refuse("--parent", "there are " + std::to_string(ports) + " ports; the first is 0");
  }
  const auto places = ports - (plan.parent ? 1 : 0);
  plan.workers = raw.workers.value_or(static_cast<std::uint16_t>(places));
  if (plan.workers > places || plan.workers == 0) {
    refuse("--workers", "each worker of a job has a port of its own; there are " +
                            std::to_string(places) + " for them");
  }
  plan.run = run_of_today();
  interpret_blocks(raw, options, sizeof(panama::Headers) - sizeof(wire::EthernetHeader), plan);
  require_blocks("--window", options, std::uint64_t{plan.jobs} * plan.trees * plan.window);
  if (plan.jobs - 1 > std::numeric_limits<std::uint32_t>::max() - plan.first_job) {
    refuse("--first-job",
           "there are not so many jobs from " + std::to_string(plan.first_job) + " on");
  }
  plan.group = first_group(raw, plan);
}

void interpret_netreduce(const Raw& raw, Options& options) {
  auto& plan = options.netreduce;
  plan.workers = raw.workers.value_or(8);
  plan.first_run = run_of_today();
  interpret_block_timeout(raw, plan);
  interpret_kinds(raw, plan);
  constexpr std::size_t headers = sizeof(wire::Ipv4Header) + sizeof(wire::UdpHeader) +
                                  sizeof(wire::BthHeader) + sizeof(wire::RethHeader) +
                                  sizeof(wire::ImmediateHeader) + wire::icrc_bytes;
  if (plan.path_mtu + headers > options.mtu) {
    refuse("--path-mtu", "does not fit an MTU of " + std::to_string(options.mtu) + "; say --mtu " +
                             std::to_string(plan.path_mtu + headers));
  }
  require_blocks("--window", options,
                 std::uint64_t{plan.jobs} * plan.window * plan.message_packets);
  spread_workers(options, plan.workers);
}

// The ports that files stand for.
void interpret_pcap(const Raw& raw, Options& options) {
  if (options.pcap_file == "-") {
    refuse("--file", "standard output is for what the switch's configuration needs; name a file");
  }
  auto spec = *parse_port("ring=file", 0);
  if (!raw.address.empty()) {
    spec.stations.address = value_of("--address", control::parse_ipv4(raw.address));
  }
  if (!raw.mac.empty()) {
    spec.stations.mac = value_of("--mac", control::parse_mac(raw.mac));
  }
  if (!raw.gateway_mac.empty()) {
    spec.stations.gateway_mac = value_of("--gateway-mac", control::parse_mac(raw.gateway_mac));
  }
  if (!raw.pcap_switch.empty()) {
    options.pcap_switch = value_of("--switch", control::parse_ipv4(raw.pcap_switch));
  }
  // PANAMA's workers have a port and a file each.
  const std::uint32_t ports = options.kind == Kind::panama ? raw.workers.value_or(8) : 1;
  const traffic::Stations stations({spec.stations});
  for (std::uint32_t port = 0; port < ports; ++port) {
    spec.stations.mac = stations.mac(0, port);
    spec.stations.address = stations.address(0, port);
    options.ports.push_back(spec);
  }
}

void choose_buffers(Options& options) {
  if (options.buffers != 0) {
    return;
  }
  // Without a switch on the way a leader holds every contribution.
  const auto& plan = options.canary;
  const std::uint64_t held =
      options.kind == Kind::canary ? std::uint64_t{plan.window} * plan.jobs * plan.hosts : 0;
  options.buffers = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      ring_buffers * (options.ports.size() + 1) / 2 + ring_buffers + held, buffers_max));
}

}  // namespace

void interpret(const Raw& raw, Options& options) {
  if (options.mode == Mode::pcap) {
    interpret_pcap(raw, options);
  } else {
    interpret_ports(raw, options);
  }
  if (options.kind == Kind::plain) {
    interpret_plain(raw, options);
  } else if (options.kind == Kind::panama) {
    interpret_panama(raw, options);
  } else if (options.kind == Kind::netreduce) {
    interpret_netreduce(raw, options);
  } else {
    interpret_canary(raw, options);
  }
  if (options.mode != Mode::pcap) {
    interpret_run(raw, options);
  }
  choose_buffers(options);
}

std::vector<traffic::StationRange> Options::station_ranges() const {
  std::vector<traffic::StationRange> ranges;
  for (const auto& port : ports) {
    ranges.push_back(port.stations);
  }
  return ranges;
}

}  // namespace tributary::pktgen
