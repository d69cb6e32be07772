// SPDX-License-Identifier: BSD-3-Clause
// [switch.canary] and its jobs.
#include <algorithm>
#include <bit>
#include <limits>

#include "control/config_draft.h"
#include "protocols/canary/engine/partitions.h"

namespace tributary::control {
namespace {

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

Parsed<Duration> parse_timeout(std::string_view text) {
  auto duration = parse_duration(text);
  if (!duration) {
    duration.error().hint += ", or \"adaptive\"";
  }
  return duration;
}

void read_timeouts(Reader& reader, canary::CanaryConfig& canary) {
  if (reader.is_text("timeout", "adaptive")) {
    canary.timeout.reset();
  } else {
    reader.quantity("timeout", canary.timeout, Quantity<Duration>{parse_timeout, duration_text},
                    timeouts);
  }
  reader.boolean("learn_contributions", canary.learn_contributions);
  reader.quantity("timeout_min", canary.timeout_min, as_duration, timeouts);
  if (!canary.learn_contributions) {
    canary.timeout_max = std::max(canary::CanaryConfig::timeout_max_unlearned, canary.timeout_min);
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

void read_job(Reader& reader, SwitchDraft& out) {
  auto& rule = out.config.canary->jobs.emplace_back();
  auto& draft = out.canary_jobs.emplace_back();
  draft.source = &reader.source();
  reader.require({"id"});
  reader.integer("id", rule.job, {0u, id_max});
  draft.ports = reader.names("ports");
  reader.integer("quota", rule.quota, {0u, descriptors_max});
}

}  // namespace

void read_canary(Reader& reader, SwitchDraft& out) {
  canary::CanaryConfig& canary = out.config.canary.emplace();
  reader.integer("descriptors", canary.descriptors, {1u, descriptors_max});
  if (!std::has_single_bit(canary.descriptors)) {
    const auto below = std::bit_floor(canary.descriptors);
    reader.error("descriptors", "`descriptors` is not a power of two",
                 "for example " + std::to_string(below) + " or " + std::to_string(below * 2));
  }
  read_timeouts(reader, canary);
  reader.integer("job_quota", canary.job_quota, {0u, descriptors_max});
  reader.integer("port_quota", canary.port_quota, {0u, descriptors_max});
  reader.integer("partitions", canary.partitions, {0u, canary::Partitions::count_max});
  if (canary.partitions > canary.descriptors) {
    reader.error("partitions", "more `partitions` than `descriptors`",
                 "at most " + std::to_string(canary.descriptors));
  }
  reader.integer("hash_seed", canary.hash_seed, {std::uint64_t{0}, seed_max});
  reader.tables("job", [&](Reader& child) { read_job(child, out); });
  if (canary.jobs.size() > jobs_max) {
    reader.error("job", "more than " + std::to_string(jobs_max) + " jobs");
  }
}

void resolve_canary_jobs(SwitchDraft& draft, Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < draft.canary_jobs.size(); ++i) {
    auto& rule = draft.config.canary->jobs[i];
    const auto& source = *draft.canary_jobs[i].source;
    const auto first =
        std::find_if(draft.config.canary->jobs.begin(), draft.config.canary->jobs.end(),
                     [&](const canary::JobRule& other) { return other.job == rule.job; });
    if (&*first != &rule) {
      diagnostics.error(position_of(source, "id"),
                        "job " + std::to_string(rule.job) + " was given before",
                        "put all its ports into one [[switch.canary.job]]");
    }
    for (const auto& [name, where] : draft.canary_jobs[i].ports) {
      if (const auto port = find_port(draft.config, name, where, diagnostics)) {
        rule.ports.push_back(*port);
      }
    }
    if (draft.canary_jobs[i].ports.empty() && source.contains("ports")) {
      diagnostics.error(position_of(source, "ports"), "`ports` names no port",
                        "leave it out to let the job speak on all ports");
    }
  }
}

}  // namespace tributary::control
