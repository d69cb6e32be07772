// SPDX-License-Identifier: BSD-3-Clause
// This file reads, checks and describes [switch.canary] and its jobs.
#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "control/option_kinds.h"
#include "control/protocol_section.h"
#include "protocols/canary/engine/config.h"
#include "protocols/canary/engine/partitions.h"

namespace tributary::canary {
namespace {

namespace option = control::option;
using control::Apply;
using control::Diagnostics;
using control::duration_text;
using control::Option;
using control::Range;
using control::Reader;
using control::SettingTexts;
using control::SwitchDraft;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint32_t id_max = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t descriptors_max = 1u << 20;
constexpr std::size_t jobs_max = 1024;
constexpr Range<Duration> timeouts{microseconds(1), seconds(10)};
constexpr Range<Duration> ages{milliseconds(1), hours(1)};

// Holds the ports that a [[switch.canary.job]] names, before they are looked up.
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

void read_timeout(Reader& reader, CanaryConfig& canary) {
  if (reader.is_text("timeout", "adaptive")) {
    canary.timeout.reset();
  } else {
    reader.quantity("timeout", canary.timeout,
                    control::Quantity<Duration>{parse_timeout, duration_text}, timeouts);
  }
}
std::string timeout_text(const CanaryConfig& canary) {
  return canary.timeout ? duration_text(*canary.timeout) : "adaptive";
}

constexpr Option<CanaryConfig> options[] = {
    option::integer<&CanaryConfig::descriptors>(
        "descriptors", Apply::restart, {1, descriptors_max},
        "slots of the descriptor array, per core; a power of two"),
    option::custom<CanaryConfig, read_timeout, timeout_text>(
        "timeout", Apply::reload, "1us to 10s; `\"adaptive\"`",
        "how long contributions to a block are waited for (the paper: 1 ms), or `\"adaptive\"`: as "
        "long as the job's blocks before needed (mean + 4 deviations of the time from the first to "
        "the last contribution), 1 ms while that is not known, and `timeout_min` while the job has "
        "no other block here")
        .as(control::Form::quoted),
    option::duration<&CanaryConfig::timeout_min>("timeout_min", Apply::reload, timeouts,
                                                 "the shortest adaptive timeout"),
    option::duration<&CanaryConfig::timeout_max>(
        "timeout_max", Apply::reload, timeouts,
        "the longest adaptive timeout; without `learn_contributions` it is `\"20ms\"` unless it is "
        "given"),
    option::duration<&CanaryConfig::root_timeout>(
        "root_timeout", Apply::reload, timeouts,
        "the same on the last hop before the leader, which is behind a routed port, where all "
        "contributions of a block pass: it sends as soon as it has seen them all"),
    option::boolean<&CanaryConfig::learn_contributions>(
        "learn_contributions", Apply::reload,
        "send a sum on as soon as as many contributions are in as the block before got here; "
        "false: timeouts alone"),
    option::duration<&CanaryConfig::reclaim_after>(
        "reclaim_after", Apply::reload, ages,
        "a block that has sent its sum and is that old makes room when another needs its slot"),
    option::duration<&CanaryConfig::age_max>(
        "age_max", Apply::reload, ages,
        "when a block whose result never came is given up; not below `timeout`"),
    option::integer<&CanaryConfig::job_quota>(
        "job_quota", Apply::reload, {0, descriptors_max},
        "descriptors that one job may hold, per core; 0: a quarter of `descriptors`, at least 64, "
        "and no quota with `partitions`, whose parts are one. A job beyond it is not refused: its "
        "further blocks go past the table, as after a collision"),
    option::integer<&CanaryConfig::port_quota>(
        "port_quota", Apply::reload, {0, descriptors_max},
        "descriptors that packets received by one port may have begun, per core; 0: a quarter of "
        "`descriptors`, at least 64, and no quota with `partitions`"),
    option::integer<&CanaryConfig::partitions>(
        "partitions", Apply::restart, {0, Partitions::count_max},
        "divides the table among so many jobs, at most `descriptors`: those listed have their "
        "part, the others are first come, first served; 0: all jobs share it"),
    option::integer<&CanaryConfig::hash_seed>("hash_seed", Apply::restart, control::seeds,
                                              "of the slot hash; 0 draws one at the start"),
    option::by_hand<CanaryConfig>("job", Apply::reload, "up to 1024", "what one job may do")
        .as(control::Form::tables)
        .default_is("none"),
};

constexpr Option<JobRule> job_options[] = {
    option::integer<&JobRule::job>("id", Apply::reload, {0, id_max},
                                   "of the job (`TRIBUTARY_JOB`, or what rank 0 drew)")
        .required()
        .unlisted(),
    option::by_hand<JobRule>(
        "ports", Apply::reload, {},
        "names of the ports of this switch that packets of the job are taken from, contributions "
        "as well as results and what only passes; those that come by others are dropped as "
        "`canary_not_allowed`")
        .default_is("all"),
    option::integer<&JobRule::quota>("quota", Apply::reload, {1, descriptors_max},
                                     "descriptors that this job may hold, per core")
        .unset_is("default")
        .default_is("`job_quota`"),
};

void check_timeouts(Reader& reader, CanaryConfig& canary) {
  if (!canary.learn_contributions && !reader.has("timeout_max")) {
    canary.timeout_max = std::max(CanaryConfig::timeout_max_unlearned, canary.timeout_min);
  }
  if (canary.timeout_max < canary.timeout_min) {
    reader.error("timeout_max", "`timeout_max` is shorter than `timeout_min`",
                 "at least " + duration_text(canary.timeout_min));
  }
  if (const auto longest = canary.timeout.value_or(canary.timeout_max); canary.age_max < longest) {
    reader.error("age_max", "`age_max` is shorter than the timeout",
                 "a descriptor outlives its timeout of " + duration_text(longest));
  }
}

void check_table(Reader& reader, const CanaryConfig& canary) {
  if (!std::has_single_bit(canary.descriptors)) {
    const auto below = std::bit_floor(canary.descriptors);
    reader.error("descriptors", "`descriptors` is not a power of two",
                 "for example " + std::to_string(below) + " or " + std::to_string(below * 2));
  }
  if (canary.partitions > canary.descriptors) {
    reader.error("partitions", "more `partitions` than `descriptors`",
                 "at most " + std::to_string(canary.descriptors));
  }
}

void read_job(Reader& reader, CanaryConfig& canary, Draft& drafts) {
  auto& rule = canary.jobs.emplace_back();
  auto& draft = drafts.jobs.emplace_back();
  draft.source = &reader.source();
  control::read_options(reader, job_options, rule);
  draft.ports = reader.names("ports");
}

void read(Reader& reader, SwitchDraft& out) {
  auto& canary = out.config.protocols.emplace<CanaryConfig>();
  auto& draft = out.drafts.emplace<Draft>();
  control::read_options(reader, options, canary);
  check_table(reader, canary);
  check_timeouts(reader, canary);
  reader.tables("job", [&](Reader& child) { read_job(child, canary, draft); });
  if (canary.jobs.size() > jobs_max) {
    reader.error("job", "more than " + std::to_string(jobs_max) + " jobs");
  }
  if (canary.partitions != 0 && canary.jobs.size() > canary.partitions) {
    reader.error("partitions", "fewer `partitions` than [[switch.canary.job]]",
                 "each listed job has one: at least " + std::to_string(canary.jobs.size()) +
                     ", or 0 for none");
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

void list(SettingTexts& out, const std::string& path, const switching::SwitchConfig& config) {
  const auto& canary = config.protocols.get<CanaryConfig>();
  control::list_options(out, path, options, canary);
  for (const auto& job : canary.jobs) {
    const auto ports = control::ports_text(job.ports, config);
    const auto rest = control::options_line(job_options, job);
    out[path + " job " + std::to_string(job.job)] = {"ports " + (ports.empty() ? "all" : ports) +
                                                     " " + rest};
  }
}

void describe(control::OptionTables& out) {
  control::describe_options<CanaryConfig>(options, add_table(out, "[switch.canary]"));
  control::describe_options<JobRule>(job_options, add_table(out, "[[switch.canary.job]]"));
}

}  // namespace

extern const control::ProtocolSection config_section;
constexpr control::ProtocolSection config_section{
    .name = "canary",
    .help = "the Canary engine; without it Canary packets are ordinary UDP",
    .needs_address = true,
    .read = read,
    .check = check,
    .list = list,
    .describe = describe};

}  // namespace tributary::canary
