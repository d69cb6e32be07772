// SPDX-License-Identifier: BSD-3-Clause
#include "fabric_steps.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

#include "control/json.h"
#include "controller/obstacles.h"

namespace tributary::ctl {
namespace {

using controller::FabricFile;
using nlohmann::json;

// The same is to be said about these switches; those of one daemon fail together.
struct Alike {
  std::string message;
  std::vector<std::string> switches;
};

void add(std::vector<Alike>& groups, const std::string& name, const std::string& message) {
  auto at = std::find_if(groups.begin(), groups.end(),
                         [&](const Alike& group) { return group.message == message; });
  if (at == groups.end()) {
    at = groups.insert(at, {message, {}});
  }
  at->switches.push_back(name);
}

std::vector<Alike> silent_groups(const FabricFile& file, const LiveFabric& live) {
  std::vector<Alike> groups;
  for (std::size_t sw = 0; sw < file.points.size(); ++sw) {
    if (live.silence(sw)) {
      add(groups, name_of(file, sw), live.silence(sw)->message);
    }
  }
  return groups;
}

ExitCode report_failure(const Options& options, const FabricFile& file,
                        const controller::TransactionFailure& failure) {
  json left = json::array();
  for (const auto& [sw, message] : failure.left) {
    left.push_back({{"switch", name_of(file, sw)}, {"message", message}});
  }
  return report(options, ExitCode::failed, "refused", ctl::text_of(file, failure),
                left.empty() ? json(nullptr) : json{{"not_rolled_back", std::move(left)}});
}

}  // namespace

std::string text_of(const FabricFile& file, const controller::TransactionFailure& failure) {
  std::string text =
      "switch " + name_of(file, failure.switch_index) + " refused: " + failure.message + "; ";
  text += failure.changed ? "the others have what they had before" : "nothing was changed";
  std::vector<Alike> groups;
  for (const auto& [sw, message] : failure.left) {
    add(groups, name_of(file, sw), message);
  }
  for (const Alike& group : groups) {
    text += "; " + controller::joined(group.switches) + " could not be brought back (" +
            group.message + ")";
  }
  return groups.empty() ? text
                        : text + ": `tributaryctl fabric show` says what is there, once it answers";
}

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

std::vector<std::string> silent_texts(const FabricFile& file, const LiveFabric& live) {
  std::vector<std::string> texts;
  for (const Alike& group : silent_groups(file, live)) {
    texts.push_back(controller::said_of(group.switches, "does not answer") + ": " + group.message);
  }
  return texts;
}

void print_silent(const FabricFile& file, const LiveFabric& live) {
  for (const std::string& text : silent_texts(file, live)) {
    std::fprintf(stderr, "tributaryctl: %s\n", text.c_str());
  }
}

// The exit code is that of the first switch; the message names them all.
ExitCode report_silent(const Options& options, const FabricFile& file, const LiveFabric& live) {
  const auto groups = silent_groups(file, live);
  std::vector<std::string> texts;
  std::size_t count = 0;
  for (const Alike& group : groups) {
    texts.push_back(controller::joined(group.switches) + " (" + group.message + ")");
    count += group.switches.size();
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

std::vector<std::string> detour_texts(const FabricFile& file, const controller::Plan& plan) {
  std::vector<std::string> texts;
  for (const auto& [sw, job, why] : plan.detours()) {
    texts.push_back("job " + std::to_string(job) + " goes around switch " + name_of(file, sw) +
                    ", which refuses it: " + why);
  }
  return texts;
}

void print_detours(const FabricFile& file, const controller::Plan& plan) {
  for (const std::string& text : detour_texts(file, plan)) {
    std::fprintf(stderr, "tributaryctl: %s\n", text.c_str());
  }
}

control::ConfigErrors errors_of(const FabricFile& file,
                                const std::vector<controller::Refusal>& refusals) {
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

tl::expected<void, controller::TransactionFailure> install_all(
    LiveFabric& live, const std::vector<controller::SwitchChange>& changes) {
  return controller::carry_out(
      changes, [&](std::size_t sw, const auto& jobs, const auto& parts, bool check) {
        return live.install(sw, jobs, parts, check);
      });
}

Step<void> carry_out(const Options& options, const FabricFile& file, LiveFabric& live,
                     const std::vector<controller::SwitchChange>& changes) {
  if (const auto done = install_all(live, changes); !done) {
    return tl::unexpected(report_failure(options, file, done.error()));
  }
  return {};
}

}  // namespace tributary::ctl
