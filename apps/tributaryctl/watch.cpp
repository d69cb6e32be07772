// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <map>
#include <thread>

#include "actions.h"

namespace tributary::ctl {
namespace {

using nlohmann::json;
using SteadyTime = std::chrono::steady_clock::time_point;

struct Sample {
  SteadyTime at;
  std::map<std::string, json> ports;  // "switch:port" -> counters
};

constexpr const char* figures[] = {"rx_packets", "rx_bytes", "tx_packets", "tx_bytes"};
constexpr std::uint64_t ports_max = 10000;

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

// {"port": "leaf1:h1", "rx_packets_per_second": ..., ...} for each port.
json rates(const Sample& before, const Sample& after) {
  const double seconds = std::chrono::duration<double>(after.at - before.at).count();
  json rows = json::array();
  for (const auto& [port, counters] : after.ports) {
    const auto earlier = before.ports.find(port);
    if (earlier == before.ports.end()) {
      continue;
    }
    json row = {{"port", port}};
    for (const char* figure : figures) {
      const std::string total = std::string(figure) + "_total";
      const double change = counters.value(total, 0.0) - earlier->second.value(total, 0.0);
      row[std::string(figure) + "_per_second"] = seconds > 0 ? change / seconds : 0.0;
    }
    const char* const drops = "queue_tail_dropped_packets_total";
    row["tail_dropped_packets_per_second"] =
        seconds > 0 ? (counters.value(drops, 0.0) - earlier->second.value(drops, 0.0)) / seconds
                    : 0.0;
    rows.push_back(std::move(row));
  }
  return rows;
}

void print(const Options& options, const json& rows) {
  if (options.json) {
    std::printf("%s\n", rows.dump().c_str());
    std::fflush(stdout);
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
                     count("tail_dropped_packets_per_second")});
  }
  print_table({{"PORT"},
               {"RX-PACKETS/S", true},
               {"RX", true},
               {"TX-PACKETS/S", true},
               {"TX", true},
               {"TAIL-DROPS/S", true}},
              cells);
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

ExitCode watch(const Options& options, double interval_s, std::uint64_t count) {
  auto client = control::Client::connect(options.socket, options.timeout());
  if (!client) {
    return report(options, client.error());
  }
  auto before = sample(*client);
  for (std::uint64_t tick = 0; before && (count == 0 || tick < count); ++tick) {
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
