// SPDX-License-Identifier: BSD-3-Clause
// [switch.canary] and its jobs.
#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/protocol_section.h"
#include "protocols/canary/engine/config.h"
#include "protocols/canary/engine/partitions.h"

namespace tributary::canary {
namespace {

using control::as_duration;
using control::Diagnostics;
using control::duration_text;
using control::Range;
using control::Reader;
using control::SettingTexts;
using control::SwitchDraft;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

// TOML integers are signed.
constexpr std::uint64_t seed_max = std::numeric_limits<std::int64_t>::max();
constexpr std::uint32_t id_max = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t descriptors_max = 1u << 20;
constexpr std::size_t jobs_max = 1024;
constexpr Range<Duration> timeouts{microseconds(1), seconds(10)};

// [[switch.canary.job]]: the ports that it names, before they are looked up.
struct JobDraft {
  const toml::table* source = nullptr;
  std::vector<std::pair<std::string, control::Position>> ports;
};
struct Draft {
  static constexpr auto row = CanaryConfig::row;
  std::vector<JobDraft> jobs;  // in the order of the configuration's
};

control::Parsed<Duration> parse_timeout(std::string_view text) {
  auto duration = control::parse_duration(text);
  if (!duration) {
    duration.error().hint += ", or \"adaptive\"";
  }
  return duration;
}

void read_timeouts(Reader& reader, CanaryConfig& canary) {
  if (reader.is_text("timeout", "adaptive")) {
    canary.timeout.reset();
  } else {
    reader.quantity("timeout", canary.timeout,
                    control::Quantity<Duration>{parse_timeout, duration_text}, timeouts);
  }
  reader.boolean("learn_contributions", canary.learn_contributions);
  reader.quantity("timeout_min", canary.timeout_min, as_duration, timeouts);
  if (!canary.learn_contributions) {
    canary.timeout_max = std::max(CanaryConfig::timeout_max_unlearned, canary.timeout_min);
  }
  reader.quantity("timeout_max", canary.timeout_max, as_duration, timeouts);
  if (canary.timeout_max < canary.timeout_min) {
    reader.error("timeout_max", "`timeout_max` is shorter than `timeout_min`",
                 "at least " + duration_text(canary.timeout_min));
  }
  reader.quantity("root_timeout", canary.root_timeout, as_duration, timeouts);
  reader.quantity("reclaim_after", canary.reclaim_after, as_duration,
                  Range<Duration>{milliseconds(1), hours(1)});
  reader.quantity("age_max", canary.age_max, as_duration,
                  Range<Duration>{milliseconds(1), hours(1)});
  if (const auto longest = canary.timeout.value_or(canary.timeout_max); canary.age_max < longest) {
    reader.error("age_max", "`age_max` is shorter than the timeout",
                 "a descriptor outlives its timeout of " + duration_text(longest));
  }
}

void read_job(Reader& reader, CanaryConfig& canary, Draft& drafts) {
  auto& rule = canary.jobs.emplace_back();
  auto& draft = drafts.jobs.emplace_back();
  draft.source = &reader.source();
  reader.require({"id"});
  reader.integer("id", rule.job, {0u, id_max});
  draft.ports = reader.names("ports");
  reader.integer("quota", rule.quota, {0u, descriptors_max});
}

void read(Reader& reader, SwitchDraft& out) {
  auto& canary = out.config.protocols.emplace<CanaryConfig>();
  auto& draft = out.drafts.emplace<Draft>();
  reader.integer("descriptors", canary.descriptors, {1u, descriptors_max});
  if (!std::has_single_bit(canary.descriptors)) {
    const auto below = std::bit_floor(canary.descriptors);
    reader.error("descriptors", "`descriptors` is not a power of two",
                 "for example " + std::to_string(below) + " or " + std::to_string(below * 2));
  }
  read_timeouts(reader, canary);
  reader.integer("job_quota", canary.job_quota, {0u, descriptors_max});
  reader.integer("port_quota", canary.port_quota, {0u, descriptors_max});
  reader.integer("partitions", canary.partitions, {0u, Partitions::count_max});
  if (canary.partitions > canary.descriptors) {
    reader.error("partitions", "more `partitions` than `descriptors`",
                 "at most " + std::to_string(canary.descriptors));
  }
  reader.integer("hash_seed", canary.hash_seed, {std::uint64_t{0}, seed_max});
  reader.tables("job", [&](Reader& child) { read_job(child, canary, draft); });
  if (canary.jobs.size() > jobs_max) {
    reader.error("job", "more than " + std::to_string(jobs_max) + " jobs");
  }
}

void check_job(SwitchDraft& draft, std::size_t index, Diagnostics& diagnostics) {
  auto& jobs = draft.config.protocols.get<CanaryConfig>().jobs;
  auto& rule = jobs[index];
  const auto& [table, ports] = draft.drafts.get<Draft>().jobs[index];
  const auto first = std::find_if(jobs.begin(), jobs.end(),
                                  [&](const JobRule& other) { return other.job == rule.job; });
  if (&*first != &rule) {
    diagnostics.error(control::position_of(*table, "id"),
                      "job " + std::to_string(rule.job) + " was given before",
                      "put all its ports into one [[switch.canary.job]]");
  }
  for (const auto& [name, where] : ports) {
    if (const auto port = control::find_port(draft.config, name, where, diagnostics)) {
      rule.ports.push_back(*port);
    }
  }
  if (ports.empty() && table->contains("ports")) {
    diagnostics.error(control::position_of(*table, "ports"), "`ports` names no port",
                      "leave it out to let the job speak on all ports");
  }
}

void check(SwitchDraft& draft, Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < draft.drafts.get<Draft>().jobs.size(); ++i) {
    check_job(draft, i, diagnostics);
  }
}

void list_job(SettingTexts& out, const std::string& path, const JobRule& job,
              const switching::SwitchConfig& config) {
  const auto ports = control::ports_text(job.ports, config);
  out[path] = {"ports " + (ports.empty() ? "all" : ports) + " quota " +
               (job.quota == 0 ? "default" : std::to_string(job.quota))};
}

void list(SettingTexts& out, const std::string& path, const switching::SwitchConfig& config) {
  const auto& canary = config.protocols.get<CanaryConfig>();
  const auto put = [&](const char* key, std::string text) { out[path + key] = {std::move(text)}; };
  const auto put_fixed = [&](const char* key, std::uint64_t value) {
    out[path + key] = {std::to_string(value), true};
  };
  put_fixed(" descriptors", canary.descriptors);
  put_fixed(" partitions", canary.partitions);
  put_fixed(" hash_seed", canary.hash_seed);
  put(" timeout", canary.timeout ? duration_text(*canary.timeout) : "adaptive");
  put(" timeout_min", duration_text(canary.timeout_min));
  put(" timeout_max", duration_text(canary.timeout_max));
  put(" root_timeout", duration_text(canary.root_timeout));
  put(" learn_contributions", canary.learn_contributions ? "true" : "false");
  put(" reclaim_after", duration_text(canary.reclaim_after));
  put(" age_max", duration_text(canary.age_max));
  put(" job_quota", std::to_string(canary.job_quota));
  put(" port_quota", std::to_string(canary.port_quota));
  for (const auto& job : canary.jobs) {
    list_job(out, path + " job " + std::to_string(job.job), job, config);
  }
}

}  // namespace

extern const control::ProtocolSection config_section;
constexpr control::ProtocolSection config_section{
    .name = "canary", .needs_address = true, .read = read, .check = check, .list = list};

}  // namespace tributary::canary
