// SPDX-License-Identifier: BSD-3-Clause
// A communicator's collectives by NetReduce, and whether its ring answers; and the same ring of
// Reliable Connections without a switch.
#include "protocols/netreduce/carrier/carrier.h"

#include <memory>
#include <string>
#include <utility>

#include "host/machine_carrier.h"
#include "protocols/netreduce/carrier/setup.h"
#include "protocols/netreduce/carrier/verbs/verbs_runner.h"
#include "protocols/netreduce/host/collectives.h"

namespace tributary::host {
namespace {

constexpr auto advice =
    "see that the switch between the ranks has a [[switch.netreduce.ring]] with this `id`, the "
    "same `window`, `message_packets` and `mtu`, and as `members` the addresses of the ranks in "
    "their order ('tributaryctl drops': netreduce_...)";

// What both have in common.
template <typename Base>
class NetReduceCarrier : public Base {
 public:
  Result<Choice> find_out(Ring& ring, Time until) final {
    auto& runner = this->runner();
    return observe_netreduce(netreduce_plan_of(options_), runner, ring, until)
        .and_then([&](const Observation& observation) {
          return choose_netreduce(options_, runner.job().id, observation, mixed_);
        });
  }
  // The ring of the hosts' Reliable Connections only sums.
  bool takes(const Call& call) const final {
    return options_.algorithm != Algorithm::roce_ring || call.collective == Collective::allreduce;
  }

 protected:
  template <typename... Arguments>
  NetReduceCarrier(const CommunicatorOptions& options, bool mixed, Arguments&&... arguments)
      : Base(std::forward<Arguments>(arguments)...), options_(options), mixed_(mixed) {}

 private:
  const CommunicatorOptions& options_;
  bool mixed_;
};

class SoftwareCarrier final : public NetReduceCarrier<MachineCarrier<NetReduceCollectives>> {
 public:
  SoftwareCarrier(Connections connections, const CommunicatorOptions& options)
      : NetReduceCarrier(options, connections.mixed, machine_of(connections, options),
                         std::move(*connections.transport)) {}

 private:
  static std::unique_ptr<NetReduceCollectives> machine_of(const Connections& connections,
                                                          const CommunicatorOptions& options) {
    return std::make_unique<NetReduceCollectives>(
        connections.job, *connections.netreduce, connections.link, roce_tuning_of(options),
        options.algorithm == Algorithm::roce_ring ? NetReduceCollectives::Adder::hosts
                                                  : NetReduceCollectives::Adder::the_switch);
  }
};

class DeviceCarrier final : public NetReduceCarrier<Carrier> {
 public:
  DeviceCarrier(Connections connections, const CommunicatorOptions& options)
      : NetReduceCarrier(options, connections.mixed), device_(std::move(connections.device)) {}

  Runner& runner() override { return *device_; }
  Result<void> attend() override { return {}; }  // the device answers by itself
  bool on_device() const override { return true; }
  ProtocolStatistics statistics() override { return figures_of(device_->statistics()); }

 private:
  std::unique_ptr<VerbsRunner> device_;
};

}  // namespace

Result<Observation> observe_netreduce(const NetReducePlan& plan, Runner& runner, Ring& ring,
                                      Time until) {
  return look(runner, ring, {0, plan.element_bytes()}, until, [] { return true; });
}

Result<Choice> choose_netreduce(const CommunicatorOptions& options, std::uint32_t job,
                                const Observation& observation, bool mixed) {
  const auto start = who(options, job);
  const auto which = "ring " + std::to_string(*options.netreduce_ring);
  if (observation.failed != 0) {
    return fall_back(options, start, why_not(which + " of NetReduce does not answer", observation),
                     advice);
  }
  const auto how = options.rdma_device.empty() ? ", endpoints in software"
                                               : ", RDMA device " + options.rdma_device;
  const auto caution = mixed
                           ? "; the ring is mixed: endpoints in software miss 2^-16 of the errors "
                             "in packets of RDMA devices, so sums are not certain"
                           : "";
  return Choice{Algorithm::netreduce, start + "netreduce over " + which + how + caution, true};
}

std::unique_ptr<Carrier> make_netreduce_carrier(Connections connections,
                                                const CommunicatorOptions& options) {
  if (connections.device != nullptr) {
    return std::make_unique<DeviceCarrier>(std::move(connections), options);
  }
  return std::make_unique<SoftwareCarrier>(std::move(connections), options);
}

}  // namespace tributary::host
