// SPDX-License-Identifier: BSD-3-Clause
// A communicator's collectives by PANAMA, and whether its trees answer.
#include <memory>
#include <string>
#include <utility>

#include "host/machine_carrier.h"
#include "protocols/panama/host/chunks.h"
#include "protocols/panama/host/collectives.h"

namespace tributary::host {
namespace {

constexpr auto advice =
    "see that TRIBUTARY_JOB and TRIBUTARY_TREES are those of 'tributaryctl fabric show', that "
    "every rank is behind its own port of the trees, and that the switches take packets as large "
    "as the hosts' MTU (TRIBUTARY_MTU)";

Result<Choice> choose(const CommunicatorOptions& options, const PanamaCollectives& machine,
                      const Observation& observation) {
  const auto start = who(options, machine.job().id);
  const auto& plan = machine.plan();
  if (observation.failed != 0) {
    return fall_back(options, start, why_not("the aggregation trees do not answer", observation),
                     advice);
  }
  auto notice = start + "panama over " + std::to_string(plan.trees.size()) +
                (plan.trees.size() == 1 ? " tree" : " trees");
  notice += plan.congestion_control ? "" : ", without congestion control";
  if (plan.quorum < observation.ranks) {
    notice += ", a sum needs " + of(plan.quorum, observation.ranks);
  }
  return Choice{Algorithm::panama, notice, true};
}

class PanamaCarrier final : public MachineCarrier<PanamaCollectives> {
 public:
  PanamaCarrier(Connections connections, const CommunicatorOptions& options)
      : MachineCarrier(std::make_unique<PanamaCollectives>(std::move(connections.job),
                                                           std::move(connections.plan)),
                       std::move(*connections.transport)),
        options_(options) {}

  // A full packet in each tree.
  Result<Choice> find_out(Ring& ring, Time until) override {
    const auto bytes = machine().plan().trees.size() * machine().job().payload_bytes;
    return look(runner(), ring, {bytes}, until, [] { return true; })
        .and_then([&](const Observation& observation) {
          return choose(options_, machine(), observation);
        });
  }

  // What all ranks must have part in is not for trees that leave some out.
  bool takes(const Call& call) const override {
    const bool needs_all =
        call.collective == Collective::broadcast || call.collective == Collective::barrier;
    return !needs_all || machine().plan().quorum >= machine().job().world_size();
  }
  std::size_t packets_max() const override { return Chunks::count_max; }

 private:
  const CommunicatorOptions& options_;
};

}  // namespace

std::unique_ptr<Carrier> make_panama_carrier(Connections connections,
                                             const CommunicatorOptions& options) {
  return std::make_unique<PanamaCarrier>(std::move(connections), options);
}

}  // namespace tributary::host
