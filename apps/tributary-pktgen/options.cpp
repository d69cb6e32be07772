// SPDX-License-Identifier: BSD-3-Clause
#include "options.h"

#include <algorithm>
#include <random>
#include <utility>

#include <CLI/CLI.hpp>

#include "control/cores.h"
#include "control/text.h"

namespace tributary::pktgen {
namespace {

constexpr int exit_usage = 2;
constexpr std::uint32_t ring_buffers = 8192;  // in the devices' rings and on the way
constexpr std::uint64_t buffers_max = 4u << 20;

constexpr const char* examples = R"(Examples:
  # 64-byte frames from one veth to the other, as fast as they go, for 10 s
  tributary-pktgen plain --port interface=veth0 --port interface=veth1 --duration 10s

  # IMIX at half of 10 Gbit/s, routed, 1,000 flows, results as JSON
  tributary-pktgen plain --port pci=0000:01:00.0,address=10.1.1.2,gateway=10.1.1.1 \
    --port pci=0000:01:00.1,address=10.1.2.2,gateway=10.1.2.1 \
    --size imix --flows 1000 --line-rate 10Gbit --rate 50% --json result.json

  # 8 workers reduce f32 through a switch behind memif; every sum is checked
  tributary-pktgen canary --port memif=/run/gen.sock,role=client,address=10.1.1.2,gateway=10.1.1.1 \
    --workers 8 --blocks 64 --elements 256

  # the highest rate without loss (RFC 2544)
  tributary-pktgen ndr plain --port interface=veth0 --port interface=veth1 --line-rate 1Gbit \
    --rate 100% --trial 5s

  # a file for a net_pcap port with infinite = true
  tributary-pktgen pcap canary --file feed.pcap --workers 8 --blocks 64 --switch 10.1.255.1 \
    --address 10.1.1.2 --gateway-mac 02:00:00:01:00:01

--help-all shows the options of every kind of traffic.)";

// What stands on the command line, before it means anything.
struct Raw {
  std::vector<std::string> ports;
  std::optional<unsigned> core;
  std::string idle = "adaptive";
  std::string hugepages = "auto";
  std::string line_rate;
  std::string rate = "unlimited";
  std::string duration = "10s";
  std::string warm_up = "0s";
  std::string drain = "2s";
  std::string interval = "1s";
  double precision = 1;  // percent
  double loss = 0.5;     // percent

  std::vector<std::string> paths;
  std::string size = "64";
  std::uint32_t flows = 1;
  std::uint32_t hosts = 1;

  std::uint16_t workers = 8;
  std::vector<std::string> types = {"f32"};
  std::vector<std::string> operators = {"sum"};
  std::string encapsulation = "udp";
  std::string block_timeout = "1s";
  std::optional<std::uint32_t> first_job;

  std::string address;
  std::string mac;
  std::string gateway_mac;
  std::string pcap_switch;
};

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

void declare_ports(CLI::App& app, Raw& raw, Options& options) {
  app.add_option("--port", raw.ports, "a port; see below")->required()->type_name("KIND=WHAT,...");
  app.add_option("--mtu", options.mtu, "bytes of IP in a packet")
      ->check(CLI::Range(control::mtu_min, control::mtu_max))
      ->capture_default_str();
  app.add_option("--core", raw.core, "CPU of the packet loop; default: the last one that is free");
  app.add_option("--buffers", options.buffers, "packet buffers; default: what is in flight needs")
      ->check(CLI::Range(1024u, static_cast<std::uint32_t>(buffers_max)));
  app.add_option("--idle", raw.idle, "adaptive: sleep while nothing happens; poll: never sleep")
      ->check(CLI::IsMember({"adaptive", "poll"}))
      ->capture_default_str();
  app.add_option("--hugepages", raw.hugepages, "auto, never or always")
      ->check(CLI::IsMember({"auto", "never", "always"}))
      ->capture_default_str();
  options.log_level = "warning";
  app.add_option("--log-level", options.log_level, "of what DPDK says")
      ->check(CLI::IsMember({"debug", "info", "warning", "error", "off"}))
      ->capture_default_str();
}

void declare_report(CLI::App& app, Raw& raw, Options& options) {
  app.add_option("--json", options.json, "write the results as JSON; - is standard output")
      ->type_name("FILE");
  app.add_option("--csv", options.csv, "write a row per interval, and one for each trial")
      ->type_name("FILE");
  app.add_option("--interval", raw.interval, "between two refreshes of the screen")
      ->capture_default_str();
  app.add_flag("--quiet,-q", options.quiet, "only the summary");
}

void declare_run(CLI::App& app, Raw& raw, Options& options) {
  app.add_option("--rate", raw.rate,
                 "1.5Mpps, 800Mbit (on the line), 50% (of --line-rate), unlimited: of what is sent "
                 "of its own accord, all ports together")
      ->capture_default_str();
  app.add_option("--line-rate", raw.line_rate, "of a port, as in 10Gbit");
  app.add_option("--warm-up", raw.warm_up, "at the same rate, not counted")->capture_default_str();
  app.add_option("--drain", raw.drain, "how long to wait for what is under way at the end")
      ->capture_default_str();
  if (options.mode == Mode::run) {
    app.add_option("--duration", raw.duration, "as in 500ms, 10s, 5min")->capture_default_str();
    app.add_option("--count", options.session.trial.packets,
                   "end after so many packets, if that is earlier");
    return;
  }
  app.add_option("--trial", raw.duration, "duration of each trial")->capture_default_str();
  app.add_option("--precision", raw.precision, "of the result, in percent of the highest rate")
      ->check(CLI::Range(0.01, 50.0))
      ->capture_default_str();
  if (options.mode == Mode::pdr) {
    app.add_option("--loss", raw.loss, "that is allowed, in percent")
        ->check(CLI::Range(0.0001, 50.0))
        ->capture_default_str();
  }
}

void declare_plain(CLI::App& app, Raw& raw) {
  app.add_option("--size", raw.size,
                 "of frames with check sequence: 64, 64-1518 or imix (7:4:1 of 64, 570, 1518)")
      ->capture_default_str();
  app.add_option("--flows", raw.flows, "5-tuples of each path")
      ->check(CLI::Range(1u, PlainTraffic::flows_max))
      ->capture_default_str();
  app.add_option("--hosts", raw.hosts, "behind each port, with addresses of their own")
      ->check(CLI::Range(1u, 1u << 18))
      ->capture_default_str();
}

void declare_canary(CLI::App& app, Raw& raw, Options& options) {
  auto& plan = options.canary;
  app.add_option("--workers", raw.workers, "of each job, the leader included")
      ->check(CLI::Range(2u, CanaryRanks::ranks_max))
      ->capture_default_str();
  app.add_option("--jobs", plan.jobs, "at the same time")
      ->check(CLI::Range(1u, 4096u))
      ->capture_default_str();
  app.add_option("--first-job", raw.first_job, "number of the first job; default: drawn");
  app.add_option("--elements", plan.elements, "in each packet")
      ->check(CLI::Range(1, 9000))
      ->capture_default_str();
  app.add_option("--type", raw.types, "f32 f64 f16 bf16 i8 i16 i32 i64, or all: jobs take turns")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--op", raw.operators, "sum min max prod and or xor, or all")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--encapsulation", raw.encapsulation, "udp or ethernet")
      ->check(CLI::IsMember({"udp", "ethernet"}))
      ->capture_default_str();
  app.add_option("--interleave", plan.interleave,
                 "blocks of which each worker sends its part before the next worker does")
      ->check(CLI::Range(1u, 65536u))
      ->capture_default_str();
}

void declare_canary_run(CLI::App& app, Raw& raw, Options& options) {
  app.add_option("--blocks", options.canary.window, "in flight, of each job")
      ->check(CLI::Range(1u, 65536u))
      ->capture_default_str();
  app.add_option("--block-timeout", raw.block_timeout, "after which a block counts as lost")
      ->capture_default_str();
}

void declare_pcap(CLI::App& app, Raw& raw, Options& options) {
  app.add_option("--file", options.pcap_file, "to write")->required()->type_name("FILE");
  app.add_option("--address", raw.address, "of the first host; others count up");
  app.add_option("--mac", raw.mac, "of the first host; others count up");
  app.add_option("--gateway-mac", raw.gateway_mac, "of the switch's port, if it routes");
  app.add_option("--mtu", options.mtu, "bytes of IP in a packet")
      ->check(CLI::Range(control::mtu_min, control::mtu_max))
      ->capture_default_str();
  if (options.kind == Kind::plain) {
    options.pcap_packets = 1024;
    app.add_option("--count", options.pcap_packets, "frames")
        ->check(CLI::Range(1u, 1u << 24))
        ->capture_default_str();
    return;
  }
  options.pcap_blocks = 64;
  app.add_option("--blocks", options.pcap_blocks, "blocks of each job; then the file is over")
      ->check(CLI::Range(1u, 1u << 20))
      ->capture_default_str();
  app.add_option("--switch", raw.pcap_switch, "IPv4 address of the switch, to which the results go")
      ->required();
}

void interpret_ports(const Raw& raw, Options& options) {
  for (const auto& text : raw.ports) {
    options.ports.push_back(value_of("--port", parse_port(text, options.ports.size())));
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
}

void interpret_run(const Raw& raw, Options& options) {
  const double line_rate =
      raw.line_rate.empty() ? 0 : value_of("--line-rate", parse_line_rate(raw.line_rate));
  auto& trial = options.session.trial;
  trial.rate = value_of("--rate", parse_rate(raw.rate, line_rate));
  trial.duration = duration_of("--duration", raw.duration);
  trial.warm_up = duration_of("--warm-up", raw.warm_up);
  trial.drain = duration_of("--drain", raw.drain);
  if (trial.duration <= Duration::zero()) {
    refuse("--duration", "must not be 0");
  }
  if (options.mode != Mode::run) {
    const double loss = options.mode == Mode::pdr ? raw.loss / 100 : 0;
    options.session.search = SearchPlan{loss, trial.rate, raw.precision / 100};
  }
}

void interpret_plain(const Raw& raw, Options& options) {
  auto sizes = value_of("--size", FrameSizes::parse(raw.size));
  const auto frame_max = options.mtu + sizeof(wire::EthernetHeader);
  if (sizes.largest_bytes() > frame_max) {
    refuse("--size", "frames of " + raw.size + " do not fit an MTU of " +
                         std::to_string(options.mtu) + "; say --mtu " +
                         std::to_string(sizes.largest_bytes() - sizeof(wire::EthernetHeader)));
  }
  // Around the ring of ports: from the first to the second, and so on.
  std::vector<PlainPath> paths;
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
  if (paths.size() > PlainTraffic::paths_max) {
    refuse("--path", "there can be at most " + std::to_string(PlainTraffic::paths_max) + " paths");
  }
  if (std::uint64_t{raw.flows} * paths.size() > PlainTraffic::flows_max) {
    refuse("--flows", "all paths together can have at most " +
                          std::to_string(PlainTraffic::flows_max) + " flows");
  }
  for (auto& port : options.ports) {
    port.stations.count = raw.hosts;
  }
  options.plain = PlainPlan{std::move(sizes), std::move(paths), raw.flows};
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

void interpret_kinds(const Raw& raw, CanaryPlan& plan) {
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

void interpret_canary(const Raw& raw, Options& options) {
  auto& plan = options.canary;
  plan.hosts = raw.workers;
  plan.encapsulation =
      raw.encapsulation == "udp" ? wire::Encapsulation::udp : wire::Encapsulation::ethernet;
  plan.block_timeout = duration_of("--block-timeout", raw.block_timeout);
  if (plan.block_timeout < std::chrono::milliseconds(1)) {
    refuse("--block-timeout", "is at least 1ms");
  }
  // Switches may still know the blocks of the run before under its numbers.
  plan.first_job = raw.first_job.value_or(std::random_device{}() | 1u);
  interpret_kinds(raw, plan);
  const std::size_t headers =
      sizeof(wire::CanaryHeader) + (plan.encapsulation == wire::Encapsulation::udp
                                        ? sizeof(wire::Ipv4Header) + sizeof(wire::UdpHeader)
                                        : 0);
  for (const auto& kind : plan.kinds) {
    const auto bytes = wire::element_bytes(kind.type);
    if (plan.elements * bytes + headers > options.mtu) {
      refuse("--elements", std::to_string(plan.elements) + " of " + std::string(name(kind.type)) +
                               " do not fit an MTU of " + std::to_string(options.mtu) +
                               "; at most " + std::to_string((options.mtu - headers) / bytes) +
                               " do");
    }
  }
  for (auto& port : options.ports) {
    port.stations.count =
        static_cast<std::uint32_t>((plan.hosts + options.ports.size() - 1) / options.ports.size());
  }
}

// The one port that a file stands for.
void interpret_pcap(const Raw& raw, Options& options) {
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
  options.ports.push_back(std::move(spec));
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

void interpret(const Raw& raw, Options& options) {
  if (options.mode == Mode::pcap) {
    interpret_pcap(raw, options);
  } else {
    interpret_ports(raw, options);
    interpret_run(raw, options);
  }
  if (options.kind == Kind::plain) {
    interpret_plain(raw, options);
  } else {
    interpret_canary(raw, options);
  }
  choose_buffers(options);
}

struct Command {
  Mode mode;
  Kind kind;
  CLI::App* app = nullptr;
  Raw raw{};
  Options options{};
};

void declare(Command& command) {
  auto& [mode, kind, app, raw, options] = command;
  options.mode = mode;
  options.kind = kind;
  if (mode == Mode::pcap) {
    declare_pcap(*app, raw, options);
  } else {
    declare_ports(*app, raw, options);
    declare_run(*app, raw, options);
    declare_report(*app, raw, options);
    app->footer(port_help);
  }
  if (kind == Kind::plain) {
    declare_plain(*app, raw);
    if (mode != Mode::pcap) {
      app->add_option("--path", raw.paths,
                      "0:1 is from the first port to the second; default: around all ports");
    }
  } else {
    declare_canary(*app, raw, options);
    if (mode != Mode::pcap) {
      declare_canary_run(*app, raw, options);
    }
  }
}

}  // namespace

std::vector<StationRange> Options::station_ranges() const {
  std::vector<StationRange> ranges;
  for (const auto& port : ports) {
    ranges.push_back(port.stations);
  }
  return ranges;
}

Parsed parse(int argc, char** argv) {
  CLI::App app("Packet generator for plain and aggregation traffic.", "tributary-pktgen");
  app.set_version_flag("--version", "tributary-pktgen " TRIBUTARY_VERSION);
  app.set_help_all_flag("--help-all", "Print the help of all subcommands");
  app.footer(examples);
  app.require_subcommand(1);
  const auto add_mode = [&](const char* name, const char* about) {
    auto* mode = app.add_subcommand(name, about);
    mode->require_subcommand(1);
    return mode;
  };
  auto* ndr = add_mode("ndr", "Search the highest rate without loss");
  auto* pdr = add_mode("pdr", "Search the highest rate with little loss");
  auto* pcap = add_mode("pcap", "Write traffic to a file, for a net_pcap port");
  std::vector<Command> commands;
  for (const auto& [mode, parent] :
       {std::pair{Mode::run, &app}, {Mode::ndr, ndr}, {Mode::pdr, pdr}, {Mode::pcap, pcap}}) {
    commands.push_back(
        {mode, Kind::plain, parent->add_subcommand("plain", "UDP frames that come back")});
    commands.push_back(
        {mode, Kind::canary,
         parent->add_subcommand("canary", "Canary aggregation; every sum is checked")});
  }
  for (auto& command : commands) {
    declare(command);
  }
  try {
    app.parse(argc, argv);
    for (auto& command : commands) {
      if (command.app->parsed()) {
        interpret(command.raw, command.options);
        return {std::move(command.options), 0};
      }
    }
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error);
    return {std::nullopt, status == 0 ? 0 : exit_usage};
  }
  return {std::nullopt, exit_usage};
}

}  // namespace tributary::pktgen
