// SPDX-License-Identifier: BSD-3-Clause
#include "host/journal/report.h"

#include <algorithm>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <utility>
#include <variant>

#include "host/text.h"

namespace tributary::host {
namespace {

[[gnu::format(printf, 1, 2)]] std::string printed(const char* format, ...) {
  char text[256];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

double milliseconds(Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

std::string line_of(const TallyKey& key, const Tally& tally) {
  const auto mean = milliseconds(tally.total) / static_cast<double>(tally.calls);
  const auto bits = static_cast<double>(tally.bytes) * 8;
  const auto seconds = in_seconds(tally.total);
  return printed(
      "%-16.*s %10s %-9.*s %8llu %12.3f %10.3f %10.3f %10.1f%s",
      static_cast<int>(key.collective.size()), key.collective.data(),
      key.bytes_max == 0 ? "-" : size_text(key.bytes_max).c_str(), static_cast<int>(key.by.size()),
      key.by.data(), static_cast<unsigned long long>(tally.calls), milliseconds(tally.total), mean,
      milliseconds(tally.longest), seconds > 0 ? bits / seconds * 1e-6 : 0.0,
      tally.failures == 0
          ? ""
          : printed("  %llu failed", static_cast<unsigned long long>(tally.failures)).c_str());
}

std::string figures_line(const ProtocolStatistics& carried) {
  std::string line = carried.protocol + ":";
  for (const auto& figure : carried.figures) {
    const auto* const count = std::get_if<std::uint64_t>(&figure.value);
    const auto* const text = std::get_if<std::string>(&figure.value);
    if (count != nullptr && *count != 0) {
      line += " " + figure.name + "=" + std::to_string(*count);
    } else if (text != nullptr && !text->empty()) {
      line += " " + figure.name + "=" + *text;
    }
  }
  return line;
}

// A rank that comes last to collectives is in them for the shortest time; the others are in them,
// and wait.
std::string last_line(std::span<const Duration> ranks) {
  const auto least = std::ranges::min_element(ranks);
  const auto most = std::ranges::max_element(ranks);
  return printed("%s came last: %s waited in collectives for %.3f ms longer",
                 rank_text(static_cast<std::uint32_t>(least - ranks.begin())).c_str(),
                 rank_text(static_cast<std::uint32_t>(most - ranks.begin())).c_str(),
                 milliseconds(*most - *least));
}

}  // namespace

std::vector<std::string> report_of(const Tallies& tallies, const Ending& ending) {
  Duration all{};
  for (const auto& [key, tally] : tallies) {
    all += tally.total;
  }
  const auto share =
      ending.lived > Duration{} ? 100 * milliseconds(all) / milliseconds(ending.lived) : 0;
  std::vector<std::string> lines;
  lines.push_back(printed("%s: %.3f ms of %.3f ms in collectives (%.1f %%)", ending.title.c_str(),
                          milliseconds(all), milliseconds(ending.lived), share));
  lines.push_back(printed("%-16s %10s %-9s %8s %12s %10s %10s %10s", "collective", "up to", "by",
                          "calls", "ms in all", "mean ms", "longest", "Mbit/s"));
  for (const auto& [key, tally] : tallies) {
    lines.push_back(line_of(key, tally));
  }
  if (auto saved = text_of(ending.sketches); !saved.empty()) {
    lines.push_back(std::move(saved));
  }
  if (!ending.carried.protocol.empty()) {
    lines.push_back(figures_line(ending.carried));
  }
  if (ending.ranks.size() > 1) {
    lines.push_back(last_line(ending.ranks));
  }
  return lines;
}

}  // namespace tributary::host
