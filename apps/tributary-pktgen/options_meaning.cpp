// SPDX-License-Identifier: BSD-3-Clause
// This file tells what the command line means.
#include <algorithm>
#include <bit>
#include <chrono>
#include <random>
#include <set>
#include <utility>

#include "control/cores.h"
#include "control/text.h"
#include "options_raw.h"
#include "port_spec.h"
#include "traffic/option_text.h"

namespace tributary::pktgen {
namespace {

using traffic::duration_of;
using traffic::Mode;
using traffic::refuse;
using traffic::value_of;

constexpr std::uint64_t ring_buffers = 8192;  // in the devices' rings and on the way

void interpret_ports(const Raw& raw, Options& options) {
  std::set<std::string> uses;
  for (const auto& text : raw.ports) {
    auto port = value_of("--port", parse_port(text, options.devices.size()));
    const auto use = control::exclusive_use(port.device);
    if (!use.empty() && !uses.insert(use).second) {
      refuse("--port", use + " is given twice; a port may both send and receive");
    }
    options.devices.push_back(std::move(port.device));
    options.conditions.stations.push_back(port.stations);
  }
  if (options.devices.size() > control::devices_max) {
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

void interpret_run(const Raw& raw, Options& options) {
  const double line_rate = raw.line_rate.empty()
                               ? 0
                               : value_of("--line-rate", traffic::parse_line_rate(raw.line_rate)) *
                                     options.kind->lines(options.devices.size());
  auto& trial = options.session.trial;
  trial.rate = value_of("--rate", traffic::parse_rate(raw.rate, line_rate));
  trial.duration =
      duration_of(options.mode() == Mode::run ? "--duration" : "--trial", raw.duration);
  trial.warm_up = duration_of("--warm-up", raw.warm_up);
  trial.drain = duration_of("--drain", raw.drain);
  options.settle = duration_of("--settle", raw.settle);
  if (trial.duration <= Duration::zero()) {
    refuse(options.mode() == Mode::run ? "--duration" : "--trial", "must not be 0");
  }
  if (options.mode() != Mode::run) {
    if (options.kind->patience() > trial.drain) {
      refuse("--drain",
             "is to be as long as --block-timeout, or blocks that one trial lost would take the "
             "next one's place");
    }
    const double loss = options.mode() == Mode::pdr ? raw.loss / 100 : 0;
    options.session.search = traffic::SearchPlan{loss, trial.rate, raw.precision / 100};
  }
}

// Makes the port that files stand for.
void interpret_pcap(const Raw& raw, Options& options) {
  if (options.pcap_file == "-") {
    refuse("--file", "standard output is for what the switch's configuration needs; name a file");
  }
  auto stations = default_stations(0);
  if (!raw.address.empty()) {
    if (const auto set = set_address(raw.address, stations); !set) {
      refuse("--address", set.error());
    }
  }
  if (!raw.mac.empty()) {
    stations.mac = value_of("--mac", control::parse_mac(raw.mac));
  }
  if (!raw.gateway_mac.empty()) {
    stations.gateway_mac = value_of("--gateway-mac", control::parse_mac(raw.gateway_mac));
  }
  options.conditions.stations = {stations};
}

// Says what is wrong with the versions of IP that the ports' hosts speak.
void check_versions(const Options& options) {
  const std::string option = options.mode() == Mode::pcap ? "--address" : "--port";
  const auto& ports = options.conditions.stations;
  const auto& prefix = ports.front().prefix;
  for (const auto& port : ports) {
    if (port.prefix.has_value() != prefix.has_value()) {
      refuse(option, "hosts of all ports speak one version of IP; give each an address= of IPv6");
    }
    if (options.kind->speaks_ipv6() || !prefix) {
      continue;
    }
    if (port.prefix != prefix) {
      refuse(option,
             "hosts that take part in sums have one prefix of 96 bits, the switch's "
             "embedding_prefix; say for example address=2001:db8:64::10.1.1.2");
    }
    if (port.address.is_multicast()) {
      refuse(option, control::to_string(prefix->embed(port.address)) +
                         " embeds an IPv4 group, and no host; say for example "
                         "address=2001:db8:64::10.1.1.2");
    }
  }
}

void choose_buffers(Options& options) {
  if (options.buffers != 0) {
    return;
  }
  options.buffers = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      ring_buffers * (options.devices.size() + 1) / 2 + ring_buffers + options.kind->packets_kept(),
      traffic::buffers_max));
}

// Switches tell this run from an earlier one by these numbers.
void draw_numbers(traffic::Conditions& conditions) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  conditions.drawn = std::random_device{}();
  conditions.clock_ms = static_cast<std::uint32_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

}  // namespace

void interpret(const RawFeed& raw, FeedOptions& options) {
  options.warm_up = duration_of("--warm-up", raw.warm_up);
  options.duration = duration_of("--duration", raw.duration);
  if (options.duration <= Duration::zero()) {
    refuse("--duration", "must not be 0");
  }
  if (!std::has_single_bit(options.descriptors)) {
    refuse("--descriptors", "is a power of two, as in 512");
  }
}

void interpret(const Raw& raw, Options& options) {
  const bool sends = options.mode() != Mode::pcap;
  if (sends) {
    interpret_ports(raw, options);
  } else {
    interpret_pcap(raw, options);
  }
  check_versions(options);
  draw_numbers(options.conditions);
  options.kind->interpret(options.conditions);
  if (sends) {
    interpret_run(raw, options);
    choose_buffers(options);
  }
}

}  // namespace tributary::pktgen
