// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/carrier/options.h"

#include <algorithm>
#include <cstddef>

#include "host/payload.h"
#include "host/setup.h"
#include "host/text.h"
#include "wire/roce.h"

namespace tributary::host {
namespace {

// Checks the sizes as switches check what they are configured with.
Result<void> check_sizes(const NetReduceOptions& options, std::uint32_t world_size) {
  const auto packets = std::size_t{2} * options.window * options.message_packets * world_size;
  if (packets > wire::ring_slots_max) {
    return invalid("2 x window x packets of a message x ranks is " + std::to_string(packets) +
                   ", more than " + std::to_string(wire::ring_slots_max) +
                   " (TRIBUTARY_NETREDUCE_WINDOW, TRIBUTARY_NETREDUCE_MESSAGE)");
  }
  if (world_size > wire::ring_members_max) {
    return invalid("a ring of NetReduce has at most " + std::to_string(wire::ring_members_max) +
                   " ranks");
  }
  return {};
}

// RoCE has one port only, so two endpoints cannot share an address. That is refused here, as the
// other ranks would wait for one whose socket cannot be bound.
Result<void> check_addresses(const CommunicatorOptions& options, const NetReduceOptions& of) {
  if (options.local_world_size < 2 || !options.local_address.empty() || !of.rdma_device.empty()) {
    return {};
  }
  return invalid("the " + std::to_string(options.local_world_size) +
                 " ranks of this machine (LOCAL_WORLD_SIZE) cannot share its address over " +
                 (of.hosts_add ? roce_ring : netreduce) +
                 " with endpoints in software: run one on each machine, or give each an address of "
                 "its own (TRIBUTARY_LOCAL_ADDRESS) or an RDMA device (TRIBUTARY_RDMA_DEVICE)");
}

}  // namespace

NetReduceOptions netreduce_options_of(const CommunicatorOptions& options) {
  const Values values(options.parameters, netreduce_parameters);
  NetReduceOptions own;
  own.hosts_add = options.algorithm == roce_ring;
  if (values.given("netreduce_ring")) {
    own.ring = values.number("netreduce_ring");
  }
  own.window = values.number("netreduce_window");
  own.message_packets = values.number("netreduce_message");
  own.mtu = values.number("netreduce_mtu");
  own.rdma_device = own.hosts_add ? "" : values.text("rdma_device");
  own.rdma_timeout = values.duration("rdma_timeout");
  return own;
}

Result<void> check_netreduce(const CommunicatorOptions& options) {
  const auto own = netreduce_options_of(options);
  if (!own.hosts_add && !own.ring) {
    return invalid(
        "NetReduce needs the ring that was set up for it: the `id` of a [[switch.netreduce.ring]] "
        "(TRIBUTARY_NETREDUCE_RING)");
  }
  if (options.encapsulation != wire::Encapsulation::udp) {
    return invalid("NetReduce goes over UDP only (TRIBUTARY_ENCAPSULATION)");
  }
  if (std::find(wire::ring_mtus.begin(), wire::ring_mtus.end(), own.mtu) == wire::ring_mtus.end()) {
    return invalid(std::to_string(own.mtu) +
                   " is no path MTU of RDMA: 256, 512, 1024, 2048 or 4096 "
                   "(TRIBUTARY_NETREDUCE_MTU)");
  }
  return check_sizes(own, options.world_size).and_then([&] {
    return check_addresses(options, own);
  });
}

NetReducePlan netreduce_plan_of(const NetReduceOptions& options) {
  return {options.ring.value_or(0), options.window, options.message_packets, options.mtu};
}

std::uint32_t ip_bytes_of(std::uint32_t mtu) {
  return static_cast<std::uint32_t>(udp_headers_bytes + sizeof(wire::BthHeader) +
                                    sizeof(wire::RethHeader) + sizeof(wire::ImmediateHeader) + mtu +
                                    wire::icrc_bytes);
}

std::uint32_t path_mtu_within(std::uint32_t ip_bytes) {
  const auto others = ip_bytes_of(0);
  return ip_bytes < others ? 0 : wire::ring_mtu_within(ip_bytes - others);
}

roce::Tuning roce_tuning_of(const CommunicatorOptions& options) {
  roce::Tuning tuning;
  tuning.retries_max += static_cast<unsigned>(patience_of(options) / tuning.rto_spread_min());
  return tuning;
}

}  // namespace tributary::host
