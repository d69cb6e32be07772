// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/carrier/socket.h"

#include <cstddef>
#include <iterator>
#include <linux/filter.h>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <utility>

#include "host/transport/address.h"
#include "protocols/panama/wire.h"
#include "wire/spread.h"

namespace tributary::host {
namespace {

// Packets to this host alone are not heard: switches drop what strangers send to a tree's group,
// but forward what is for a worker.
bool hear_groups_only(int fd) {
  constexpr auto destination =
      static_cast<__u32>(SKF_NET_OFF) + offsetof(wire::Ipv4Header, destination);
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, destination),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf0000000),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0xe0000000, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
      BPF_STMT(BPF_RET | BPF_K, 0),
  };
  const sock_fprog filter{static_cast<unsigned short>(std::size(program)), program};
  return ::setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) == 0;
}

ip_mreqn membership_of(wire::Ipv4Address group, wire::Ipv4Address local, const Interface& on) {
  ip_mreqn membership{};
  membership.imr_multiaddr = to_sockaddr({group, 0}).sin_addr;
  membership.imr_address = to_sockaddr({local, 0}).sin_addr;
  membership.imr_ifindex = on.index;
  return membership;
}

// What sends to one tree.
Result<FileDescriptor> open_sender(wire::Ipv4Address local, const Interface& on,
                                   std::uint64_t key) {
  constexpr int hops_max = 64;
  auto opened = open_udp_socket(wire::panama_dscp << 2 | wire::ecn::ect0);
  if (!opened) {
    return opened;
  }
  const int fd = opened->get();
  const auto way_out = membership_of({}, local, on);
  if (!set_option(fd, IPPROTO_IP, IP_MULTICAST_TTL, hops_max) ||
      !set_option(fd, IPPROTO_IP, IP_MULTICAST_LOOP, 0) ||
      ::setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &way_out, sizeof way_out) != 0) {
    return fail(Error::Code::network, errno_text("UDP socket for multicast"));
  }
  enlarge_send_buffer(fd);
  if (!bind_to(fd, {local, wire::source_port_of(key)}) && !bind_to(fd, {local, 0})) {
    return fail(Error::Code::network, errno_text("bind to " + to_string(local)));
  }
  return opened;
}

}  // namespace

// Bound to no address, so that it hears all its groups, and no others: those of other jobs have
// sockets of their own.
Result<DatagramSocket> open_panama_socket(wire::Ipv4Address local,
                                          const std::vector<wire::Ipv4Address>& groups,
                                          std::uint32_t job) {
  const auto interface = interface_of(local);
  if (!interface) {
    return tl::make_unexpected(interface.error());
  }
  auto socket = open_udp_socket(wire::ecn::ect0);
  if (!socket) {
    return tl::make_unexpected(socket.error());
  }
  DatagramSocket opened{
      .fd = std::move(*socket), .local = {local, wire::panama_udp_port}, .tells_ecn = true};
  const int fd = opened.fd.get();
  if (!set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1) || !set_option(fd, IPPROTO_IP, IP_RECVTOS, 1) ||
      !set_option(fd, IPPROTO_IP, IP_MULTICAST_ALL, 0) || !hear_groups_only(fd)) {
    return fail(Error::Code::network, errno_text("options of the UDP socket"));
  }
  opened.receive_buffer_bytes = enlarge_buffers(fd);
  if (!bind_to(fd, {wire::Ipv4Address{}, wire::panama_udp_port})) {
    return fail(Error::Code::network,
                errno_text("bind to port " + std::to_string(wire::panama_udp_port)));
  }
  for (std::size_t tree = 0; tree < groups.size(); ++tree) {
    const auto membership = membership_of(groups[tree], local, *interface);
    if (::setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &membership, sizeof membership) != 0) {
      return fail(Error::Code::network,
                  errno_text("joining " + to_string(groups[tree]) + " on " + interface->name));
    }
    auto sender =
        open_sender(local, *interface, wire::panama_key(job, static_cast<std::uint16_t>(tree)));
    if (!sender) {
      return tl::make_unexpected(sender.error());
    }
    opened.senders.push_back(std::move(*sender));
  }
  return opened;
}

}  // namespace tributary::host
