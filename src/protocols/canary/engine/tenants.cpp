// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/tenants.h"

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
    auto& listed = listed_.emplace_back(Listed{rule, quota});
    std::sort(listed.rule.ports.begin(), listed.rule.ports.end());
  }
  std::sort(listed_.begin(), listed_.end(),
            [](const Listed& a, const Listed& b) { return a.rule.job < b.rule.job; });
  held_by_job_.resize(hashed + listed_.size());
}

std::size_t Tenants::index_of(std::uint32_t job) const {
  const auto at =
      std::lower_bound(listed_.begin(), listed_.end(), job,
                       [](const Listed& listed, std::uint32_t id) { return listed.rule.job < id; });
  const bool found = at != listed_.end() && at->rule.job == job;
  return found ? static_cast<std::size_t>(at - listed_.begin()) : listed_.size();
}

bool Tenants::is_allowed(std::uint32_t job, PortIndex port) const {
  const auto index = index_of(job);
  if (index == listed()) {
    return true;
  }
  const auto& ports = listed_[index].rule.ports;
  return ports.empty() || std::binary_search(ports.begin(), ports.end(), port);
}

// The last of the ports' counters is for ports that the switch does not have.
Tenants::Share Tenants::share_of(std::uint32_t job, PortIndex port) const {
  const auto last = static_cast<PortIndex>(held_by_port_.size() - 1);
  const auto counted = std::min(port, last);
  if (const auto index = index_of(job); index != listed()) {
    const auto place = hashed + static_cast<std::uint32_t>(index);
    return {{place, place}, counted};
  }
  const auto mixed = wire::mix_key(job, seed_);
  const auto low = static_cast<std::uint32_t>(mixed);
  const auto high = static_cast<std::uint32_t>(mixed >> 32);
  return {{low % columns, columns + high % columns}, counted};
}

Tenants::Verdict Tenants::judge(const Share& share) const {
  if (held_by(share) >= quota_of(share)) {
    return Verdict::job_met;
  }
  return held_by_port_[share.port] >= port_quota_ ? Verdict::port_met : Verdict::within;
}

// `change` is added modulo 2^32.
void Tenants::count(const Share& share, std::uint32_t change) {
  held_by_port_[share.port] += change;
  held_by_job_[share.job[0]] += change;
  if (share.job[1] != share.job[0]) {
    held_by_job_[share.job[1]] += change;
  }
}

}  // namespace tributary::canary
