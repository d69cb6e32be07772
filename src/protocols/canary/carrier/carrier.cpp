// SPDX-License-Identifier: BSD-3-Clause
// A communicator's collectives by Canary, and whether switches take part in them.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "host/machine_carrier.h"
#include "protocols/canary/host/blocks.h"
#include "protocols/canary/host/collectives.h"
#include "protocols/canary/host/first_sequence.h"

namespace tributary::host {
namespace {

constexpr std::uint32_t probe_blocks_max = 64;

constexpr auto advice =
    "put [switch.canary] into the configuration of a switch on the paths between the hosts, and "
    "see that the switches take UDP ports 17000 to 17255 and packets as large as the hosts' MTU "
    "(TRIBUTARY_MTU), and that none of them has a [[switch.canary.job]] that leaves out a port of "
    "this job ('tributaryctl drops': canary_not_allowed)";

CanaryTuning tuning_of(const CommunicatorOptions& options) {
  CanaryTuning tuning;
  tuning.attempts_max = options.attempts;
  tuning.host_fallback = options.fallback == Fallback::allow;
  return tuning;
}

std::unique_ptr<CanaryCollectives> machine_of(Job job, const CommunicatorOptions& options) {
  const auto first = first_sequence(job.key);
  return std::make_unique<CanaryCollectives>(std::move(job), tuning_of(options), first);
}

Result<Choice> without_switches(const CommunicatorOptions& options, const std::string& start,
                                const std::string& why) {
  if (options.fallback != Fallback::error && options.algorithm == Algorithm::canary) {
    return Choice{
        Algorithm::canary,
        start + "canary without switches, the leaders reduce alone: " + why + "; " + advice, false};
  }
  const bool is_error = options.fallback == Fallback::error;
  return fall_back(options, start, why,
                   advice + std::string(is_error ? ", or allow the fallback "
                                                   "(TRIBUTARY_FALLBACK=allow)"
                                                 : ""));
}

// By which algorithm a communicator runs, or why it must not.
Result<Choice> choose(const CommunicatorOptions& options, std::uint32_t job,
                      const Observation& observation) {
  const auto start = who(options, job);
  if (observation.failed != 0) {
    const auto why = why_not("Canary's packets do not pass for", observation);
    if (options.algorithm == Algorithm::canary && options.fallback == Fallback::allow) {
      return fail(Error::Code::network, start + why + "; " + advice +
                                            ", or let the ring be used "
                                            "(TRIBUTARY_ALGORITHM=auto)");
    }
    return without_switches(options, start, why);
  }
  if (observation.summed == 0) {
    return without_switches(options, start, "no switch between the ranks aggregates");
  }
  return Choice{Algorithm::canary,
                start + "canary, switches reduce on the way (seen by " +
                    of(observation.summed, observation.ranks) + ")",
                true};
}

class CanaryCarrier final : public MachineCarrier<CanaryCollectives> {
 public:
  CanaryCarrier(Connections connections, const CommunicatorOptions& options)
      : MachineCarrier(machine_of(std::move(connections.job), options),
                       std::move(*connections.transport)),
        options_(options) {}

  // A tiny allreduce, in which each rank (of the first few) leads one full packet.
  Result<Choice> find_out(Ring& ring, Time until) override {
    const auto& job = machine().job();
    const auto blocks = std::size_t{std::min(job.world_size(), probe_blocks_max)};
    const auto seen = [this] {
      return with_machine(
          [](const auto& machine) { return machine.statistics().switch_sums_seen != 0; });
    };
    return look(runner(), ring, {blocks * job.payload_bytes}, until, seen)
        .and_then(
            [&](const Observation& observation) { return choose(options_, job.id, observation); });
  }

  std::size_t packets_max() const override { return Blocks::count_max; }
  void require_switches() override {
    with_machine([](auto& machine) { machine.require_switches(); });
  }
  std::uint64_t blocks_by_hosts() override {
    return with_machine([](const auto& machine) {
      const auto& sent = machine.statistics();
      return sent.blocks_by_hosts + sent.contributions_direct_sent;
    });
  }

 private:
  const CommunicatorOptions& options_;
};

}  // namespace

std::unique_ptr<Carrier> make_canary_carrier(Connections connections,
                                             const CommunicatorOptions& options) {
  return std::make_unique<CanaryCarrier>(std::move(connections), options);
}

}  // namespace tributary::host
