// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <map>
#include <thread>
#include <vector>

#include "actions.h"

namespace tributary::ctl {
namespace {

using nlohmann::json;
using SteadyTime = std::chrono::steady_clock::time_point;

struct Sample {
  SteadyTime at;
  std::map<std::string, json> ports;  // "switch:port" -> counters
};

constexpr std::uint64_t ports_max = 10000;

// A Rate is told by the second; it is the sum of these counters.
struct Rate {
  const char* name;
  std::vector<const char*> counters;
};
const Rate rates_told[] = {
    {"rx_packets_per_second", {"rx_packets_total"}},
    {"rx_bytes_per_second", {"rx_bytes_total"}},
    {"tx_packets_per_second", {"tx_packets_total"}},
    {"tx_bytes_per_second", {"tx_bytes_total"}},
    {"rx_missed_packets_per_second", {"rx_missed_packets_total"}},
    {"tail_dropped_packets_per_second", {"queue_tail_dropped_packets_total"}},
    {"unsent_packets_per_second",
     {"tx_device_dropped_packets_total", "link_down_dropped_packets_total",
      "pause_dropped_packets_total"}},
};

tl::expected<Sample, control::CallError> sample(control::Client& client) {
  auto result = client.call("port.list", {{"limit", ports_max}});
  if (!result) {
    return tl::unexpected(result.error());
  }
  Sample taken{std::chrono::steady_clock::now(), {}};
  for (const json& row : result->value("rows", json::array())) {
    taken.ports[row.value("switch", "") + ":" + row.value("port", "")] =
        row.value("counters", json::object());
  }
  return taken;
}

// Returns {"port": "leaf1:h1", "rx_packets_per_second": ..., ...} for each port.
json rates(const Sample& before, const Sample& after) {
  const double seconds = std::chrono::duration<double>(after.at - before.at).count();
  json rows = json::array();
  for (const auto& [port, counters] : after.ports) {
    const auto earlier = before.ports.find(port);
    if (earlier == before.ports.end()) {
      continue;
    }
    json row = {{"port", port}};
    for (const auto& rate : rates_told) {
      double change = 0;
      for (const char* counter : rate.counters) {
        change += counters.value(counter, 0.0) - earlier->second.value(counter, 0.0);
      }
      row[rate.name] = seconds > 0 ? change / seconds : 0.0;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

void print(const Options& options, const json& rows) {
  if (options.json) {
    print_json_line(rows);
    return;
  }
  std::vector<Cells> cells;
  for (const json& row : rows) {
    const auto count = [&](const char* key) {
      return std::to_string(static_cast<long long>(row.value(key, 0.0) + 0.5));
    };
    cells.push_back({row.value("port", ""), count("rx_packets_per_second"),
                     rate_for_people(row.value("rx_bytes_per_second", 0.0) * 8),
                     count("tx_packets_per_second"),
                     rate_for_people(row.value("tx_bytes_per_second", 0.0) * 8),
                     count("rx_missed_packets_per_second"),
                     count("tail_dropped_packets_per_second"), count("unsent_packets_per_second")});
  }
  print_table({{"PORT"},
               {"RX-PACKETS/S", true},
               {"RX", true},
               {"TX-PACKETS/S", true},
               {"TX", true},
               {"RX-MISSED/S", true},
               {"TAIL-DROPS/S", true},
               {"UNSENT/S", true}},
              cells);
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

ExitCode watch(const Options& given, double interval_s, std::uint64_t count) {
  auto options = given;
  options.json_lines = true;
  auto client = control::Client::connect(options.socket, options.timeout());
  if (!client) {
    return report(options, client.error());
  }
  auto before = sample(*client);
  for (std::uint64_t tick = 0; before && (count == 0 || tick < count) && std::ferror(stdout) == 0;
       ++tick) {
    std::this_thread::sleep_for(std::chrono::duration<double>(interval_s));
    auto after = sample(*client);
    if (!after) {
      return report(options, after.error());
    }
    print(options, rates(*before, *after));
    before = std::move(after);
  }
  return before ? ExitCode::ok : report(options, before.error());
}

}  // namespace tributary::ctl
