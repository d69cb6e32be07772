// SPDX-License-Identifier: BSD-3-Clause
#include "host/journal/conclusion.h"

#include <string_view>

#include "host/protocol.h"
#include "host/text.h"

namespace tributary::host {
namespace {

std::string counted(std::uint64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// The figures that tell of the switches' part, where a protocol counts them.
constexpr std::string_view shown_figures[] = {"bytes_sent",        "bytes_received",
                                              "messages_sent",     "switch_sums_seen",
                                              "blocks_in_network", "blocks_by_hosts"};

// Returns what was set up in switches beforehand: " over 239.192.0.1, 239.192.0.2".
std::string place_text(const ProtocolStatistics& carried) {
  std::string text;
  for (const auto& tree : carried.trees) {
    text += (text.empty() ? " over " : ", ") + tree.value<std::string>("group");
  }
  if (carried.figures.find("ring") != nullptr) {
    text += " over ring " + std::to_string(carried.figures["ring"]);
  }
  return text;
}

std::string figures_text(const ProtocolStatistics& carried) {
  std::string text;
  for (const auto name : shown_figures) {
    if (carried.figures.find(name) != nullptr) {
      text += (text.empty() ? "" : " ") + std::string(name) + "=" +
              std::to_string(carried.figures[name]);
    }
  }
  return text.empty() ? text : " (" + text + ")";
}

std::string reasons_text(const std::map<std::string, std::uint64_t>& reasons) {
  std::string text;
  for (const auto& [reason, count] : reasons) {
    text += (text.empty() ? "" : "; ") + std::to_string(count) + ": " + reason;
  }
  return text.empty() ? text : " (" + text + ")";
}

std::string beginning_of(const std::string& title, Duration lived) {
  return title + ": ended after " + seconds_text(lived) + ": ";
}

std::string ending_of(const Conclusion& conclusion) {
  const auto saved = text_of(conclusion.sketches);
  const auto failures = conclusion.failures;
  return (saved.empty() ? "" : ", " + saved) +
         (failures == 0 ? "" : ", " + std::to_string(failures) + " failed");
}

}  // namespace

std::string conclusion_of(const Conclusion& conclusion) {
  auto text = beginning_of(conclusion.title, conclusion.lived);
  if (conclusion.algorithm != ring_algorithm) {
    text += counted(conclusion.by_carrier, "collective") + " by " + conclusion.algorithm +
            place_text(conclusion.carried) + figures_text(conclusion.carried) + ", ";
  }
  text += counted(conclusion.by_ring, "collective") + " by the ring of the hosts" +
          reasons_text(conclusion.reasons);
  return text + ending_of(conclusion);
}

std::string conclusion_in_memory(const Conclusion& conclusion) {
  return beginning_of(conclusion.title, conclusion.lived) +
         counted(conclusion.by_ring, "collective") + " in the memory of the machine" +
         ending_of(conclusion);
}

}  // namespace tributary::host
