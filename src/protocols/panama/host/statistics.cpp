// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/host/statistics.h"

#include <string>
#include <utility>

namespace tributary {
namespace {

Figures figures_of(const PanamaTreeStatistics& of) {
  return {
      {"group", of.group},
      {"packets_sent", of.packets_sent},
      {"retransmissions_sent", of.retransmissions_sent},
      {"timeouts", of.timeouts},
      {"results_received", of.results_received},
      {"results_marked", of.results_marked},
      {"marked_share", of.marked_share()},
      {"window", of.window},
      {"ssthresh", of.ssthresh},
      {"alpha", of.alpha},
      {"window_cap", of.window_cap},
  };
}

// Returns "3:120,5:2": of ranks 3 and 5 so many contributions were missing.
std::string text_of(const std::map<std::uint32_t, std::uint64_t>& missing_by_rank) {
  std::string text;
  for (const auto& [rank, count] : missing_by_rank) {
    text += (text.empty() ? "" : ",") + std::to_string(rank) + ":" + std::to_string(count);
  }
  return text;
}

}  // namespace

ProtocolStatistics figures_of(const PanamaStatistics& of) {
  std::vector<Figures> trees;
  for (const auto& tree : of.trees) {
    trees.push_back(figures_of(tree));
  }
  Figures figures = {
      {"bytes_sent", of.bytes_sent},
      {"bytes_received", of.bytes_received},
      {"results_partial", of.results_partial},
      {"contributions_missing", of.contributions_missing},
      {"missing_by_rank", text_of(of.missing_by_rank)},
      {"contributions_skipped", of.contributions_skipped},
      {"answers_sent", of.answers_sent},
      {"fingerprint_rejections", of.fingerprint_rejections},
  };
  of.ignored.add_to(figures);
  figures.add({"stashed", of.stashed});
  figures.add({"ignored", of.refused()});
  return {"panama", std::move(figures), std::move(trees)};
}

}  // namespace tributary
