// SPDX-License-Identifier: BSD-3-Clause
#include "host/transport/datagram_socket.h"

#include <algorithm>
#include <cerrno>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <utility>

#include "host/transport/address.h"
#include "wire/canary.h"
#include "wire/ethernet.h"

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

std::size_t enlarge_buffers(int fd) {
  enlarge(fd, SO_RCVBUFFORCE, SO_RCVBUF);
  enlarge(fd, SO_SNDBUFFORCE, SO_SNDBUF);
  int actual = 0;
  socklen_t size = sizeof actual;
  ::getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &actual, &size);
  return static_cast<std::size_t>(std::max(actual, 0));
}

bool set_option(int fd, int level, int option, int value) {
  return ::setsockopt(fd, level, option, &value, sizeof value) == 0;
}

}  // namespace

Result<DatagramSocket> open_udp_socket(wire::Ipv4Address local) {
  DatagramSocket opened{FileDescriptor(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)), {}, 0, 0};
  const int fd = opened.fd.get();
  if (fd < 0) {
    return fail(Error::Code::network, errno_text("UDP socket"));
  }
  if (!set_option(fd, SOL_SOCKET, SO_NO_CHECK, 1) ||
      !set_option(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO) ||
      !set_option(fd, IPPROTO_IP, IP_TOS, wire::ecn::ect0)) {
    return fail(Error::Code::network, errno_text("options of the UDP socket"));
  }
  opened.receive_buffer_bytes = enlarge_buffers(fd);
  for (unsigned port = wire::canary_udp_port_first; port <= wire::canary_udp_port_last; ++port) {
    opened.local = Endpoint{local, static_cast<std::uint16_t>(port)};
    const auto address = to_sockaddr(opened.local);
    if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
      return opened;
    }
    if (errno != EADDRINUSE) {
      return fail(Error::Code::network, errno_text("bind to " + to_string(opened.local)));
    }
  }
  return fail(Error::Code::network,
              "all Canary ports (17000 to 17255) of " + to_string(local) + " are in use");
}

Result<DatagramSocket> open_ethernet_socket(wire::Ipv4Address local) {
  const auto interface = interface_of(local);
  if (!interface) {
    return tl::make_unexpected(interface.error());
  }
  const auto protocol = wire::be16{wire::ethertype::canary};
  const auto network_protocol = std::bit_cast<std::uint16_t>(protocol);
  DatagramSocket opened{
      FileDescriptor(::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, network_protocol)),
      Endpoint{local, 0}, interface->index, 0};
  const int fd = opened.fd.get();
  if (fd < 0) {
    return fail(Error::Code::network,
                errno_text("packet socket (Canary over Ethernet needs CAP_NET_RAW)"));
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
  std::copy(wire::canary_group_mac.octets.begin(), wire::canary_group_mac.octets.end(),
            membership.mr_address);
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &membership, sizeof membership) != 0) {
    return fail(Error::Code::network, errno_text("packet socket on " + interface->name));
  }
  return opened;
}

}  // namespace tributary::host
