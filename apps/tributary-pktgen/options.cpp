// SPDX-License-Identifier: BSD-3-Clause
#include "options.h"

#include <limits>
#include <utility>

#include <CLI/CLI.hpp>

#include "options_raw.h"
#include "protocols/panama/traffic/feed.h"
#include "report.h"
#include "traffic/ranks.h"

namespace tributary::pktgen {
namespace {

constexpr int exit_usage = 2;

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

void declare_ports(CLI::App& app, Raw& raw, Options& options) {
  app.add_option("--port", raw.ports, "a port; see below")->required()->type_name("KIND=WHAT,...");
  app.add_option("--mtu", options.mtu, "bytes of IP in a packet")
      ->check(CLI::Range(control::mtu_min, control::mtu_max))
      ->capture_default_str();
  app.add_option("--core", raw.core, "CPU of the packet loop; default: the last one that is free");
  app.add_option("--buffers", options.buffers, "packet buffers; default: what is in flight needs")
      ->check(CLI::Range(1024u, buffers_max));
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
                 "1.5Mpps, 800Mbit (on the line): of what all ports together send of their own "
                 "accord; 50%: of the --line-rate of each of them; unlimited")
      ->capture_default_str();
  app.add_option("--line-rate", raw.line_rate, "of a port, as in 10Gbit");
  app.add_option("--warm-up", raw.warm_up, "at the same rate, not counted")->capture_default_str();
  app.add_option("--drain", raw.drain, "how long to wait for what is under way at the end")
      ->capture_default_str();
  if (options.mode == Mode::run) {
    app.add_option("--duration", raw.duration, "as in 500ms, 10s, 5min")->capture_default_str();
    app.add_option("--count", options.session.trial.packets,
                   "end after so many packets, if that is earlier")
        ->check(CLI::PositiveNumber);
    app.add_flag("--send-only", options.send_only,
                 "it is no failure if little or nothing comes back");
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
      ->check(CLI::Range(1u, traffic::PlainTraffic::flows_max))
      ->capture_default_str();
  app.add_option("--source-port", raw.source_port, "UDP port of the first flows; others count up")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  app.add_option("--destination-port", raw.destination_port, "UDP port; not 17000 to 17255")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  app.add_option("--hosts", raw.hosts, "behind each port, with addresses of their own")
      ->check(CLI::Range(1u, 1u << 18))
      ->capture_default_str();
}

// What all kinds of aggregation have.
void declare_jobs(CLI::App& app, Raw& raw, std::uint32_t& jobs) {
  app.add_option("--jobs", jobs, "at the same time")
      ->check(CLI::Range(1u, 4096u))
      ->capture_default_str();
  app.add_option("--type", raw.types, "f32 f64 f16 bf16 i8 i16 i32 i64, or all: jobs take turns")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--op", raw.operators, "sum min max prod and or xor, or all")
      ->delimiter(',')
      ->capture_default_str();
}

void declare_elements(CLI::App& app, std::uint16_t& elements) {
  app.add_option("--elements", elements, "in each packet")
      ->check(CLI::Range(1, 9000))
      ->capture_default_str();
}

void declare_block_timeout(CLI::App& app, Raw& raw) {
  app.add_option("--block-timeout", raw.block_timeout, "after which a block counts as lost")
      ->capture_default_str();
}

void declare_interleave(CLI::App& app, std::uint32_t& interleave) {
  app.add_option("--interleave", interleave,
                 "blocks of which each worker sends its part before the next worker does")
      ->check(CLI::Range(1u, 65536u))
      ->capture_default_str();
}

void declare_canary(CLI::App& app, Raw& raw, Options& options) {
  app.add_option("--workers", raw.workers, "of each job, the leader included; default: 8")
      ->check(CLI::Range(2u, traffic::Ranks::ranks_max));
  app.add_option("--first-job", raw.first_job, "number of the first job; default: drawn");
  declare_jobs(app, raw, options.canary.jobs);
  declare_elements(app, options.canary.elements);
  app.add_option("--encapsulation", raw.encapsulation, "udp or ethernet")
      ->check(CLI::IsMember({"udp", "ethernet"}))
      ->capture_default_str();
  declare_interleave(app, options.canary.interleave);
}

void declare_canary_run(CLI::App& app, Raw& raw, Options& options) {
  app.add_option("--blocks", options.canary.window, "in flight, of each job")
      ->check(CLI::Range(1u, 65536u))
      ->capture_default_str();
  declare_block_timeout(app, raw);
}

void declare_panama(CLI::App& app, Raw& raw, Options& options) {
  auto& plan = options.panama;
  app.add_option("--workers", raw.workers,
                 "of each job, each at another port; default: one at every port")
      ->check(CLI::Range(1u, traffic::Ranks::ranks_max));
  app.add_option("--first-job", plan.first_job, "number of the first job")
      ->check(CLI::Range(1u, std::numeric_limits<std::uint32_t>::max()))
      ->capture_default_str();
  app.add_option("--trees", plan.trees, "of each job")
      ->check(CLI::Range(1u, 1024u))
      ->capture_default_str();
  app.add_option("--group", raw.group,
                 "multicast address of the first job's first tree; other trees and jobs count up")
      ->capture_default_str();
  app.add_option("--collective", plan.collective, "packets of each tree in one")
      ->check(CLI::Range(1u, 1u << 30))
      ->capture_default_str();
  declare_jobs(app, raw, plan.jobs);
  declare_elements(app, plan.elements);
}

void declare_panama_run(CLI::App& app, Raw& raw, Options& options) {
  auto& plan = options.panama;
  app.add_option("--window", plan.window,
                 "packets in flight, of each tree, if the switches allow so many")
      ->check(CLI::Range(1u, 65535u))
      ->capture_default_str();
  app.add_option("--parent", plan.parent,
                 "number of the port at which the root is played; default: the switch is the root");
  declare_interleave(app, plan.interleave);
  declare_block_timeout(app, raw);
}

void declare_panama_pcap(CLI::App& app, Options& options) {
  options.panama.collective = 8;
  options.pcap_collectives = panama::panama_collectives_min;
  app.add_option("--collectives", options.pcap_collectives, "of each job; then the files are over")
      ->check(CLI::Range(panama::panama_collectives_min, 65536u))
      ->capture_default_str();
}

void declare_netreduce(CLI::App& app, Raw& raw, Options& options) {
  auto& plan = options.netreduce;
  app.add_option("--workers", raw.workers, "of each ring; default: 8")
      ->check(CLI::Range(2u, traffic::Ranks::ranks_max));
  app.add_option("--first-ring", plan.first_ring, "number of the first ring")
      ->capture_default_str();
  app.add_option("--message-packets", plan.message_packets, "of each message")
      ->check(CLI::Range(1u, 8192u))
      ->capture_default_str();
  app.add_option("--path-mtu", plan.path_mtu, "payload bytes of each packet")
      ->check(CLI::IsMember({256, 512, 1024, 2048, 4096}))
      ->capture_default_str();
  declare_jobs(app, raw, plan.jobs);
  declare_interleave(app, plan.interleave);
}

void declare_netreduce_run(CLI::App& app, Raw& raw, Options& options) {
  app.add_option("--window", options.netreduce.window, "messages in flight, of each worker")
      ->check(CLI::Range(1u, 64u))
      ->capture_default_str();
  declare_block_timeout(app, raw);
}

void declare_netreduce_pcap(CLI::App& app, Options& options) {
  options.pcap_messages = 4;
  app.add_option("--messages", options.pcap_messages,
                 "of each of five runs, the first of which has one packet")
      ->check(CLI::Range(1u, 65536u))
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
  if (options.kind == Kind::panama) {
    return declare_panama_pcap(app, options);
  }
  if (options.kind == Kind::netreduce) {
    return declare_netreduce_pcap(app, options);
  }
  options.pcap_blocks = 64;
  app.add_option("--blocks", options.pcap_blocks, "blocks of each job; then the file is over")
      ->check(CLI::Range(1u, 1u << 20))
      ->capture_default_str();
  app.add_option(
         "--cores", options.pcap_cores,
         "of the switch: writes as many files (feed.0.pcap, ...), each with the blocks that "
         "one core owns")
      ->check(CLI::Range(std::uint16_t{1}, control::queues_max))
      ->capture_default_str();
  app.add_option("--switch", raw.pcap_switch, "IPv4 address of the switch, to which the results go")
      ->required();
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
  } else if (kind == Kind::panama) {
    declare_panama(*app, raw, options);
    if (mode != Mode::pcap) {
      declare_panama_run(*app, raw, options);
    }
  } else if (kind == Kind::netreduce) {
    declare_netreduce(*app, raw, options);
    if (mode != Mode::pcap) {
      declare_netreduce_run(*app, raw, options);
    }
  } else {
    declare_canary(*app, raw, options);
    if (mode != Mode::pcap) {
      declare_canary_run(*app, raw, options);
    }
  }
}

}  // namespace

Parsed parse(int argc, char** argv) {
  CLI::App app("Packet generator for plain and aggregation traffic.", "tributary-pktgen");
  app.set_version_flag("--version", "tributary-pktgen " TRIBUTARY_VERSION);
  app.set_help_all_flag("--help-all", "Print the help of all subcommands");
  app.footer(examples);
  app.require_subcommand(1);
  std::vector<Command> commands;
  const auto add_kinds = [&](Mode mode, CLI::App& parent) {
    commands.push_back(
        {mode, Kind::plain, parent.add_subcommand("plain", "UDP frames that come back")});
    commands.push_back(
        {mode, Kind::canary,
         parent.add_subcommand("canary", "Canary aggregation; every sum is checked")});
    commands.push_back(
        {mode, Kind::panama,
         parent.add_subcommand("panama", "PANAMA aggregation; every sum is checked")});
    commands.push_back(
        {mode, Kind::netreduce,
         parent.add_subcommand("netreduce", "NetReduce aggregation; every sum is checked")});
  };
  const auto add_mode = [&](Mode mode, const char* about) {
    CLI::App& app_of_mode = *app.add_subcommand(name_of(mode), about);
    app_of_mode.require_subcommand(1);
    add_kinds(mode, app_of_mode);
  };
  add_kinds(Mode::run, app);
  add_mode(Mode::ndr, "Search the highest rate without loss");
  add_mode(Mode::pdr, "Search the highest rate with little loss");
  add_mode(Mode::pcap, "Write traffic to a file, for a net_pcap port");
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
