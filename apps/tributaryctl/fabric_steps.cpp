// SPDX-License-Identifier: BSD-3-Clause
#include "fabric_steps.h"

#include <cstdio>
#include <set>
#include <utility>

#include "control/json.h"
#include "controller/obstacles.h"

namespace tributary::ctl {

using controller::FabricFile;
using nlohmann::json;

Step<FabricFile> read_file(const Options& options, const FabricOptions& fabric) {
  auto loaded = controller::load_fabric(fabric.file);
  if (!loaded) {
    return tl::unexpected(report(options, ExitCode::failed, "configuration",
                                 "the description of the fabric is wrong; nothing was changed",
                                 control::to_json(loaded.error())));
  }
  return std::move(*loaded);
}

const std::string& name_of(const FabricFile& file, std::size_t sw) {
  return file.topology.switches[sw].name;
}

std::string names_of(const FabricFile& file, const std::vector<controller::SwitchChange>& changes) {
  std::set<std::size_t> switches;
  for (const auto& change : changes) {
    switches.insert(change.switch_index);
  }
  std::vector<std::string> names;
  for (const std::size_t sw : switches) {
    names.push_back(name_of(file, sw));
  }
  return controller::joined(names);
}

std::vector<std::uint32_t> ids_of(const FabricFile& file) {
  std::vector<std::uint32_t> ids;
  for (const auto& job : file.jobs) {
    ids.push_back(job.id);
  }
  return ids;
}

json silent_switches(const FabricFile& file, const LiveFabric& live) {
  json list = json::array();
  for (std::size_t sw = 0; sw < file.points.size(); ++sw) {
    if (live.silence(sw)) {
      list.push_back({{"switch", name_of(file, sw)}, {"message", live.silence(sw)->message}});
    }
  }
  return list;
}

// The exit code is that of the first switch; the message names them all.
ExitCode report_silent(const Options& options, const FabricFile& file, const LiveFabric& live) {
  const auto groups = controller::silent_groups(file, live);
  std::vector<std::string> texts;
  std::size_t count = 0;
  for (const auto& [why, switches] : groups) {
    texts.push_back(controller::joined(switches) + " (" + why + ")");
    count += switches.size();
  }
  const bool none = count == file.points.size();
  control::CallError error;
  for (std::size_t sw = file.points.size(); sw-- > 0;) {
    error = live.silence(sw).value_or(error);
  }
  error.message = std::string("nothing was changed, as ") +
                  (none ? "no switch answers: " : "not all switches answer: ") +
                  controller::joined(texts) +
                  (none ? "" : "; --skip-unreachable goes on without them");
  error.failure.details = {{"unreachable", silent_switches(file, live)}};
  return report(options, error);
}

json detours_json(const FabricFile& file, const controller::Plan& plan) {
  json list = json::array();
  for (const auto& [sw, job, why] : plan.detours()) {
    list.push_back({{"job", job}, {"switch", name_of(file, sw)}, {"message", why}});
  }
  return list;
}

void warn(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    std::fprintf(stderr, "tributaryctl: %s\n", text.c_str());
  }
}

Step<void> carry_out(const Options& options, const FabricFile& file, LiveFabric& live,
                     const std::vector<controller::SwitchChange>& changes) {
  const auto done = live.carry_out(changes);
  if (done) {
    return {};
  }
  json left = json::array();
  for (const auto& [sw, message] : done.error().left) {
    left.push_back({{"switch", name_of(file, sw)}, {"message", message}});
  }
  auto why = done.error().why;
  why.message = text_of(file, done.error());
  why.failure.details = left.empty() ? json(nullptr) : json{{"not_rolled_back", std::move(left)}};
  return tl::unexpected(report(options, why));
}

}  // namespace tributary::ctl
