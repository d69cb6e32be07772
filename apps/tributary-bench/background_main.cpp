// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "background.h"
#include "background_flows.h"
#include "decimal.h"
#include "exit_codes.h"
#include "host/protocol.h"
#include "host/transport/address.h"
#include "real_range.h"
#include "units.h"
#include "wire/ipv4.h"
#include "wire/transport.h"

namespace tributary::bench {
namespace {

// This is what stands on the command line, before it means anything.
struct RawBackground {
  std::vector<std::string> peers;
  std::string address;
  std::uint64_t rate_bps = 0;
  double share = 1;
  std::string pattern = "uniform";
  std::optional<std::size_t> message_bytes;
  double period_s = 0;
  double duration_s = 10;
};

// Returns for example "17000 to 17255 (canary), 17256 (panama)".
std::string ports_of_protocols() {
  std::string text;
  for (const auto* protocol : host::protocols()) {
    const auto [first, last] = protocol->udp_ports;
    if (last == 0) {
      continue;  // this protocol has none
    }
    text += (text.empty() ? "" : ", ") + std::to_string(first) +
            (first == last ? "" : " to " + std::to_string(last)) + " (" +
            std::string(protocol->name) + ")";
  }
  return text;
}

void declare(CLI::App& app, RawBackground& raw, BackgroundOptions& options) {
  app.add_option("--peers", raw.peers,
                 "IPv4 addresses of all hosts that take part, the same list "
                 "on each")
      ->delimiter(',')
      ->required();
  app.add_option("--address", raw.address, "this host's among them; default: the one it has");
  as_rate(app.add_option("--rate", raw.rate_bps, "of the line, as in 50Mbit, all overhead counted"))
      ->required();
  app.add_option("--share", raw.share, "of that rate which is sent")
      ->check(apps::real_range(0.001, 1.0))
      ->capture_default_str();
  app.add_option("--pattern", raw.pattern,
                 "uniform: each host draws its peer by itself; permutation: all draw one together, "
                 "so that each host receives from exactly one")
      ->check(CLI::IsMember({"uniform", "permutation"}))
      ->capture_default_str();
  auto* message = as_size(app.add_option("--message", raw.message_bytes,
                                         "bytes after which a new peer is drawn"))
                      ->check(CLI::PositiveNumber)
                      ->default_str("64K");
  app.add_option("--period", raw.period_s,
                 "seconds after which a new peer is drawn, by all hosts at once; instead of "
                 "--message, and 0.05 for permutations")
      ->check(apps::real_range(0.001, 3600.0))
      ->excludes(message);
  app.add_option("--mtu", options.mtu, "bytes of IP in each packet")
      ->check(CLI::Range(64, 9000))
      ->capture_default_str();
  options.port = 18000;
  app.add_option("--port", options.port,
                 "of UDP, on all hosts; none of a protocol's: " + ports_of_protocols())
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "the same seed on all hosts draws the same peers")
      ->capture_default_str();
  app.add_option("--duration", raw.duration_s, "seconds")
      ->check(apps::real_range(0.01, 86400.0))
      ->capture_default_str();
  app.add_flag("--json", options.json, "one JSON document");
}

wire::Ipv4Address address_of(const std::string& text) {
  const auto address = host::parse_address(text);
  if (!address) {
    throw CLI::ValidationError(text, "is not an IPv4 address such as 10.1.1.2");
  }
  return *address;
}

std::size_t place_of_self(const RawBackground& raw, const std::vector<wire::Ipv4Address>& peers) {
  for (std::size_t i = 0; i < peers.size(); ++i) {
    const bool self = raw.address.empty() ? host::interface_of(peers[i]).has_value()
                                          : peers[i] == address_of(raw.address);
    if (self) {
      return i;
    }
  }
  if (!raw.address.empty()) {
    throw CLI::ValidationError("--address", raw.address + " is not among --peers");
  }
  throw CLI::ValidationError("--peers",
                             "does not have any address of this host; add it, or say --address");
}

void interpret(const RawBackground& raw, BackgroundOptions& options) {
  for (const std::string& text : raw.peers) {
    const auto address = address_of(text);
    if (std::find(options.peers.begin(), options.peers.end(), address) != options.peers.end()) {
      throw CLI::ValidationError("--peers", text + " is named twice");
    }
    options.peers.push_back(address);
  }
  if (options.peers.size() < 2) {
    throw CLI::ValidationError("--peers", "give at least two addresses: a host sends to others");
  }
  for (const auto* protocol : host::protocols()) {
    const auto ports = protocol->udp_ports;
    if (options.port >= ports.first && options.port <= ports.last) {
      throw CLI::ValidationError(
          "--port", std::to_string(options.port) + " is a protocol's: " + ports_of_protocols());
    }
  }
  options.self = place_of_self(raw, options.peers);
  options.rate_bps = static_cast<std::uint64_t>(static_cast<double>(raw.rate_bps) * raw.share);
  if (options.rate_bps == 0) {
    throw CLI::ValidationError("--share", "leaves nothing of the rate");
  }
  options.pattern = raw.pattern == "uniform" ? Pattern::uniform : Pattern::permutation;
  if (raw.message_bytes && options.pattern == Pattern::permutation) {
    throw CLI::ValidationError("--message",
                               "is of --pattern uniform: permutations have a --period");
  }
  const bool periodic = raw.period_s > 0 || options.pattern == Pattern::permutation;
  const std::size_t payload = options.mtu - sizeof(wire::Ipv4Header) - sizeof(wire::UdpHeader);
  options.message_packets =
      periodic ? 0 : (raw.message_bytes.value_or(64 << 10) + payload - 1) / payload;
  options.period = nanoseconds_of(raw.period_s > 0 ? raw.period_s : 0.05);
  options.duration = nanoseconds_of(raw.duration_s);
}

double line_bps(std::uint64_t packets, const BackgroundOptions& options,
                const BackgroundCounts& counts) {
  return static_cast<double>(packets * options.line_bytes()) * 8 / std::max(counts.seconds, 1e-3);
}

void report(const BackgroundOptions& options, const BackgroundCounts& counts) {
  const double sent = line_bps(counts.sent, options, counts);
  const double received = line_bps(counts.received, options, counts);
  if (options.json) {
    const nlohmann::ordered_json document = {
        {"address", host::to_string(options.peers[options.self])},
        {"pattern", options.pattern == Pattern::uniform ? "uniform" : "permutation"},
        {"seconds", counts.seconds},
        {"line_bytes_per_packet", options.line_bytes()},
        {"sent_packets", counts.sent},
        {"unsent_packets", counts.unsent},
        {"asked_line_bps", options.rate_bps},
        {"sent_line_bps", sent},
        {"peer_changes", counts.peer_changes},
        {"received_packets", counts.received},
        {"received_line_bps", received},
        {"lost_packets", counts.lost},
        {"foreign_packets", counts.foreign},
    };
    std::printf("%s\n", document.dump(1).c_str());
    return;
  }
  const auto expected =
      static_cast<double>(std::max<std::uint64_t>(counts.received + counts.lost, 1));
  std::printf(
      "sent %llu packets in %.1f s (%.1f Mbit/s on the line) to %llu peers in turn\n"
      "received %llu packets (%.1f Mbit/s), lost %llu (%.2f %%)\n",
      static_cast<unsigned long long>(counts.sent), counts.seconds, sent * 1e-6,
      static_cast<unsigned long long>(counts.peer_changes),
      static_cast<unsigned long long>(counts.received), received * 1e-6,
      static_cast<unsigned long long>(counts.lost),
      static_cast<double>(counts.lost) / expected * 100);
}

}  // namespace

int background(int argc, char** argv) {
  CLI::App app(
      "Congestion as in section 5.2 of the Canary paper: every host sends UDP at line rate "
      "to a random peer of a list, and draws a new one again and again.",
      "tributary-bench background");
  RawBackground raw;
  BackgroundOptions options;
  declare(app, raw, options);
  try {
    apps::parse_decimal(app, argc, argv);
    interpret(raw, options);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : apps::exit_usage;
  }
  const auto counts = run_background(options);
  if (!counts) {
    std::fprintf(stderr, "tributary-bench: %s\n", counts.error().message.c_str());
    return apps::exit_failed;
  }
  report(options, *counts);
  return 0;
}

}  // namespace tributary::bench
