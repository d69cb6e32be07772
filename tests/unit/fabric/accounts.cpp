// SPDX-License-Identifier: BSD-3-Clause
#include "unit/fabric/accounts.h"

#include <initializer_list>
#include <string_view>

#include <gtest/gtest.h>

#include "protocols/engines.h"

namespace tributary::test {
namespace {

std::uint64_t sum(const Figures& figures, std::initializer_list<std::string_view> names) {
  std::uint64_t total = 0;
  for (const auto name : names) {
    total += figures.find(name)->second;
  }
  return total;
}

// Contributions that went to their leader unchanged.
std::uint64_t bypassed(const Figures& figures) {
  return sum(figures,
             {"collisions_total", "quota_job_total", "quota_port_total", "partition_none_total",
              "children_overflows_total", "accumulator_overflows_total"});
}

std::uint64_t canary_drops(const VirtualFabric& fabric) {
  const auto ledgers = fabric.ledgers();
  std::uint64_t total = 0;
  for (const auto& [reason, name] : protocols::drop_reasons()) {
    for (const auto& ledger : ledgers) {
      total += name.starts_with("canary_") ? ledger.dropped(reason) : 0;
    }
  }
  return total;
}

void expect_jobs_add_up(const VirtualFabric& fabric, std::size_t index, const Figures& figures) {
  if (figures.at("jobs_untracked_total") != 0) {
    return;
  }
  engine::JobStatus all;
  for (const auto* engine : fabric.engines(index)) {
    for (const auto& job : engine->jobs()) {
      all.merge(job);
    }
  }
  EXPECT_EQ(figures.at("contributions_total"), all.contributions);
  EXPECT_EQ(bypassed(figures), all.bypassed);
  EXPECT_EQ(figures.at("results_total"), all.results);
  EXPECT_EQ(figures.at("descriptors_in_use"), all.descriptors);
}

}  // namespace

Figures figures_of(const VirtualFabric& fabric, std::size_t switch_index) {
  Figures figures;
  for (const auto* engine : fabric.engines(switch_index)) {
    for (const auto& figure : engine->figures()) {
      figures[std::string(figure.name)] += figure.value;
    }
  }
  return figures;
}

engine::JobStatus job_of(const VirtualFabric& fabric, std::uint32_t job) {
  engine::JobStatus all;
  all.job = job;
  for (std::size_t index = 0; index < fabric.switch_count(); ++index) {
    for (const auto* engine : fabric.engines(index)) {
      for (const auto& status : engine->jobs()) {
        if (status.job == job) {
          all.merge(status);
        }
      }
    }
  }
  return all;
}

void expect_accounted(const VirtualFabric& fabric) {
  std::uint64_t taken = 0;
  for (std::size_t index = 0; index < fabric.switch_count(); ++index) {
    SCOPED_TRACE("switch " + std::to_string(index));
    const auto figures = figures_of(fabric, index);
    EXPECT_EQ(
        figures.at("contributions_total"),
        sum(figures, {"blocks_total", "joined_total", "stragglers_total"}) + bypassed(figures));
    EXPECT_EQ(figures.at("blocks_total"),
              sum(figures, {"results_total", "releases_total", "aged_total", "reclaimed_total",
                            "superseded_total", "descriptors_in_use"}));
    expect_jobs_add_up(fabric, index, figures);
    taken += sum(figures, {"contributions_total", "results_total", "releases_total",
                           "restorations_total", "passed_total"});
  }
  EXPECT_EQ(fabric.claimed("canary"), taken + canary_drops(fabric));
  for (const auto& ledger : fabric.ledgers()) {
    EXPECT_TRUE(ledger.balanced());
  }
}

}  // namespace tributary::test
