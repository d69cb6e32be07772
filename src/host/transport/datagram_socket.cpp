// SPDX-License-Identifier: BSD-3-Clause
#include "host/transport/datagram_socket.h"

#include <algorithm>
#include <cerrno>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <utility>

#include "host/transport/address.h"
#include "protocols/canary/wire.h"
#include "protocols/panama/wire.h"
#include "wire/ethernet.h"
#include "wire/roce.h"
#include "wire/spread.h"

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

bool bind_to(int fd, const Endpoint& local) {
  const auto address = to_sockaddr(local);
  return ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

FileDescriptor udp_socket() {
  return FileDescriptor(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
}

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
Result<FileDescriptor> open_panama_sender(wire::Ipv4Address local, const Interface& on,
                                          std::uint64_t key) {
  constexpr int tos = wire::panama_dscp << 2 | wire::ecn::ect0;
  constexpr int hops_max = 64;
  auto fd = udp_socket();
  const auto way_out = membership_of({}, local, on);
  if (!fd || !set_option(fd.get(), SOL_SOCKET, SO_NO_CHECK, 1) ||
      !set_option(fd.get(), IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO) ||
      !set_option(fd.get(), IPPROTO_IP, IP_TOS, tos) ||
      !set_option(fd.get(), IPPROTO_IP, IP_MULTICAST_TTL, hops_max) ||
      !set_option(fd.get(), IPPROTO_IP, IP_MULTICAST_LOOP, 0) ||
      ::setsockopt(fd.get(), IPPROTO_IP, IP_MULTICAST_IF, &way_out, sizeof way_out) != 0) {
    return fail(Error::Code::network, errno_text("UDP socket for multicast"));
  }
  enlarge(fd.get(), SO_SNDBUFFORCE, SO_SNDBUF);
  if (!bind_to(fd.get(), {local, wire::source_port_of(key)}) && !bind_to(fd.get(), {local, 0})) {
    return fail(Error::Code::network, errno_text("bind to " + to_string(local)));
  }
  return fd;
}

// Not bound yet.
Result<FileDescriptor> open_canary_socket() {
  auto fd = udp_socket();
  if (!fd || !set_option(fd.get(), SOL_SOCKET, SO_NO_CHECK, 1) ||
      !set_option(fd.get(), IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO) ||
      !set_option(fd.get(), IPPROTO_IP, IP_TOS, wire::ecn::ect0)) {
    return fail(Error::Code::network, errno_text("UDP socket"));
  }
  return fd;
}

// What only sends. Nobody reads what strangers send there.
Result<FileDescriptor> open_canary_sender() {
  auto fd = open_canary_socket();
  if (fd) {
    enlarge(fd->get(), SO_SNDBUFFORCE, SO_SNDBUF);
    set_option(fd->get(), SOL_SOCKET, SO_RCVBUF, 0);
  }
  return fd;
}

// One for each flow, with a source port of the flow's, as far as they are free: every worker on a
// host has its own. They lie beyond those from which Linux takes what nobody asked for.
Result<std::vector<FileDescriptor>> open_canary_senders(wire::Ipv4Address local) {
  constexpr unsigned port_first = 0xf000;
  constexpr unsigned port_last = 0xffff;
  std::vector<FileDescriptor> senders(wire::flow_count);
  auto spare = open_canary_sender();
  std::size_t missing = senders.size();
  const auto bind_spare_to = [&](FileDescriptor& sender, std::uint16_t port) {
    if (!spare || sender || !bind_to(spare->get(), {local, port})) {
      return;
    }
    sender = std::move(*spare);
    if (--missing != 0) {
      spare = open_canary_sender();
    }
  };
  for (auto port = port_first; port <= port_last && missing != 0; ++port) {
    const auto bound = static_cast<std::uint16_t>(port);
    bind_spare_to(senders[wire::flow_of_port(bound)], bound);
  }
  for (auto& sender : senders) {
    bind_spare_to(sender, 0);
  }
  if (!spare) {
    return tl::make_unexpected(spare.error());
  }
  return senders;
}

}  // namespace

Result<DatagramSocket> open_udp_socket(wire::Ipv4Address local) {
  auto socket = open_canary_socket();
  if (!socket) {
    return tl::make_unexpected(socket.error());
  }
  DatagramSocket opened{.fd = std::move(*socket)};
  const int fd = opened.fd.get();
  opened.receive_buffer_bytes = enlarge_buffers(fd);
  for (unsigned port = wire::canary_udp_port_first; port <= wire::canary_udp_port_last; ++port) {
    opened.local = Endpoint{local, static_cast<std::uint16_t>(port)};
    if (bind_to(fd, opened.local)) {
      return open_canary_senders(local).map([&](std::vector<FileDescriptor> senders) {
        opened.senders = std::move(senders);
        return std::move(opened);
      });
    }
    if (errno != EADDRINUSE) {
      return fail(Error::Code::network, errno_text("bind to " + to_string(opened.local)));
    }
  }
  return fail(Error::Code::network,
              "all Canary ports (17000 to 17255) of " + to_string(local) + " are in use");
}

// Bound to no address, so that it hears all its groups, and no others: those of other jobs have
// sockets of their own.
Result<DatagramSocket> open_panama_socket(wire::Ipv4Address local,
                                          const std::vector<wire::Ipv4Address>& groups,
                                          std::uint32_t job) {
  const auto interface = interface_of(local);
  if (!interface) {
    return tl::make_unexpected(interface.error());
  }
  DatagramSocket opened{
      .fd = udp_socket(), .local = {local, wire::panama_udp_port}, .tells_ecn = true};
  const int fd = opened.fd.get();
  if (fd < 0 || !set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1) ||
      !set_option(fd, IPPROTO_IP, IP_RECVTOS, 1) ||
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
    auto sender = open_panama_sender(local, *interface,
                                     wire::panama_key(job, static_cast<std::uint16_t>(tree)));
    if (!sender) {
      return tl::make_unexpected(sender.error());
    }
    opened.senders.push_back(std::move(*sender));
  }
  return opened;
}

// Linux gives packets that must not be fragmented, of a socket that is not connected, the
// identification 0.
Result<DatagramSocket> open_roce_socket(wire::Ipv4Address local) {
  DatagramSocket opened{.fd = udp_socket(),
                        .local = {local, wire::roce_udp_port},
                        .tells_ecn = true,
                        .tells_source = true};
  const int fd = opened.fd.get();
  if (fd < 0 || !set_option(fd, SOL_SOCKET, SO_NO_CHECK, 1) ||
      !set_option(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO) ||
      !set_option(fd, IPPROTO_IP, IP_TOS, wire::ecn::ect0) ||
      !set_option(fd, IPPROTO_IP, IP_RECVTOS, 1)) {
    return fail(Error::Code::network, errno_text("options of the UDP socket"));
  }
  opened.receive_buffer_bytes = enlarge_buffers(fd);
  if (!bind_to(fd, opened.local)) {
    const bool taken = errno == EADDRINUSE;
    return fail(Error::Code::network,
                errno_text("bind to " + to_string(opened.local)) +
                    (taken ? "; another job's software endpoint or a Soft-RoCE device has this "
                             "address: give this job another one (TRIBUTARY_LOCAL_ADDRESS), or let "
                             "it use the device (TRIBUTARY_RDMA_DEVICE)"
                           : ""));
  }
  return opened;
}

Result<DatagramSocket> open_ethernet_socket(wire::Ipv4Address local) {
  const auto interface = interface_of(local);
  if (!interface) {
    return tl::make_unexpected(interface.error());
  }
  const auto protocol = wire::be16{wire::ethertype::canary};
  const auto network_protocol = std::bit_cast<std::uint16_t>(protocol);
  DatagramSocket opened{
      .fd = FileDescriptor(::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, network_protocol)),
      .local = Endpoint{local, 0},
      .interface_index = interface->index};
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
