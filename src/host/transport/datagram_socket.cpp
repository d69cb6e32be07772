// SPDX-License-Identifier: BSD-3-Clause
#include "host/transport/datagram_socket.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include "host/transport/address.h"
#include "wire/endian.h"

namespace tributary::host {
namespace {

constexpr int buffer_bytes_wanted = 8 << 20;

// Root may exceed net.core.rmem_max; others get what it allows.
void enlarge(int fd, int force_option, int option) {
  const int wanted = buffer_bytes_wanted;
  if (::setsockopt(fd, SOL_SOCKET, force_option, &wanted, sizeof wanted) != 0) {
    ::setsockopt(fd, SOL_SOCKET, option, &wanted, sizeof wanted);
  }
}

// PROBE: packets must not be fragmented, and leave though the kernel believes that the path takes
// only smaller ones. Anybody can make it believe so, by ICMP (RFC 8899, 4.6).
bool prepare_ipv4(int fd, int tos) {
  return set_option(fd, SOL_SOCKET, SO_NO_CHECK, 1) &&
         set_option(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE) &&
         set_option(fd, IPPROTO_IP, IP_TOS, tos);
}

// Over IPv6, both ends have to agree that there are no checksums (RFC 6935).
bool prepare_ipv6(int fd, int tos) {
  return set_option(fd, IPPROTO_UDP, UDP_NO_CHECK6_TX, 1) &&
         set_option(fd, IPPROTO_UDP, UDP_NO_CHECK6_RX, 1) &&
         set_option(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE) &&
         set_option(fd, IPPROTO_IPV6, IPV6_TCLASS, tos);
}

}  // namespace

void enlarge_send_buffer(int fd) {
  enlarge(fd, SO_SNDBUFFORCE, SO_SNDBUF);
}

std::size_t enlarge_buffers(int fd) {
  enlarge(fd, SO_RCVBUFFORCE, SO_RCVBUF);
  enlarge_send_buffer(fd);
  int actual = 0;
  socklen_t size = sizeof actual;
  ::getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &actual, &size);
  return static_cast<std::size_t>(std::max(actual, 0));
}

bool set_option(int fd, int level, int option, int value) {
  return ::setsockopt(fd, level, option, &value, sizeof value) == 0;
}

bool tell_ecn(DatagramSocket& socket) {
  const int fd = socket.fd.get();
  socket.tells_ecn = socket.local.prefix ? set_option(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1)
                                         : set_option(fd, IPPROTO_IP, IP_RECVTOS, 1);
  return socket.tells_ecn;
}

bool bind_to(int fd, const Endpoint& local) {
  const auto name = to_sockaddr(local);
  return ::bind(fd, name.get(), name.bytes) == 0;
}

// The kernel accounts whole allocations, to the next power of two, and its own structures.
std::size_t DatagramSocket::packets(std::size_t bytes) const {
  constexpr std::size_t overhead = 768;
  return receive_buffer_bytes / std::bit_ceil(bytes + overhead);
}

Result<FileDescriptor> open_udp_socket(int tos, int family) {
  FileDescriptor fd(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const bool is_ready =
      fd && (family == AF_INET ? prepare_ipv4(fd.get(), tos) : prepare_ipv6(fd.get(), tos));
  if (!is_ready) {
    return fail(Error::Code::network, errno_text("UDP socket"));
  }
  return fd;
}

Result<FileDescriptor> open_sender(int tos, int family) {
  auto fd = open_udp_socket(tos, family);
  if (fd) {
    enlarge_send_buffer(fd->get());
    set_option(fd->get(), SOL_SOCKET, SO_RCVBUF, 0);
  }
  return fd;
}

Result<DatagramSocket> open_ethernet_socket(const wire::IpAddress& local, std::uint16_t ethertype,
                                            const wire::MacAddress& group) {
  const auto interface = interface_of(local);
  if (!interface) {
    return tl::make_unexpected(interface.error());
  }
  const auto network_protocol = std::bit_cast<std::uint16_t>(wire::be16{ethertype});
  DatagramSocket opened{
      .fd = FileDescriptor(::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, network_protocol)),
      .local = Endpoint::at(local, 0),
      .ethernet = {interface->index, ethertype, group}};
  const int fd = opened.fd.get();
  if (fd < 0) {
    return fail(Error::Code::network, errno_text("packet socket (it needs CAP_NET_RAW)"));
  }
  opened.receive_buffer_bytes = enlarge_buffers(fd);
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = network_protocol;
  address.sll_ifindex = interface->index;
  packet_mreq membership{};
  membership.mr_ifindex = interface->index;
  membership.mr_type = PACKET_MR_MULTICAST;
  membership.mr_alen = sizeof(wire::MacAddress);
  std::copy(group.octets.begin(), group.octets.end(), membership.mr_address);
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &membership, sizeof membership) != 0) {
    return fail(Error::Code::network, errno_text("packet socket on " + interface->name));
  }
  return opened;
}

}  // namespace tributary::host
