// SPDX-License-Identifier: BSD-3-Clause
// Runs a communicator's collectives by PANAMA and finds out whether its trees answer.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/chunks.h"
#include "host/machine_carrier.h"
#include "host/payload.h"
#include "host/protocol.h"
#include "host/socket_preparation.h"
#include "protocols/panama/carrier/options.h"
#include "protocols/panama/carrier/socket.h"
#include "protocols/panama/host/collectives.h"
#include "protocols/panama/host/packets.h"
#include "protocols/panama/wire.h"
#include "wire/quorum.h"

namespace tributary::host {
namespace {

constexpr auto panama = "panama";

constexpr Algorithm panama_names[] = {{panama}};

// As many results arrive as this rank has sent packets; half of the room is for what it did not
// read yet. How much of that is used is for the switches and the network to say.
constexpr AutomaticWindow automatic_window{sizeof(wire::PanamaHeader), 2, 4096};

constexpr auto panama_advice =
    "see that TRIBUTARY_JOB and TRIBUTARY_TREES are those of 'tributaryctl fabric show', that "
    "every rank is behind its own port of the trees, and that the switches take packets as large "
    "as the hosts' MTU (TRIBUTARY_MTU)";

constexpr auto share_advice =
    "give ranks and trees one share: 'tributaryctl fabric show' tells TRIBUTARY_SHARE of the trees "
    "(without it, 1), which the job's `share` in the fabric file sets";

Choice choose_trees(const CommunicatorOptions& options, const PanamaCollectives& machine,
                    const Observation& observation) {
  const auto& plan = machine.plan();
  auto notice = who(options, machine.job().id) + "panama over " +
                std::to_string(plan.trees.size()) + (plan.trees.size() == 1 ? " tree" : " trees");
  notice += plan.congestion_control ? "" : ", without congestion control";
  if (plan.quorum < observation.ranks) {
    notice += ", a sum needs " + of(plan.quorum, observation.ranks);
  }
  return Choice{panama, notice};
}

class PanamaCarrier final : public MachineCarrier<PanamaCollectives> {
 public:
  PanamaCarrier(const Job& job, const PanamaPlan& plan, UringTransport transport,
                const CommunicatorOptions& options)
      : MachineCarrier(std::make_unique<PanamaCollectives>(job, plan), std::move(transport),
                       options, panama_overhead_bytes(plan.quorum, job.world_size())) {}

  // Tries the trees with a full packet in each.
  Result<Choice> find_out(Ring& ring, const Deadline& until) override {
    const auto observed = look_along_path([&](Duration patience) {
      const auto bytes = machine().plan().trees.size() * machine().job().payload_bytes;
      return look(runner(), ring, {bytes}, until, {.patience = patience});
    });
    return observed
        .and_then([&](const Observation& observation) -> Result<Choice> {
          return observation.failed == 0 ? choose_trees(options(), machine(), observation)
                                         : choose_ring_for(observation, ring, until);
        })
        .map([&](Choice choice) { return with_size_found(std::move(choice)); });
  }

  // Trees that leave some ranks out take nothing in which all must have part, and no trees take
  // handlers.
  bool takes(const Call& call) const override {
    const bool needs_all =
        call.collective == Collective::broadcast || call.collective == Collective::barrier;
    return MachineCarrier::takes(call) && !needs_handler(call) &&
           (!needs_all || machine().plan().quorum >= machine().job().world_size());
  }
  std::size_t packets_max() const override { return Chunks::count_max; }
  Result<std::vector<PartialResult>> partial_results() override {
    return with_machine([](const auto& machine) { return machine.partial_results(); });
  }

 private:
  Result<Choice> choose_ring_for(const Observation& observation, Ring& ring,
                                 const Deadline& until) {
    const bool needs_all = machine().plan().quorum >= machine().job().world_size();
    return answer_otherwise(needs_all, ring, until).and_then([&](bool share_differs) {
      const auto start = who(options(), machine().job().id);
      return share_differs
                 ? fall_back(options(), start, difference_of_shares(needs_all), share_advice)
                 : fall_back(options(), start,
                             why_not("the aggregation trees do not answer", observation),
                             panama_advice);
    });
  }

  // Where sums may lack ranks, switches drop packets without a mask, and elsewhere those with one.
  // Tells whether the trees answer packets of the other kind; none go to them after that.
  Result<bool> answer_otherwise(bool needs_all, Ring& ring, const Deadline& until) {
    const auto ranks = machine().job().world_size();
    if (ranks > wire::panama_masked_ranks_max) {
      return false;
    }
    with_machine([=](auto& panama) { panama.set_quorum(needs_all ? 1 : ranks); });
    const Probe probe{machine().plan().trees.size() * payload_granule};
    return look(runner(), ring, probe, until, {.patience = path_step_patience})
        .map([](const Observation& observation) { return observation.failed == 0; });
  }

  std::string difference_of_shares(bool needs_all) const {
    const std::string how =
        needs_all ? "the aggregation trees leave out ranks that are late, but these ranks wait for "
                    "all of them"
                  : "the aggregation trees wait for all ranks, but these ranks go on without those "
                    "that are late";
    const Values values(options().parameters, panama_parameters);
    return how + " (TRIBUTARY_SHARE is " + values.text("share") + ")";
  }
};

PanamaPlan plan_of(const PanamaOptions& options, std::vector<wire::Ipv4Address> groups,
                   const Job& job) {
  PanamaPlan plan;
  plan.window_max = std::max(job.window / static_cast<std::uint32_t>(groups.size()), 2u);
  plan.trees = std::move(groups);
  plan.congestion_control = options.congestion_control;
  plan.quorum = wire::quorum_of(options.share, job.world_size());
  return plan;
}

Result<std::unique_ptr<Preparation>> prepare_panama(const CommunicatorOptions& options,
                                                    const Place& place) {
  const auto own = panama_options_of(options);
  auto groups = groups_of(own);
  if (!groups) {
    return tl::make_unexpected(groups.error());
  }
  auto socket = open_panama_socket(place.ip(), *groups, options.job);
  if (!socket) {
    return tl::make_unexpected(socket.error());
  }
  const auto overhead =
      panama_overhead_bytes(wire::quorum_of(own.share, options.world_size), options.world_size);
  const auto offer =
      socket_offer(options, *socket, payload_bytes_behind(overhead, place.mtu), automatic_window);
  return prepare_socket(std::move(*socket), offer,
                        [&options, own, groups = std::move(*groups)](const Meeting& meeting,
                                                                     UringTransport transport) {
                          return std::make_unique<PanamaCarrier>(meeting.job,
                                                                 plan_of(own, groups, meeting.job),
                                                                 std::move(transport), options);
                        });
}

bool is_configured_panama(const CommunicatorOptions& options) {
  return !panama_options_of(options).trees.empty();
}

bool is_partial(const CommunicatorOptions& options) {
  return panama_options_of(options).share < 1;
}

Result<void> refuse_groups(CommunicatorOptions& /*options*/, std::uint32_t /*group*/) {
  return fail(
      Error::Code::invalid_argument,
      "parallel groups cannot share PANAMA's trees; choose the hierarchy tencent, or another "
      "algorithm");
}

}  // namespace
}  // namespace tributary::host

namespace tributary::panama {

extern const host::HostProtocol host_protocol;
constexpr host::HostProtocol host_protocol{
    .name = host::panama,
    .algorithms = host::panama_names,
    .parameters = host::panama_parameters,
    .udp_ports = {wire::panama_udp_port, wire::panama_udp_port},
    .configured = host::is_configured_panama,
    .over_ipv6 = true,
    .check = host::check_panama,
    .prepare = host::prepare_panama,
    .partial = host::is_partial,
    .divide = host::refuse_groups};

}  // namespace tributary::panama
