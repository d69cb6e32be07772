// SPDX-License-Identifier: BSD-3-Clause
#include "host/setup.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/datagram.h"
#include "host/payload.h"
#include "host/rendezvous/rendezvous.h"
#include "host/transport/address.h"
#include "host/transport/datagram_socket.h"
#include "host/transport/tcp.h"
#include "protocols/canary/carrier/socket.h"
#include "protocols/canary/host/packets.h"
#include "protocols/netreduce/carrier/setup.h"
#include "protocols/netreduce/carrier/socket.h"
#include "protocols/netreduce/carrier/verbs/verbs_link.h"
#include "protocols/netreduce/carrier/verbs/verbs_runner.h"
#include "protocols/panama/carrier/socket.h"
#include "protocols/panama/host/packets.h"
#include "protocols/panama/wire.h"
#include "wire/checksum.h"

namespace tributary::host {
namespace {

constexpr std::uint32_t world_size_max = 65534;  // `hosts` has 16 bits, rank 65535 means none
constexpr std::uint32_t mtu_min = 256;
constexpr std::uint32_t mtu_auto_max = 9216;  // loopback claims 64 KiB
// Enough for 10 Gbit/s within 150 us. A wider window spreads the ranks over more blocks than
// switches wait for: more partial sums reach the leader.
constexpr std::uint32_t window_auto_max = 128;
constexpr std::uint32_t window_max = 65536;

// The kernel accounts whole allocations, to the next power of two, and its own structures.
std::size_t packets_in(std::size_t receive_buffer_bytes, std::uint32_t payload_bytes) {
  constexpr std::size_t overhead = 768;
  return receive_buffer_bytes /
         std::bit_ceil(payload_bytes + sizeof(wire::CanaryHeader) + overhead);
}

// Contributions to the blocks that this rank leads and results of the others arrive unasked: about
// two windows, and one more while this rank lags behind.
std::uint32_t window_for(std::size_t receive_buffer_bytes, std::uint32_t payload_bytes) {
  const auto fitting = packets_in(receive_buffer_bytes, payload_bytes) / 3;
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(fitting, 4, window_auto_max));
}

// Of PANAMA results arrive, as many as this rank has sent packets; half is for what it did not read
// yet. How much of that is used is for the switches and the network to say.
std::uint32_t panama_window_for(std::size_t receive_buffer_bytes, std::uint32_t payload_bytes) {
  constexpr std::size_t most = 4096;
  const auto fitting = packets_in(receive_buffer_bytes, payload_bytes) / 2;
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(fitting, 4, most));
}

Result<DatagramSocket> open_socket(const CommunicatorOptions& options, wire::Ipv4Address local,
                                   const std::vector<wire::Ipv4Address>& trees) {
  if (!trees.empty()) {
    return open_panama_socket(local, trees, options.job);
  }
  if (options.wants_links()) {
    return open_roce_socket(local);
  }
  return options.encapsulation == wire::Encapsulation::udp
             ? open_canary_socket(local)
             : open_ethernet_socket(local, wire::ethertype::canary, wire::canary_group_mac);
}

Result<wire::Ipv4Address> local_address(const CommunicatorOptions& options, const Endpoint& place) {
  return options.local_address.empty() ? local_address_towards(place)
                                       : parse_address(options.local_address);
}

Result<std::uint32_t> mtu_of(const CommunicatorOptions& options, wire::Ipv4Address local) {
  if (options.mtu != 0) {
    return std::uint32_t{options.mtu};
  }
  return interface_of(local).map(
      [](const Interface& found) { return std::min(found.mtu, mtu_auto_max); });
}

// Beyond that the arithmetic of clocks ends.
constexpr std::chrono::hours duration_max{24 * 365};

// How long a collective may take, and how long it may stand still.
struct Limits {
  Duration total = duration_max;
  Duration stall = duration_max;
};

Limits limits_of(const CommunicatorOptions& options) {
  Limits limits;
  if (options.deadline) {
    limits.total = std::min<Duration>(*options.deadline, duration_max);
  }
  if (options.stall_timeout || !options.deadline) {
    const auto stall = options.stall_timeout.value_or(CommunicatorOptions::stall_timeout_default);
    limits.stall = std::min<Duration>(stall, duration_max);
  }
  return limits;
}

tl::unexpected<Error> invalid(std::string message) {
  return fail(Error::Code::invalid_argument, std::move(message));
}

// PANAMA's multicast groups, if it is wanted.
Result<std::vector<wire::Ipv4Address>> trees_of(const CommunicatorOptions& options) {
  std::vector<wire::Ipv4Address> trees;
  if (!options.wants_trees()) {
    return trees;
  }
  for (const auto& text : options.trees) {
    const auto group = parse_address(text);
    if (!group || !group->is_multicast()) {
      return invalid("'" + text + "' is not the multicast address of an aggregation tree");
    }
    if (std::find(trees.begin(), trees.end(), *group) != trees.end()) {
      return invalid("the aggregation tree " + text + " is given twice");
    }
    trees.push_back(*group);
  }
  return trees;
}

Result<void> check_trees(const CommunicatorOptions& options) {
  if (!options.wants_trees()) {
    return {};
  }
  if (options.trees.empty() || options.trees.size() > wire::panama_trees_max) {
    return invalid("PANAMA needs 1 to " + std::to_string(wire::panama_trees_max) +
                   " aggregation trees (TRIBUTARY_TREES), as 'tributaryctl fabric' tells them");
  }
  if (options.job == 0) {
    return invalid("PANAMA needs the job for which its trees were set up (TRIBUTARY_JOB)");
  }
  if (options.encapsulation != wire::Encapsulation::udp) {
    return invalid("PANAMA goes over UDP only (TRIBUTARY_ENCAPSULATION)");
  }
  if (!(options.share > 0 && options.share <= 1)) {
    return invalid("the share of ranks that a sum needs is not above 0 and up to 1");
  }
  return trees_of(options).map([](const auto&) {});
}

// Ranks, rounded up.
std::uint32_t quorum_of(const CommunicatorOptions& options) {
  constexpr double rounding = 1e-9;  // 0.8 of 5 are 4
  return static_cast<std::uint32_t>(std::ceil(options.share * options.world_size - rounding));
}

std::uint32_t crc_of(const std::vector<wire::Ipv4Address>& trees) {
  return wire::crc32(0, std::as_bytes(std::span(trees)));
}

RendezvousHello hello_of(const CommunicatorOptions& options, wire::Ipv4Address local) {
  RendezvousHello hello;
  hello.encapsulation = options.encapsulation;
  hello.preferences = static_cast<std::uint8_t>(static_cast<unsigned>(options.algorithm) |
                                                static_cast<unsigned>(options.fallback) << 4);
  hello.rank = options.rank;
  hello.world_size = options.world_size;
  hello.address = local;
  hello.job = options.job;
  return hello;
}

void tell_panama(const CommunicatorOptions& options, const std::vector<wire::Ipv4Address>& trees,
                 std::uint32_t mtu, std::size_t receive_buffer_bytes, RendezvousHello& hello) {
  hello.payload_bytes = payload_bytes_behind(panama_headers_bytes, mtu);
  hello.window = panama_window_for(receive_buffer_bytes, hello.payload_bytes.value());
  hello.trees = static_cast<std::uint16_t>(trees.size());
  hello.quorum = static_cast<std::uint16_t>(quorum_of(options));
  hello.congestion_control = options.congestion_control ? 1 : 0;
  hello.trees_crc = crc_of(trees);
}

PanamaPlan panama_plan_of(const CommunicatorOptions& options,
                          const std::vector<wire::Ipv4Address>& trees, const Job& job) {
  PanamaPlan plan;
  plan.trees = trees;
  plan.congestion_control = options.congestion_control;
  plan.quorum = quorum_of(options);
  plan.window_max = std::max(job.window / static_cast<std::uint32_t>(trees.size()), 2u);
  return plan;
}

// Null without an RDMA device.
Result<std::unique_ptr<VerbsLink>> device_link_of(const CommunicatorOptions& options,
                                                  wire::Ipv4Address local) {
  if (!options.wants_netreduce() || options.rdma_device.empty()) {
    return nullptr;
  }
  const auto timeout = options.rdma_timeout.count() != 0 ? options.rdma_timeout
                                                         : rdma_timeout_for(patience_of(options));
  return open_verbs_link({options.rdma_device, local, timeout}, netreduce_plan_of(options));
}

// Of NetReduce, if it is wanted.
Result<LinkEnd> link_end_of(const CommunicatorOptions& options, const VerbsLink* device,
                            std::uint32_t mtu) {
  if (device != nullptr) {
    return device->end();
  }
  if (!options.wants_links()) {
    return LinkEnd{};
  }
  const auto needed = ip_bytes_of(netreduce_plan_of(options));
  if (mtu < needed) {
    return invalid("NetReduce's packets of " + std::to_string(options.netreduce_mtu) +
                   " payload bytes (TRIBUTARY_NETREDUCE_MTU) need an MTU of " +
                   std::to_string(needed) + ", it is " + std::to_string(mtu));
  }
  return draw_link_end();
}

// What a rank has opened before it meets the others, and what it tells them.
struct Opened {
  std::vector<wire::Ipv4Address> trees;
  std::unique_ptr<VerbsLink> device;
  LinkEnd end;
  std::optional<UringTransport> transport;
  Listener listener;
  RendezvousHello hello;
};

template <typename T>
tl::unexpected<Error> error_of(const Result<T>& failed) {
  return tl::make_unexpected(failed.error());
}

Result<Opened> open(const CommunicatorOptions& options, const Endpoint& place) {
  const auto local = local_address(options, place);
  if (!local) {
    return error_of(local);
  }
  const auto mtu = mtu_of(options, *local);
  if (!mtu) {
    return error_of(mtu);
  }
  auto trees = trees_of(options);
  if (!trees) {
    return error_of(trees);
  }
  auto device = device_link_of(options, *local);
  if (!device) {
    return error_of(device);
  }
  const auto end = link_end_of(options, device->get(), *mtu);
  if (!end) {
    return error_of(end);
  }
  std::optional<DatagramSocket> socket;
  if (*device == nullptr) {
    auto opened = open_socket(options, *local, *trees);
    if (!opened) {
      return error_of(opened);
    }
    socket = std::move(*opened);
  }
  auto listener = listen_on(Endpoint{*local, 0});
  if (!listener) {
    return error_of(listener);
  }

  auto hello = hello_of(options, *local);
  hello.canary_port = socket ? socket->local.port : std::uint16_t{0};
  hello.ring_port = listener->local.port;
  const auto receive_buffer_bytes = socket ? socket->receive_buffer_bytes : 0;
  if (!trees->empty()) {
    tell_panama(options, *trees, *mtu, receive_buffer_bytes, hello);
  } else if (options.wants_links()) {
    tell(netreduce_plan_of(options), *end, hello);
  } else {
    hello.payload_bytes = payload_bytes_behind(headers_bytes_of(options.encapsulation), *mtu);
    hello.window = window_for(receive_buffer_bytes, hello.payload_bytes.value());
  }
  if (options.window != 0 && !options.wants_links()) {
    hello.window = options.window;
  }
  // Before the others learn of this rank: they may send as soon as they do.
  std::optional<UringTransport> transport;
  if (socket) {
    auto made = UringTransport::create(std::move(*socket),
                                       Datagram::header_bytes_max + hello.payload_bytes.value());
    if (!made) {
      return error_of(made);
    }
    transport = std::move(*made);
  }
  return Opened{std::move(*trees),    std::move(*device),   *end,
                std::move(transport), std::move(*listener), hello};
}

// Makes the connections with the ranks that it has met.
Result<Connections> join(const CommunicatorOptions& options, Opened mine, Rendezvous& met,
                         Time until) {
  const auto& meeting = met.meeting();
  auto ring = Ring::connect(
      meeting, std::move(mine.listener), until,
      [&met](int fd, short events, Time latest) { return met.wait(fd, events, latest); });
  if (!ring) {
    return error_of(ring);
  }
  Connections connections{.job = meeting.job,
                          .plan = {},
                          .transport = std::move(mine.transport),
                          .ring = std::move(*ring)};
  if (!mine.trees.empty()) {
    connections.plan = panama_plan_of(options, mine.trees, meeting.job);
  } else if (options.wants_links()) {
    connections.netreduce = netreduce_plan_of(options);
    connections.link = link_plan_of(meeting, mine.end);
    connections.mixed = is_mixed(meeting);
  }
  if (mine.device != nullptr) {
    const auto& link = connections.link;
    if (auto connected = mine.device->connect(link.next, link.before); !connected) {
      return error_of(connected);
    }
    connections.device =
        std::make_unique<VerbsRunner>(meeting.job, *connections.netreduce, std::move(mine.device));
  }
  return connections;
}

}  // namespace

Deadline deadline_of(const CommunicatorOptions& options, Time now) {
  const auto limits = limits_of(options);
  Deadline deadline(now + limits.total, limits.stall);
  deadline.begin(now);
  return deadline;
}

Duration patience_of(const CommunicatorOptions& options) {
  const auto limits = limits_of(options);
  return std::min(limits.total, limits.stall);
}

Result<void> check(const CommunicatorOptions& options) {
  if (options.world_size == 0 || options.world_size > world_size_max) {
    return invalid("world size " + std::to_string(options.world_size) + " is not within 1 to " +
                   std::to_string(world_size_max));
  }
  if (options.rank >= options.world_size) {
    return invalid("rank " + std::to_string(options.rank) + " does not exist in a world of " +
                   std::to_string(options.world_size));
  }
  if (options.mtu != 0 && options.mtu < mtu_min) {
    return invalid("MTU " + std::to_string(options.mtu) + " is below " + std::to_string(mtu_min));
  }
  if (options.window > window_max) {
    return invalid("window " + std::to_string(options.window) + " is above " +
                   std::to_string(window_max));
  }
  if (options.attempts == 0 || options.attempts > CommunicatorOptions::attempts_max) {
    return invalid(std::to_string(options.attempts) + " attempts are not within 1 to " +
                   std::to_string(CommunicatorOptions::attempts_max));
  }
  const bool hosts_alone =
      options.algorithm == Algorithm::ring || options.algorithm == Algorithm::roce_ring;
  if (hosts_alone && options.fallback == Fallback::error) {
    return invalid(
        "the ring never uses the switches: choose another algorithm, or allow the "
        "fallback to the hosts");
  }
  for (const auto& limit : {options.deadline, options.stall_timeout}) {
    if (limit && *limit <= std::chrono::nanoseconds::zero()) {
      return invalid("the deadline and the stall timeout must be positive");
    }
  }
  return check_trees(options).and_then([&] { return check_netreduce(options); });
}

Result<Connections> connect(const CommunicatorOptions& options, Time until) {
  const auto place = resolve(options.rendezvous);
  if (!place) {
    return error_of(place);
  }
  auto mine = open(options, *place);
  if (!mine) {
    return error_of(mine);
  }
  auto met = meet(*place, mine->hello, options.secret, until);
  if (!met) {
    return error_of(met);
  }
  auto joined = join(options, std::move(*mine), **met, until);
  const auto concluded = (*met)->conclude(joined.map([](const auto&) {}), until);
  if (!concluded) {
    return error_of(concluded);
  }
  return joined;
}

}  // namespace tributary::host
