// SPDX-License-Identifier: BSD-3-Clause
#include "verdict.h"

#include <algorithm>
#include <variant>

namespace tributary::pktgen {
namespace {

constexpr double loss_max = 0.5;

}  // namespace

bool receives(const control::DeviceConfig& device) {
  if (const auto* pcap = std::get_if<control::PcapDevice>(&device)) {
    return !pcap->rx.empty();
  }
  const auto* raw = std::get_if<control::RawDevice>(&device);
  return raw == nullptr || (raw->arguments + ",").find(",no-rx=1,") == std::string::npos;
}

std::optional<std::string> failure_of(const std::vector<traffic::TrialResult>& trials,
                                      bool expects_answers, bool searches) {
  if (!trials.empty() && trials.back().wrong > 0) {
    return std::to_string(trials.back().wrong) + " results were wrong";
  }
  const auto sent = [](const traffic::TrialResult& trial) { return trial.counters.begun > 0; };
  const auto came_back = [](const traffic::TrialResult& trial) { return trial.counters.done > 0; };
  if (expects_answers && std::any_of(trials.begin(), trials.end(), sent) &&
      std::none_of(trials.begin(), trials.end(), came_back)) {
    return std::string(
               "nothing came back: look at the switch's counters (tributaryctl drops), and at "
               "the addresses and gateways of the ports") +
           (searches ? "" : "; if nothing is to come back, say --send-only");
  }
  if (expects_answers && !searches && !trials.empty() && trials.back().loss() > loss_max) {
    return "more than half of what was sent is lost: send less (--rate), or look at the switch's "
           "counters (tributaryctl drops); if it is not to come back, say --send-only";
  }
  return std::nullopt;
}

}  // namespace tributary::pktgen
