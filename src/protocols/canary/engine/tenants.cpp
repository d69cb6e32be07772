// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/tenants.h"

#include <algorithm>

#include "protocols/canary/wire.h"

namespace tributary::canary {

std::uint32_t Tenants::default_quota(std::uint32_t descriptors) {
  return std::max(descriptors / 4, std::min(descriptors, 64u));
}

// A partition is a quota already, and a table that is full without a quota has collisions.
Tenants::Tenants(const CanaryConfig& config, std::uint32_t descriptors, PortIndex ports,
                 std::uint64_t seed)
    : seed_(seed), held_by_port_(ports + std::size_t{1}) {
  const auto choose = [&](std::uint32_t quota) {
    const bool none = quota == 0 && config.partitions != 0;
    const auto chosen = quota != 0 ? quota : default_quota(descriptors);
    return none || chosen >= descriptors ? unlimited : chosen;
  };
  job_quota_ = choose(config.job_quota);
  port_quota_ = choose(config.port_quota);
  for (const auto& rule : config.jobs) {
    const auto quota = rule.quota != 0 ? choose(rule.quota) : job_quota_;
    auto& listed = listed_.emplace_back(Listed{rule, quota, 0});
    std::sort(listed.rule.ports.begin(), listed.rule.ports.end());
  }
  std::sort(listed_.begin(), listed_.end(),
            [](const Listed& a, const Listed& b) { return a.rule.job < b.rule.job; });
}

std::size_t Tenants::index_of(std::uint32_t job) const {
  const auto at =
      std::lower_bound(listed_.begin(), listed_.end(), job,
                       [](const Listed& listed, std::uint32_t id) { return listed.rule.job < id; });
  const bool found = at != listed_.end() && at->rule.job == job;
  return found ? static_cast<std::size_t>(at - listed_.begin()) : listed_.size();
}

// The last counter is for ports that the switch does not have.
std::size_t Tenants::index_of_port(PortIndex port) const {
  return std::min<std::size_t>(port, held_by_port_.size() - 1);
}

bool Tenants::is_allowed(std::uint32_t job, PortIndex port) const {
  const auto index = index_of(job);
  if (index == listed()) {
    return true;
  }
  const auto& ports = listed_[index].rule.ports;
  return ports.empty() || std::binary_search(ports.begin(), ports.end(), port);
}

std::size_t Tenants::place_of(std::uint32_t job, std::size_t row) const {
  return row * columns + wire::mix_key((std::uint64_t{row + 1} << 32) | job, seed_) % columns;
}

std::uint32_t Tenants::held_by(std::uint32_t job) const {
  const auto index = index_of(job);
  return index != listed() ? listed_[index].held : held_by_other(job);
}

std::uint32_t Tenants::held_by_other(std::uint32_t job) const {
  auto held = ~std::uint32_t{0};
  for (std::size_t row = 0; row < rows; ++row) {
    held = std::min(held, held_by_others_[place_of(job, row)]);
  }
  return held;
}

Tenants::Verdict Tenants::judge(std::uint32_t job, PortIndex port) const {
  const auto index = index_of(job);
  const bool job_met = index != listed() ? listed_[index].held >= listed_[index].quota
                                         : held_by_other(job) >= job_quota_;
  if (job_met) {
    return Verdict::job_met;
  }
  return held_by_port_[index_of_port(port)] >= port_quota_ ? Verdict::port_met : Verdict::within;
}

// `change` is added modulo 2^32.
void Tenants::count(std::uint32_t job, PortIndex port, std::uint32_t change) {
  held_by_port_[index_of_port(port)] += change;
  const auto index = index_of(job);
  if (index != listed()) {
    listed_[index].held += change;
    return;
  }
  for (std::size_t row = 0; row < rows; ++row) {
    held_by_others_[place_of(job, row)] += change;
  }
}

}  // namespace tributary::canary
