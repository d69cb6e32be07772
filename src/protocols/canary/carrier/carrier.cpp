// SPDX-License-Identifier: BSD-3-Clause
// Runs a communicator's collectives by Canary, and finds out whether switches take part in them.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "host/machine_carrier.h"
#include "host/payload.h"
#include "host/protocol.h"
#include "host/socket_preparation.h"
#include "host/traffic_class.h"
#include "protocols/canary/carrier/socket.h"
#include "protocols/canary/host/blocks.h"
#include "protocols/canary/host/collectives.h"
#include "protocols/canary/host/first_sequence.h"
#include "protocols/canary/host/packets.h"
#include "protocols/canary/wire.h"

namespace tributary::host {
namespace {

constexpr std::uint32_t probe_blocks_max = 64;
// Contributions to the blocks that this rank leads and results of the others arrive unasked: about
// two windows, and one more while this rank lags behind. How much of that is used the path decides
// (BlockWindow); the most is what 400 Gbit/s hold for 100 us.
constexpr AutomaticWindow automatic_window{sizeof(wire::CanaryHeader), 3, 4096};

constexpr auto canary = "canary";

constexpr Algorithm canary_names[] = {{canary}};

constexpr Parameter canary_parameters[] = {
    {.name = "attempts",
     .otherwise = "4",
     .help = "how often a block is tried in the network before the hosts reduce it",
     .option = "--attempts",
     .least = 1,
     .most = 15},
    dscp_parameter,
    {.name = "canary_congestion_control",
     .kind = Parameter::Kind::on_or_off,
     .otherwise = "on",
     .help = "`off`: as many blocks are in flight as `window` says, whatever queues mark",
     .option = "--canary-congestion-control"},
};

unsigned attempts_of(const CommunicatorOptions& options) {
  return Values(options.parameters, canary_parameters).number("attempts");
}

constexpr auto canary_advice =
    "put [switch.canary] into the configuration of a switch on the paths between the hosts, and "
    "see that the switches take UDP ports 17000 to 17255 and packets as large as the hosts' MTU "
    "(TRIBUTARY_MTU), and that none of them has a [[switch.canary.job]] that leaves out a port of "
    "this job ('tributaryctl drops': canary_not_allowed)";

CanaryTuning tuning_of(const CommunicatorOptions& options) {
  CanaryTuning tuning;
  tuning.attempts_max = attempts_of(options);
  tuning.congestion_control =
      Values(options.parameters, canary_parameters).on("canary_congestion_control");
  tuning.host_fallback = options.fallback == Fallback::allow;
  return tuning;
}

std::unique_ptr<CanaryCollectives> machine_of(Job job, const CommunicatorOptions& options) {
  const auto first = first_sequence(job.key);
  return std::make_unique<CanaryCollectives>(std::move(job), tuning_of(options), first);
}

Result<Choice> without_switches(const CommunicatorOptions& options, const std::string& start,
                                const std::string& why) {
  if (options.fallback != Fallback::error && options.algorithm == canary) {
    return Choice{
        canary,
        start + "canary without switches, the leaders reduce alone: " + why + "; " + canary_advice,
        why};
  }
  const bool is_error = options.fallback == Fallback::error;
  return fall_back(options, start, why,
                   canary_advice + std::string(is_error ? ", or allow the fallback "
                                                          "(TRIBUTARY_FALLBACK=allow)"
                                                        : ""));
}

// Decides by which algorithm a communicator runs, or why it must not.
Result<Choice> choose(const CommunicatorOptions& options, std::uint32_t job,
                      const Observation& observation) {
  const auto start = who(options, job);
  if (observation.failed != 0) {
    const auto why = why_not("Canary's packets do not pass for", observation);
    if (options.algorithm == canary && options.fallback == Fallback::allow) {
      return fail(Error::Code::network, start + why + "; " + canary_advice +
                                            ", or let the ring be used "
                                            "(TRIBUTARY_ALGORITHM=auto)");
    }
    return without_switches(options, start, why);
  }
  if (observation.summed == 0) {
    return without_switches(options, start, "no switch between the ranks aggregates");
  }
  return Choice{canary, start + "canary, switches reduce on the way (seen by " +
                            of(observation.summed, observation.ranks) + ")"};
}

class CanaryCarrier final : public MachineCarrier<CanaryCollectives> {
 public:
  CanaryCarrier(const Job& job, UringTransport transport, const CommunicatorOptions& options)
      : MachineCarrier(machine_of(job, options), std::move(transport), options,
                       headers_bytes_of(job.encapsulation)) {}

  Result<Choice> find_out(Ring& ring, const Deadline& until) override {
    const auto observed =
        look_along_path([&](Duration patience) { return look_for(patience, ring, until); });
    return observed
        .and_then([&](const Observation& observation) {
          switches_reduce_ = observation.failed == 0 && observation.summed != 0;
          blocks_by_hosts_ = blocks_by_hosts();
          return choose(options(), machine().job().id, observation);
        })
        .map([&](Choice choice) { return with_size_found(std::move(choice)); });
  }

  bool takes(const Call& /*call*/) const override { return true; }
  std::size_t packets_max() const override { return Blocks::count_max; }
  void require_switches() override {
    with_machine([](auto& machine) { machine.require_switches(); });
  }
  std::optional<std::string> news() override {
    if (!switches_reduce_ || blocks_by_hosts() == blocks_by_hosts_) {
      return std::nullopt;
    }
    switches_reduce_ = false;
    return "job " + std::to_string(machine().job().id) +
           ": hosts had to reduce blocks themselves, because " +
           std::to_string(attempts_of(options())) +
           " attempts lost contributions or no switch took part any more; 'tributaryctl drops' and "
           "'tributaryctl job' on the switches tell where (this is said once)";
  }

 private:
  // Runs a tiny allreduce, in which each rank (of the first few) leads one full packet.
  Result<Observation> look_for(Duration patience, Ring& ring, const Deadline& until) {
    const auto& job = machine().job();
    const auto blocks = std::size_t{std::min(job.world_size(), probe_blocks_max)};
    const auto seen = [this] {
      return with_machine(
          [](const auto& machine) { return machine.statistics().switch_sums_seen != 0; });
    };
    return look(runner(), ring, {blocks * job.payload_bytes}, until, {seen, patience});
  }

  // Returns how many blocks hosts have reduced so far, as far as this rank had part in that.
  std::uint64_t blocks_by_hosts() {
    return with_machine([](const auto& machine) {
      const auto& sent = machine.statistics();
      return sent.blocks_by_hosts + sent.contributions_direct_sent;
    });
  }

  bool switches_reduce_ = false;       // and nobody was told yet that they stopped
  std::uint64_t blocks_by_hosts_ = 0;  // as they were when that was found out
};

Result<std::unique_ptr<Preparation>> prepare_canary(const CommunicatorOptions& options,
                                                    const Place& place) {
  auto socket =
      options.encapsulation == wire::Encapsulation::udp
          ? open_canary_socket(place.ip(), tos_of(options, wire::ecn::ect0))
          : open_ethernet_socket(place.ip(), wire::ethertype::canary, wire::canary_group_mac);
  if (!socket) {
    return tl::make_unexpected(socket.error());
  }
  const auto payload_bytes =
      payload_bytes_behind(headers_bytes_of(options.encapsulation), place.mtu);
  const auto offer = socket_offer(options, *socket, payload_bytes, automatic_window);
  return prepare_socket(
      std::move(*socket), offer, [&options](const Meeting& meeting, UringTransport transport) {
        return std::make_unique<CanaryCarrier>(meeting.job, std::move(transport), options);
      });
}

}  // namespace
}  // namespace tributary::host

namespace tributary::canary {

extern const host::HostProtocol host_protocol;
constexpr host::HostProtocol host_protocol{
    .name = host::canary,
    .algorithms = host::canary_names,
    .parameters = host::canary_parameters,
    .udp_ports = {wire::canary_udp_port_first, wire::canary_udp_port_last},
    .over_ipv6 = true,
    .by_default = true,
    .prepare = host::prepare_canary};

}  // namespace tributary::canary
