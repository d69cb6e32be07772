// SPDX-License-Identifier: BSD-3-Clause
// Runs a communicator's collectives by NetReduce and finds out whether its ring answers; runs the
// same ring of Reliable Connections without a switch, too.
#include "protocols/netreduce/carrier/carrier.h"

#include <algorithm>
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
    "same `window` and `message_packets`, and as `members` the addresses of the ranks in their "
    "order ('tributaryctl drops': netreduce_...)";

constexpr std::uint32_t roce_headers_bytes =
    udp_headers_bytes + sizeof(wire::BthHeader) + wire::icrc_bytes;

// A device repeats a lost packet only when its own timer has run out, so the probe waits for that,
// too.
ProbePatience patience_of_probe(const NetReduceOptions& own) {
  ProbePatience patience;
  if (!own.rdma_device.empty()) {
    patience.full += rdma_repetition_max(own.rdma_timeout);
    patience.smaller += rdma_repetition_max(own.rdma_timeout);
  }
  return patience;
}

// Holds what carriers in software and over an RDMA device have in common.
template <typename Base>
class NetReduceCarrier : public Base {
 public:
  Result<Choice> find_out(Ring& ring, const Deadline& until) final {
    const auto agreed = plan_.mtu;
    auto& runner = this->runner();
    return observe_netreduce(
               plan_, runner, ring, [this](const auto& plan) { return begin_run(plan); }, until,
               patience_of_probe(own_))
        .and_then([&](const Observation& observation) {
          return choose_netreduce(options_, own_, runner.job().id, observation, mixed_);
        })
        .map([&](Choice choice) {
          if (choice.algorithm == netreduce && plan_.mtu < agreed) {
            choice.notice +=
                in_smaller_packets(full_packet().total) + ", or the ring a smaller `mtu`";
          }
          return choice;
        });
  }
  // The ring of the hosts' Reliable Connections only sums, and switches have no handlers for it.
  bool takes(const Call& call) const final {
    return Base::takes(call) && !needs_handler(call) &&
           (!own_.hosts_add || call.collective == Collective::allreduce);
  }
  bool survives_failures() const final { return false; }  // messages are lost on their connections
  FullPacket full_packet() const final {
    constexpr std::uint32_t word_bytes = wire::fingerprint_bytes;
    return {plan_.mtu - (own_.hosts_add ? 0u : word_bytes), plan_.mtu + headers_bytes_};
  }

 protected:
  template <typename... Arguments>
  NetReduceCarrier(const CommunicatorOptions& options, NetReduceOptions own,
                   const NetReducePlan& plan, bool mixed, std::uint32_t headers_bytes,
                   Arguments&&... arguments)
      : Base(std::forward<Arguments>(arguments)...),
        options_(options),
        own_(std::move(own)),
        plan_(plan),
        mixed_(mixed),
        headers_bytes_(headers_bytes) {}

 private:
  virtual Result<void> begin_run(const NetReducePlan& plan) = 0;

  const CommunicatorOptions& options_;
  NetReduceOptions own_;
  NetReducePlan plan_;
  bool mixed_;
  std::uint32_t headers_bytes_;
};

class SoftwareCarrier final : public NetReduceCarrier<MachineCarrier<NetReduceCollectives>> {
 public:
  SoftwareCarrier(const CommunicatorOptions& options, const NetReduceOptions& own,
                  const NetReducePlan& plan, const Meeting& meeting, const LinkEnd& mine,
                  UringTransport transport)
      : NetReduceCarrier(options, own, plan, is_mixed(meeting),
                         roce_headers_bytes + meeting.job.self().more_header_bytes(),
                         machine_of(options, own, plan, meeting, mine), std::move(transport),
                         options, roce_headers_bytes) {}

 private:
  static std::unique_ptr<NetReduceCollectives> machine_of(const CommunicatorOptions& options,
                                                          const NetReduceOptions& own,
                                                          const NetReducePlan& plan,
                                                          const Meeting& meeting,
                                                          const LinkEnd& mine) {
    return std::make_unique<NetReduceCollectives>(
        meeting.job, plan, link_plan_of(meeting, mine), roce_tuning_of(options),
        own.hosts_add ? NetReduceCollectives::Adder::hosts
                      : NetReduceCollectives::Adder::the_switch);
  }
  Result<void> begin_run(const NetReducePlan& plan) override {
    return restart([&](auto& machine) { machine.begin_run(plan); });
  }
};

class DeviceCarrier final : public NetReduceCarrier<Carrier> {
 public:
  // The device has begun the run.
  DeviceCarrier(const CommunicatorOptions& options, const NetReduceOptions& own,
                const NetReducePlan& plan, bool mixed, std::unique_ptr<VerbsRunner> device)
      : NetReduceCarrier(options, own, plan, mixed, roce_headers_bytes),
        device_(std::move(device)) {}

  Runner& runner() override { return *device_; }
  Result<void> attend() override { return {}; }  // the device answers by itself
  bool on_device() const override { return true; }
  ProtocolStatistics statistics() override { return figures_of(device_->statistics()); }

 private:
  Result<void> begin_run(const NetReducePlan& plan) override { return device_->begin_run(plan); }

  std::unique_ptr<VerbsRunner> device_;
};

// Returns the plan of this rank alone: packets are as large as its interface takes, if ranks are
// not told to have smaller ones.
Result<NetReducePlan> own_plan(const NetReduceOptions& own, const Place& place) {
  auto plan = netreduce_plan_of(own);
  plan.mtu = std::min(plan.mtu, path_mtu_within(place.mtu));
  if (plan.mtu == 0) {
    const auto more = place.endpoint().more_header_bytes();
    return fail(Error::Code::invalid_argument,
                "RoCE needs an MTU of " +
                    std::to_string(ip_bytes_of(wire::ring_mtus.front()) + more) +
                    " at least, for packets of 256 payload bytes; it is " +
                    std::to_string(place.mtu + more));
  }
  return plan;
}

// Returns the plan that all ranks have. Ranks with smaller interfaces have offered less.
Result<NetReducePlan> agreed_plan(NetReducePlan own, const Meeting& meeting) {
  own.mtu = wire::ring_mtu_within(meeting.job.payload_bytes);
  if (own.mtu == 0) {
    return fail(Error::Code::mismatch, "a rank takes packets of " +
                                           std::to_string(meeting.job.payload_bytes) +
                                           " payload bytes only, and RoCE has no such path MTU");
  }
  return own;
}

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
                    const NetReducePlan& plan, std::unique_ptr<VerbsLink> link)
      : options_(options), own_(std::move(own)), plan_(plan), link_(std::move(link)) {}

  Offer offer() const override { return offer_of(plan_, link_->end()); }
  Result<std::unique_ptr<Carrier>> join(const Meeting& meeting) override {
    return agreed_plan(plan_, meeting).and_then([&](const NetReducePlan& plan) {
      const auto ends = link_plan_of(meeting, link_->end());
      auto device = std::make_unique<VerbsRunner>(meeting.job, ends, std::move(link_));
      return device->begin_run(plan).map([&]() -> std::unique_ptr<Carrier> {
        return std::make_unique<DeviceCarrier>(options_, own_, plan, is_mixed(meeting),
                                               std::move(device));
      });
    });
  }

 private:
  const CommunicatorOptions& options_;
  NetReduceOptions own_;
  NetReducePlan plan_;
  std::unique_ptr<VerbsLink> link_;
};

Result<std::unique_ptr<Preparation>> prepare_device(const CommunicatorOptions& options,
                                                    NetReduceOptions own, const NetReducePlan& plan,
                                                    const Place& place) {
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
  auto link = open_verbs_link({own.rdma_device, place.address, tos, own.rdma_timeout}, plan);
  if (!link) {
    return tl::make_unexpected(link.error());
  }
  return std::make_unique<DevicePreparation>(options, own, plan, std::move(*link));
}

Result<std::unique_ptr<Preparation>> prepare_software(const CommunicatorOptions& options,
                                                      const NetReduceOptions& own,
                                                      const NetReducePlan& plan,
                                                      const Place& place) {
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
      [&options, own, plan, mine = *end](const Meeting& meeting, UringTransport transport) {
        return agreed_plan(plan, meeting)
            .map([&](const NetReducePlan& agreed) -> std::unique_ptr<Carrier> {
              return std::make_unique<SoftwareCarrier>(options, own, agreed, meeting, mine,
                                                       std::move(transport));
            });
      });
}

Result<std::unique_ptr<Preparation>> prepare_netreduce(const CommunicatorOptions& options,
                                                       const Place& place) {
  const auto own = netreduce_options_of(options);
  return own_plan(own, place).and_then([&](const NetReducePlan& plan) {
    return own.rdma_device.empty() ? prepare_software(options, own, plan, place)
                                   : prepare_device(options, own, plan, place);
  });
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

Result<Observation> observe_netreduce(NetReducePlan& plan, Runner& runner, Ring& ring,
                                      const BeginRun& begin_run, const Deadline& until,
                                      const ProbePatience& patience) {
  bool is_first = true;
  const auto look_for = [&](Duration how_long) {
    bool began = false;
    const auto attempt = [&](Runner& with, const Deadline& latest) {
      return reduce_all({0}, with, latest).and_then([&] {
        began = true;
        return reduce_all({plan.element_bytes(1)}, with, latest);
      });
    };
    const auto prepare = [&] {
      began = false;
      plan.run += is_first ? 0 : 1;
      return std::exchange(is_first, false) ? Result<void>() : begin_run(plan);
    };
    return observe(runner, ring, attempt, until, {[&] { return began; }, how_long, prepare});
  };
  auto seen = look_for(patience.full);
  while (seen && seen->failed != 0 && seen->summed != 0 && plan.mtu > wire::ring_mtus.front()) {
    plan.mtu = wire::ring_mtu_within(plan.mtu - 1);
    seen = look_for(patience.smaller);
  }
  return seen;
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
