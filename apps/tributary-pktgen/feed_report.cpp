// SPDX-License-Identifier: BSD-3-Clause
#include "feed_report.h"

#include <cassert>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "control/json.h"

namespace tributary::pktgen {
namespace {

using Counts = std::vector<FeedResult::Count>;

constexpr double waited_share_shown = 0.01;

Counts figures_of(const FeedReading& reading) {
  Counts counts;
  for (const auto& engine : reading.engines) {
    for (const auto& [name, value] : engine.figures) {
      if (name.ends_with("_total")) {
        counts.push_back({engine.switch_name + " " + engine.engine, name, value});
      }
    }
  }
  return counts;
}

Counts drops_of(const FeedReading& reading) {
  Counts counts;
  for (const auto& row :
       control::drop_rows(reading.switches, reading.ports, reading.daemon.cores)) {
    counts.push_back({row["where"].get<std::string>() + " " + row["scope"].get<std::string>(),
                      row["reason"], row["packets_total"]});
  }
  return counts;
}

// Returns what grew between two readings with the same rows, and by how much.
Counts grown(const Counts& before, Counts after) {
  assert(before.size() == after.size());
  for (std::size_t i = 0; i < after.size(); ++i) {
    after[i].number -= before[i].number;
  }
  std::erase_if(after, [](const FeedResult::Count& count) { return count.number == 0; });
  return after;
}

nlohmann::ordered_json rows_of(const Counts& counts) {
  auto rows = nlohmann::ordered_json::array();
  for (const auto& count : counts) {
    rows.push_back({{"where", count.where}, {"name", count.name}, {"gain", count.number}});
  }
  return rows;
}

double waited_share(const FeedResult& result) {
  return result.waited_seconds / result.cpu_seconds;
}

}  // namespace

double FeedResult::cycles_per_packet() const {
  return packets == 0 ? 0 : (cpu_seconds - waited_seconds) * tsc_hz / static_cast<double>(packets);
}

FeedResult gain(const FeedReading& before, const FeedReading& after) {
  FeedResult result;
  result.seconds = after.seconds - before.seconds;
  result.cpu_seconds = after.cpu_seconds - before.cpu_seconds;
  result.tsc_hz = static_cast<double>(after.feed.cycles - before.feed.cycles) / result.seconds;
  result.packets = after.feed.packets - before.feed.packets;
  result.waited_seconds =
      static_cast<double>(after.feed.cycles_waited - before.feed.cycles_waited) / result.tsc_hz;
  result.bursts_without_buffers =
      after.feed.bursts_without_buffers - before.feed.bursts_without_buffers;
  result.figures = grown(figures_of(before), figures_of(after));
  result.drops = grown(drops_of(before), drops_of(after));
  return result;
}

std::string text_of(const FeedResult& result) {
  auto text = fmt::format("received      {:9.3f} Mpps, {:.0f} cycles a packet\n",
                          static_cast<double>(result.packets) / result.seconds / 1e6,
                          result.cycles_per_packet());
  if (waited_share(result) > waited_share_shown) {
    text += fmt::format(
        "the switch waited {:.0f} % of its time for the feeder: rates are the "
        "feeder's, cycles are not\n",
        100 * waited_share(result));
  }
  if (result.bursts_without_buffers > 0) {
    text += fmt::format("buffers ran out {} times; make daemon.packets larger\n",
                        result.bursts_without_buffers);
  }
  for (const auto& figure : result.figures) {
    text += fmt::format("{:14}{:9.3f} M/s {}\n", figure.where,
                        static_cast<double>(figure.number) / result.seconds / 1e6, figure.name);
  }
  for (const auto& drop : result.drops) {
    text += fmt::format("dropped: {} {} {}\n", drop.where, drop.name, drop.number);
  }
  return text;
}

std::string json_of(const FeedResult& result) {
  const nlohmann::ordered_json document = {
      {"seconds", result.seconds},
      {"cpu_seconds", result.cpu_seconds},
      {"waited_seconds", result.waited_seconds},
      {"tsc_hz", result.tsc_hz},
      {"packets", result.packets},
      {"packets_per_second", static_cast<double>(result.packets) / result.seconds},
      {"cycles_per_packet", result.cycles_per_packet()},
      {"bursts_without_buffers", result.bursts_without_buffers},
      {"figures", rows_of(result.figures)},
      {"drops", rows_of(result.drops)}};
  return document.dump(2) + "\n";
}

}  // namespace tributary::pktgen
