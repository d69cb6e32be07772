// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/carrier/setup.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

#include <sodium/core.h>
#include <sodium/randombytes.h>

#include "host/payload.h"
#include "host/setup.h"
#include "protocols/netreduce/wire.h"
#include "wire/roce.h"

namespace tributary::host {
namespace {

constexpr std::array<std::uint32_t, 5> path_mtus = {256, 512, 1024, 2048, 4096};

tl::unexpected<Error> invalid(std::string message) {
  return fail(Error::Code::invalid_argument, std::move(message));
}

// As switches check what they are configured with.
Result<void> check_sizes(const CommunicatorOptions& options) {
  const auto packets =
      std::size_t{2} * options.netreduce_window * options.netreduce_message * options.world_size;
  if (packets == 0 || packets > wire::ring_slots_max) {
    return invalid("2 x window x packets of a message x ranks is " + std::to_string(packets) +
                   ", not within 1 to " + std::to_string(wire::ring_slots_max) +
                   " (TRIBUTARY_NETREDUCE_WINDOW, TRIBUTARY_NETREDUCE_MESSAGE)");
  }
  if (options.netreduce_window > wire::ring_window_max) {
    return invalid("a ring of NetReduce has a window of at most " +
                   std::to_string(wire::ring_window_max) +
                   " messages (TRIBUTARY_NETREDUCE_WINDOW)");
  }
  if (options.netreduce_message > wire::ring_message_packets_max) {
    return invalid("a message of NetReduce has at most " +
                   std::to_string(wire::ring_message_packets_max) +
                   " packets (TRIBUTARY_NETREDUCE_MESSAGE)");
  }
  if (options.world_size > wire::ring_members_max) {
    return invalid("a ring of NetReduce has at most " + std::to_string(wire::ring_members_max) +
                   " ranks");
  }
  return {};
}

// RoCE has one port only. Told here, as otherwise the others would wait for who does not get it.
Result<void> check_addresses(const CommunicatorOptions& options) {
  if (options.local_world_size < 2 || !options.local_address.empty() ||
      (options.wants_netreduce() && !options.rdma_device.empty())) {
    return {};
  }
  return invalid(
      "the " + std::to_string(options.local_world_size) +
      " ranks of this machine (LOCAL_WORLD_SIZE) cannot share its address over " +
      std::string(name(options.wants_netreduce() ? Algorithm::netreduce : Algorithm::roce_ring)) +
      " with endpoints in software: run one on each machine, or give each an address of "
      "its own (TRIBUTARY_LOCAL_ADDRESS) or an RDMA device (TRIBUTARY_RDMA_DEVICE)");
}

RendezvousLink to_wire(const LinkEnd& end) {
  RendezvousLink link;
  link.send_qp = end.send_qp;
  link.receive_qp = end.receive_qp;
  link.first_psn = end.first_psn;
  link.key = end.key;
  link.memory = end.memory;
  link.device = end.device ? 1 : 0;
  return link;
}

LinkEnd from_wire(const RendezvousLink& link) {
  return {link.send_qp.value(), link.receive_qp.value(), link.first_psn.value(),
          link.key.value(),     link.memory.value(),     link.device != 0};
}

}  // namespace

Result<void> check_netreduce(const CommunicatorOptions& options) {
  if (!options.wants_links()) {
    return {};
  }
  if (options.wants_netreduce() && !options.netreduce_ring) {
    return invalid(
        "NetReduce needs the ring that was set up for it: the `id` of a [[switch.netreduce.ring]] "
        "(TRIBUTARY_NETREDUCE_RING)");
  }
  if (options.encapsulation != wire::Encapsulation::udp) {
    return invalid("NetReduce goes over UDP only (TRIBUTARY_ENCAPSULATION)");
  }
  if (std::find(path_mtus.begin(), path_mtus.end(), options.netreduce_mtu) == path_mtus.end()) {
    return invalid(std::to_string(options.netreduce_mtu) +
                   " is no path MTU of RDMA: 256, 512, 1024, 2048 or 4096 "
                   "(TRIBUTARY_NETREDUCE_MTU)");
  }
  return check_sizes(options).and_then([&] { return check_addresses(options); });
}

NetReducePlan netreduce_plan_of(const CommunicatorOptions& options) {
  return {options.netreduce_ring.value_or(0), options.netreduce_window, options.netreduce_message,
          options.netreduce_mtu};
}

std::uint32_t ip_bytes_of(const NetReducePlan& plan) {
  return static_cast<std::uint32_t>(udp_headers_bytes + sizeof(wire::BthHeader) +
                                    sizeof(wire::RethHeader) + sizeof(wire::ImmediateHeader) +
                                    plan.mtu + wire::icrc_bytes);
}

Result<LinkEnd> draw_link_end() {
  if (::sodium_init() < 0) {
    return fail(Error::Code::internal, "libsodium has no source of randomness");
  }
  // Queue pairs 0 and 1 are for management.
  constexpr std::uint32_t first_qp = 2;
  const auto draw_qp = [] { return first_qp + randombytes_uniform(wire::psn_mask - first_qp); };
  LinkEnd end;
  end.send_qp = draw_qp();
  do {
    end.receive_qp = draw_qp();
  } while (end.receive_qp == end.send_qp);
  end.first_psn = randombytes_random() & wire::psn_mask;
  end.key = randombytes_random();
  return end;
}

void tell(const NetReducePlan& plan, const LinkEnd& end, RendezvousHello& hello) {
  hello.payload_bytes = plan.mtu;
  hello.window = plan.window;
  hello.ring = plan.ring;
  hello.message_window = static_cast<std::uint16_t>(plan.window);
  hello.message_packets = static_cast<std::uint16_t>(plan.message_packets);
  hello.path_mtu = static_cast<std::uint16_t>(plan.mtu);
  hello.link = to_wire(end);
}

LinkPlan link_plan_of(const Meeting& meeting, const LinkEnd& mine) {
  const auto& job = meeting.job;
  const auto world = job.world_size();
  const auto neighbour = [&](std::uint32_t rank) {
    return LinkNeighbour{job.peers[rank].address, from_wire(meeting.links[rank])};
  };
  return {mine, neighbour((job.rank + 1) % world), neighbour((job.rank + world - 1) % world)};
}

bool is_mixed(const Meeting& meeting) {
  const auto& links = meeting.links;
  return std::any_of(links.begin(), links.end(), [&](const RendezvousLink& link) {
    return (link.device != 0) != (links.front().device != 0);
  });
}

roce::Tuning roce_tuning_of(const CommunicatorOptions& options) {
  roce::Tuning tuning;
  tuning.retries_max += static_cast<unsigned>(patience_of(options) / tuning.rto_spread_min());
  return tuning;
}

}  // namespace tributary::host
