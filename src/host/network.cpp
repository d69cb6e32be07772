// SPDX-License-Identifier: BSD-3-Clause
#include "host/network.h"

#include <utility>

#include "host/setup_netreduce.h"
#include "protocols/canary/host/first_sequence.h"
#include "protocols/panama/host/packets.h"

namespace tributary::host {
namespace {

CanaryTuning tuning_of(const CommunicatorOptions& options) {
  CanaryTuning tuning;
  tuning.attempts_max = options.attempts;
  tuning.host_fallback = options.fallback == Fallback::allow;
  return tuning;
}

}  // namespace

Network::Network(Connections connections, const CommunicatorOptions& options)
    : machine_(make_machine(connections, options)),
      device_(std::move(connections.device)),
      runner_(device_.get()),
      ring_(std::move(connections.ring)),
      mixed_(connections.mixed) {
  if (machine_ != nullptr) {
    driver_ = std::make_unique<Driver>(*machine_, std::move(*connections.transport));
    runner_ = driver_.get();
  }
}

std::unique_ptr<Machine> Network::make_machine(Connections& connections,
                                               const CommunicatorOptions& options) {
  if (connections.device != nullptr) {
    return nullptr;
  }
  if (!connections.plan.trees.empty()) {
    auto made = std::make_unique<PanamaCollectives>(std::move(connections.job),
                                                    std::move(connections.plan));
    panama_ = made.get();
    return made;
  }
  if (connections.netreduce) {
    auto made = std::make_unique<NetReduceCollectives>(
        connections.job, *connections.netreduce, connections.link, roce_tuning_of(options),
        options.algorithm == Algorithm::roce_ring ? NetReduceCollectives::Adder::hosts
                                                  : NetReduceCollectives::Adder::the_switch);
    netreduce_ = made.get();
    return made;
  }
  const auto first = first_sequence(connections.job.key);
  auto made =
      std::make_unique<CanaryCollectives>(std::move(connections.job), tuning_of(options), first);
  canary_ = made.get();
  return made;
}

Result<Choice> Network::find_out(const CommunicatorOptions& options, Time until) {
  if (auto started = attend(); !started) {
    return tl::make_unexpected(started.error());
  }
  if (panama_ != nullptr) {
    const auto observation = observe_trees(*panama_, *driver_, ring_, until);
    return observation ? choose_trees(options, *panama_, *observation)
                       : tl::make_unexpected(observation.error());
  }
  const auto observation =
      canary_ != nullptr ? observe(*canary_, *driver_, ring_, until)
                         : observe_netreduce(netreduce_plan_of(options), *runner_, ring_, until);
  if (!observation) {
    return tl::make_unexpected(observation.error());
  }
  return canary_ != nullptr ? choose(options, job().id, *observation)
                            : choose_netreduce(options, job().id, *observation, mixed_);
}

Result<void> Network::attend() {
  return driver_ != nullptr ? driver_->start() : Result<void>();
}

void Network::require_switches() {
  if (canary_ != nullptr) {
    driver_->with_machine([this] { canary_->require_switches(); });
  }
}

CanaryStatistics Network::canary_statistics() {
  return canary_ == nullptr ? CanaryStatistics{}
                            : driver_->with_machine([this] { return canary_->statistics(); });
}

PanamaStatistics Network::panama_statistics() {
  return panama_ == nullptr ? PanamaStatistics{}
                            : driver_->with_machine([this] { return panama_->statistics(); });
}

NetReduceStatistics Network::netreduce_statistics() {
  if (device_ != nullptr) {
    return device_->statistics();
  }
  return netreduce_ == nullptr ? NetReduceStatistics{}
                               : driver_->with_machine([this] { return netreduce_->statistics(); });
}

std::uint64_t Network::blocks_by_hosts() {
  const auto sent = canary_statistics();
  return sent.blocks_by_hosts + sent.contributions_direct_sent;
}

}  // namespace tributary::host
