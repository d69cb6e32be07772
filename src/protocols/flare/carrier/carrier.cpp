// SPDX-License-Identifier: BSD-3-Clause
// A communicator's collectives by Flare, and whether its reduction tree answers.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "host/chunks.h"
#include "host/machine_carrier.h"
#include "host/payload.h"
#include "host/protocol.h"
#include "host/socket_preparation.h"
#include "host/text.h"
#include "protocols/flare/carrier/options.h"
#include "protocols/flare/carrier/socket.h"
#include "protocols/flare/host/collectives.h"
#include "protocols/flare/host/packets.h"
#include "protocols/flare/host/plan.h"
#include "protocols/flare/wire.h"

namespace tributary::host {
namespace {

constexpr auto flare = "flare";

constexpr Algorithm known_as[] = {{flare}};

constexpr auto advice =
    "see that TRIBUTARY_JOB, TRIBUTARY_FLARE_TREE and TRIBUTARY_FLARE_WINDOW are those of "
    "'tributaryctl fabric show', that every rank is behind its own port of the tree, and that the "
    "switches take packets as large as the hosts' MTU (TRIBUTARY_MTU; 'tributaryctl drops': "
    "flare_...)";

Result<Choice> choose(const CommunicatorOptions& options, const FlareCollectives& machine,
                      const Observation& observation) {
  const auto start = who(options, machine.job().id);
  if (observation.failed != 0) {
    return fall_back(options, start, why_not("the reduction tree does not answer", observation),
                     advice);
  }
  const auto& plan = machine.plan();
  return Choice{flare, start + "flare over the tree " + to_string(plan.group) + ", window " +
                           std::to_string(plan.window)};
}

class FlareCarrier final : public MachineCarrier<FlareCollectives> {
 public:
  FlareCarrier(const Job& job, const FlarePlan& plan, UringTransport transport,
               const CommunicatorOptions& options)
      : MachineCarrier(std::make_unique<FlareCollectives>(job, plan), std::move(transport)),
        options_(options) {}

  // A full packet of each flow: every core that has some of the blocks is asked.
  Result<Choice> find_out(Ring& ring, Time until) override {
    const auto bytes = std::size_t{wire::flare_flows} * machine().job().payload_bytes;
    return look(runner(), ring, {bytes}, until, [] { return true; })
        .and_then([&](const Observation& observation) {
          return choose(options_, machine(), observation);
        });
  }

  std::size_t packets_max() const override { return Chunks::count_max; }

  FullPacket full_packet() const override {
    const auto payload_bytes = machine().job().payload_bytes;
    return {payload_bytes, payload_bytes + flare_headers_bytes};
  }

 private:
  const CommunicatorOptions& options_;
};

Result<std::unique_ptr<Preparation>> prepare_flare(const CommunicatorOptions& options,
                                                   const Place& place) {
  const auto own = flare_options_of(options);
  const auto group = flare_group_of(own.tree);
  if (!group) {
    return tl::make_unexpected(group.error());
  }
  auto socket = open_flare_socket(place.address, *group);
  if (!socket) {
    return tl::make_unexpected(socket.error());
  }
  // The window is not what the receive buffer holds: switches were told it beforehand.
  Offer offer;
  offer.payload_bytes = payload_bytes_behind(flare_headers_bytes, place.mtu);
  offer.window = own.window;
  const FlarePlan plan{*group, own.window};
  return prepare_socket(std::move(*socket), offer,
                        [&options, plan](const Meeting& meeting, UringTransport transport) {
                          return std::make_unique<FlareCarrier>(meeting.job, plan,
                                                                std::move(transport), options);
                        });
}

Claim claim_of_flare(const CommunicatorOptions& options) {
  return flare_options_of(options).tree.empty() ? Claim::none : Claim::configured;
}

Result<void> refuse_to_divide(CommunicatorOptions& /*options*/, std::uint32_t /*group*/) {
  return invalid(
      "parallel groups cannot share Flare's reduction tree; choose the hierarchy tencent, or "
      "another algorithm");
}

}  // namespace
}  // namespace tributary::host

namespace tributary::flare {

extern const host::HostProtocol host_protocol;
constexpr host::HostProtocol host_protocol{
    .name = host::flare,
    .algorithms = host::known_as,
    .parameters = host::flare_parameters,
    .udp_ports = {wire::flare_udp_port, wire::flare_udp_port},
    .claim = host::claim_of_flare,
    .check = host::check_flare,
    .prepare = host::prepare_flare,
    .divide = host::refuse_to_divide};

}  // namespace tributary::flare
