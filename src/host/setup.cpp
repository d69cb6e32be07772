// SPDX-License-Identifier: BSD-3-Clause
#include "host/setup.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "host/rendezvous/rendezvous.h"
#include "host/transport/address.h"
#include "host/transport/datagram_socket.h"
#include "host/transport/tcp.h"

namespace tributary::host {
namespace {

constexpr std::uint32_t world_size_max = 65534;  // `hosts` has 16 bits, rank 65535 means none
constexpr std::uint32_t mtu_min = 256;
constexpr std::uint32_t mtu_auto_max = 9216;  // loopback claims 64 KiB
// Enough for 10 Gbit/s within 150 us. A wider window spreads the ranks over more blocks than
// switches wait for: more partial sums reach the leader.
constexpr std::uint32_t window_auto_max = 128;
constexpr std::uint32_t window_max = 65536;

// Contributions to the blocks that this rank leads and results of the others arrive unasked: about
// two windows, and one more while this rank lags behind. The kernel accounts whole allocations, to
// the next power of two, and its own structures.
std::uint32_t window_for(std::size_t receive_buffer_bytes, std::uint32_t payload_bytes) {
  constexpr std::size_t overhead = 768;
  const auto truesize = std::bit_ceil(payload_bytes + sizeof(wire::CanaryHeader) + overhead);
  const auto fitting = receive_buffer_bytes / (3 * truesize);
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(fitting, 4, window_auto_max));
}

Result<DatagramSocket> open_socket(const CommunicatorOptions& options, wire::Ipv4Address local) {
  return options.encapsulation == wire::Encapsulation::udp ? open_udp_socket(local)
                                                           : open_ethernet_socket(local);
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

tl::unexpected<Error> invalid(std::string message) {
  return fail(Error::Code::invalid_argument, std::move(message));
}

}  // namespace

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
  if (options.algorithm == Algorithm::ring && options.fallback == Fallback::error) {
    return invalid(
        "the ring never uses the switches: choose another algorithm, or allow the "
        "fallback to the hosts");
  }
  if (options.deadline <= std::chrono::nanoseconds::zero()) {
    return invalid("the deadline must be positive");
  }
  return {};
}

Result<Connections> connect(const CommunicatorOptions& options, Time until) {
  const auto as_error = [](const auto& failed) { return tl::make_unexpected(failed.error()); };
  const auto place = resolve(options.rendezvous);
  if (!place) {
    return as_error(place);
  }
  const auto local = local_address(options, *place);
  if (!local) {
    return as_error(local);
  }
  const auto mtu = mtu_of(options, *local);
  if (!mtu) {
    return as_error(mtu);
  }
  auto socket = open_socket(options, *local);
  if (!socket) {
    return as_error(socket);
  }
  auto listener = listen_on(Endpoint{*local, 0});
  if (!listener) {
    return as_error(listener);
  }

  const auto payload_bytes = payload_bytes_for(*mtu, options.encapsulation);
  RendezvousHello hello;
  hello.encapsulation = options.encapsulation;
  hello.preferences = static_cast<std::uint8_t>(static_cast<unsigned>(options.algorithm) |
                                                static_cast<unsigned>(options.fallback) << 4);
  hello.rank = options.rank;
  hello.world_size = options.world_size;
  hello.address = *local;
  hello.canary_port = socket->local.port;
  hello.ring_port = listener->local.port;
  hello.payload_bytes = payload_bytes;
  hello.window = options.window != 0 ? options.window
                                     : window_for(socket->receive_buffer_bytes, payload_bytes);
  hello.job = options.job;
  // Before the others learn of this rank: they may send as soon as they do.
  auto transport =
      UringTransport::create(std::move(*socket), sizeof(wire::CanaryHeader) + payload_bytes);
  if (!transport) {
    return as_error(transport);
  }
  auto meeting = meet(*place, hello, until);
  if (!meeting) {
    return as_error(meeting);
  }
  auto ring = Ring::connect(*meeting, std::move(*listener), until);
  if (!ring) {
    return as_error(ring);
  }
  return Connections{std::move(meeting->job), std::move(*transport), std::move(*ring)};
}

}  // namespace tributary::host
