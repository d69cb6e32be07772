// SPDX-License-Identifier: BSD-3-Clause
// Runs a communicator's collectives by NetReduce and finds out whether its ring answers; runs the
// same ring of Reliable Connections without a switch, too.
#include "protocols/netreduce/carrier/carrier.h"

#include <memory>
#include <string>
#include <utility>

#include "host/machine_carrier.h"
#include "host/payload.h"
#include "host/protocol.h"
#include "host/setup.h"
#include "host/socket_preparation.h"
#include "host/text.h"
#include "protocols/netreduce/carrier/link_ends.h"
#include "protocols/netreduce/carrier/socket.h"
#include "protocols/netreduce/carrier/verbs/verbs_runner.h"
#include "protocols/netreduce/host/collectives.h"
#include "protocols/netreduce/wire.h"
#include "wire/roce.h"

namespace tributary::host {
namespace {

constexpr Algorithm netreduce_names[] = {{netreduce}, {roce_ring, true}};

constexpr auto netreduce_advice =
    "see that the switch between the ranks has a [[switch.netreduce.ring]] with this `id`, the "
    "same `window`, `message_packets` and `mtu`, and as `members` the addresses of the ranks in "
    "their order ('tributaryctl drops': netreduce_...)";

constexpr std::uint32_t roce_headers_bytes =
    udp_headers_bytes + sizeof(wire::BthHeader) + wire::icrc_bytes;

// A device repeats a lost packet only when its own timer has run out, so the probe waits for that,
// too.
Duration probe_patience_of(const NetReduceOptions& own) {
  return own.rdma_device.empty() ? probe_patience
                                 : probe_patience + rdma_repetition_max(own.rdma_timeout);
}

// Holds what carriers in software and over an RDMA device have in common.
template <typename Base>
class NetReduceCarrier : public Base {
 public:
  Result<Choice> find_out(Ring& ring, const Deadline& until) final {
    auto& runner = this->runner();
    return observe_netreduce(netreduce_plan_of(own_), runner, ring, until, probe_patience_of(own_))
        .and_then([&](const Observation& observation) {
          return choose_netreduce(options_, own_, runner.job().id, observation, mixed_);
        });
  }
  // The ring of the hosts' Reliable Connections only sums, and switches have no handlers for it.
  bool takes(const Call& call) const final {
    return !needs_handler(call) && (!own_.hosts_add || call.collective == Collective::allreduce);
  }
  bool survives_failures() const final { return false; }  // messages are lost on their connections
  FullPacket full_packet() const final {
    constexpr std::uint32_t word_bytes = wire::fingerprint_bytes;
    return {own_.mtu - (own_.hosts_add ? 0u : word_bytes), own_.mtu + headers_bytes_};
  }

 protected:
  template <typename... Arguments>
  NetReduceCarrier(const CommunicatorOptions& options, NetReduceOptions own, bool mixed,
                   std::uint32_t headers_bytes, Arguments&&... arguments)
      : Base(std::forward<Arguments>(arguments)...),
        options_(options),
        own_(std::move(own)),
        mixed_(mixed),
        headers_bytes_(headers_bytes) {}

 private:
  const CommunicatorOptions& options_;
  NetReduceOptions own_;
  bool mixed_;
  std::uint32_t headers_bytes_;
};

class SoftwareCarrier final : public NetReduceCarrier<MachineCarrier<NetReduceCollectives>> {
 public:
  SoftwareCarrier(const CommunicatorOptions& options, const NetReduceOptions& own,
                  const Meeting& meeting, const LinkEnd& mine, UringTransport transport)
      : NetReduceCarrier(options, own, is_mixed(meeting),
                         roce_headers_bytes + meeting.job.self().more_header_bytes(),
                         machine_of(options, own, meeting, mine), std::move(transport), options,
                         roce_headers_bytes) {}

 private:
  static std::unique_ptr<NetReduceCollectives> machine_of(const CommunicatorOptions& options,
                                                          const NetReduceOptions& own,
                                                          const Meeting& meeting,
                                                          const LinkEnd& mine) {
    return std::make_unique<NetReduceCollectives>(
        meeting.job, netreduce_plan_of(own), link_plan_of(meeting, mine), roce_tuning_of(options),
        own.hosts_add ? NetReduceCollectives::Adder::hosts
                      : NetReduceCollectives::Adder::the_switch);
  }
};

class DeviceCarrier final : public NetReduceCarrier<Carrier> {
 public:
  DeviceCarrier(const CommunicatorOptions& options, const NetReduceOptions& own, bool mixed,
                std::unique_ptr<VerbsRunner> device)
      : NetReduceCarrier(options, own, mixed, roce_headers_bytes), device_(std::move(device)) {}

  Runner& runner() override { return *device_; }
  Result<void> attend() override { return {}; }  // the device answers by itself
  bool on_device() const override { return true; }
  ProtocolStatistics statistics() override { return figures_of(device_->statistics()); }

 private:
  std::unique_ptr<VerbsRunner> device_;
};

Offer offer_of(const NetReducePlan& plan, const LinkEnd& end) {
  Offer offer;
  offer.payload_bytes = plan.mtu;
  offer.window = plan.window;
  offer.end = to_wire(end);
  return offer;
}

class DevicePreparation final : public Preparation {
 public:
  DevicePreparation(const CommunicatorOptions& options, NetReduceOptions own,
                    std::unique_ptr<VerbsLink> link)
      : options_(options), own_(std::move(own)), link_(std::move(link)) {}

  Offer offer() const override { return offer_of(netreduce_plan_of(own_), link_->end()); }
  Result<std::unique_ptr<Carrier>> join(const Meeting& meeting) override {
    const auto connections = link_plan_of(meeting, link_->end());
    if (auto done = link_->connect(connections.next, connections.before); !done) {
      return tl::make_unexpected(done.error());
    }
    return std::make_unique<DeviceCarrier>(
        options_, own_, is_mixed(meeting),
        std::make_unique<VerbsRunner>(meeting.job, netreduce_plan_of(own_), std::move(link_)));
  }

 private:
  const CommunicatorOptions& options_;
  NetReduceOptions own_;
  std::unique_ptr<VerbsLink> link_;
};

Result<std::unique_ptr<Preparation>> prepare_device(const CommunicatorOptions& options,
                                                    NetReduceOptions own, const Place& place) {
  if (place.prefix) {
    return invalid(
        "RDMA devices are used by their addresses of IPv4, and this rank has " +
        to_string(place.ip()) +
        ": give it one of IPv4 (TRIBUTARY_LOCAL_ADDRESS), or an endpoint in software (no "
        "TRIBUTARY_RDMA_DEVICE)");
  }
  if (own.rdma_timeout.count() == 0) {
    own.rdma_timeout = rdma_timeout_for(patience_of(options));
  }
  // Whether packets may be marked is the device's own affair.
  const auto tos = tos_of(options, wire::ecn::not_ect);
  auto link = open_verbs_link({own.rdma_device, place.address, tos, own.rdma_timeout},
                              netreduce_plan_of(own));
  if (!link) {
    return tl::make_unexpected(link.error());
  }
  return std::make_unique<DevicePreparation>(options, own, std::move(*link));
}

Result<std::unique_ptr<Preparation>> prepare_software(const CommunicatorOptions& options,
                                                      const NetReduceOptions& own,
                                                      const Place& place) {
  const auto plan = netreduce_plan_of(own);
  if (const auto needed = ip_bytes_of(plan); place.mtu < needed) {
    const auto more = place.endpoint().more_header_bytes();
    return fail(Error::Code::invalid_argument,
                "NetReduce's packets of " + std::to_string(own.mtu) +
                    " payload bytes (TRIBUTARY_NETREDUCE_MTU) need an MTU of " +
                    std::to_string(needed + more) + ", it is " + std::to_string(place.mtu + more));
  }
  const auto end = draw_link_end();
  if (!end) {
    return tl::make_unexpected(end.error());
  }
  auto socket = open_roce_socket(place.ip(), tos_of(options, wire::ecn::ect0));
  if (!socket) {
    return tl::make_unexpected(socket.error());
  }
  return prepare_socket(
      std::move(*socket), offer_of(plan, *end),
      [&options, own, mine = *end](const Meeting& meeting, UringTransport transport) {
        return std::make_unique<SoftwareCarrier>(options, own, meeting, mine, std::move(transport));
      });
}

Result<std::unique_ptr<Preparation>> prepare_netreduce(const CommunicatorOptions& options,
                                                       const Place& place) {
  const auto own = netreduce_options_of(options);
  return own.rdma_device.empty() ? prepare_software(options, own, place)
                                 : prepare_device(options, own, place);
}

bool is_configured_netreduce(const CommunicatorOptions& options) {
  return netreduce_options_of(options).ring.has_value();
}

// Each group has a ring of its own; the rings' numbers follow each other.
Result<void> divide_rings(CommunicatorOptions& options, std::uint32_t group) {
  if (const auto ring = netreduce_options_of(options).ring) {
    options.set("netreduce_ring", std::to_string(*ring + group));
  }
  return {};
}

}  // namespace

Result<Observation> observe_netreduce(const NetReducePlan& plan, Runner& runner, Ring& ring,
                                      const Deadline& until, Duration patience) {
  // A failure ends the run, so that all further attempts fail: who begins late is waited for in the
  // first one.
  return look(runner, ring, {0, plan.element_bytes(1)}, until,
              {[] { return true; }, probe_attempts_max * patience});
}

Result<Choice> choose_netreduce(const CommunicatorOptions& options, const NetReduceOptions& own,
                                std::uint32_t job, const Observation& observation, bool mixed) {
  const auto start = who(options, job);
  const auto which = "ring " + std::to_string(own.ring.value_or(0));
  if (observation.failed != 0) {
    return fall_back(options, start, why_not(which + " of NetReduce does not answer", observation),
                     netreduce_advice);
  }
  const auto how =
      own.rdma_device.empty() ? ", endpoints in software" : ", RDMA device " + own.rdma_device;
  const auto caution = mixed
                           ? "; the ring is mixed: endpoints in software miss 2^-16 of the errors "
                             "in packets of RDMA devices, so sums are not certain"
                           : "";
  return Choice{netreduce, start + "netreduce over " + which + how + caution};
}

}  // namespace tributary::host

namespace tributary::netreduce {

extern const host::HostProtocol host_protocol;
constexpr host::HostProtocol host_protocol{.name = host::netreduce,
                                           .algorithms = host::netreduce_names,
                                           .parameters = host::netreduce_parameters,
                                           .udp_ports = {wire::roce_udp_port, wire::roce_udp_port},
                                           .configured = host::is_configured_netreduce,
                                           .over_ipv6 = true,
                                           .check = host::check_netreduce,
                                           .prepare = host::prepare_netreduce,
                                           .divide = host::divide_rings};

}  // namespace tributary::netreduce
