// SPDX-License-Identifier: BSD-3-Clause
#include "controller/fabric_texts.h"

#include <algorithm>
#include <utility>

namespace tributary::controller {

std::vector<Alike> silent_groups(const FabricFile& file, const LiveFabric& live) {
  std::vector<Alike> groups;
  for (std::size_t sw = 0; sw < file.points.size(); ++sw) {
    if (live.silence(sw)) {
      add_to(groups, file.topology.switches[sw].name, live.silence(sw)->message);
    }
  }
  return groups;
}

std::vector<std::string> silent_texts(const FabricFile& file, const LiveFabric& live) {
  std::vector<std::string> texts;
  for (const auto& [why, switches] : silent_groups(file, live)) {
    texts.push_back(said_of(switches, "does not answer") + ": " + why);
  }
  return texts;
}

std::vector<std::string> detour_texts(const FabricFile& file, const Plan& plan) {
  std::vector<std::string> texts;
  for (const auto& [sw, job, why] : plan.detours()) {
    texts.push_back("job " + std::to_string(job) + " goes around switch " +
                    file.topology.switches[sw].name + ", which refuses it: " + why);
  }
  return texts;
}

control::ConfigErrors errors_of(const FabricFile& file, const std::vector<Refusal>& refusals) {
  control::ConfigErrors errors;
  for (const auto& refusal : refusals) {
    const auto job = std::find_if(file.jobs.begin(), file.jobs.end(),
                                  [&](const auto& each) { return each.id == refusal.job; });
    auto error = file.job_places[static_cast<std::size_t>(job - file.jobs.begin())];
    error.message = "job " + std::to_string(refusal.job) + ": " + refusal.message;
    error.hint = refusal.hint;
    errors.push_back(std::move(error));
  }
  return errors;
}

std::string text_of(const FabricFile& file, const TransactionFailure& failure) {
  const auto& switches = file.topology.switches;
  // Who does not answer, or answers later, does not refuse.
  const auto& said = failure.why.failure;
  const bool refused = !said.message.empty() && said.code != control::ErrorCode::late &&
                       said.code != control::ErrorCode::busy;
  std::string text = "switch " + switches[failure.switch_index].name +
                     (refused ? " refused: " : " failed: ") + failure.why.message + "; ";
  text += failure.changed ? "the others have what they had before" : "nothing was changed";
  std::vector<Alike> groups;
  for (const auto& [sw, message] : failure.left) {
    add_to(groups, switches[sw].name, message);
  }
  for (const auto& [why, names] : groups) {
    text += "; " + joined(names) + " could not be brought back (" + why + ")";
  }
  return groups.empty() ? text
                        : text + ": `tributaryctl fabric show` says what is there, once it answers";
}

}  // namespace tributary::controller
