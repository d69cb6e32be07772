// SPDX-License-Identifier: BSD-3-Clause
#include "host/transport/group_socket.h"

#include <cstddef>
#include <cstring>
#include <linux/filter.h>
#include <netinet/in.h>
#include <optional>
#include <sys/socket.h>
#include <utility>

#include "host/text.h"
#include "wire/ipv6.h"

namespace tributary::host {
namespace {

// Packets to this host alone are not heard: switches drop what strangers send to a tree's group,
// but forward what is for a worker. `program` looks for a group in the destination address.
template <std::size_t length>
bool filter(int fd, sock_filter (&&program)[length]) {
  const sock_fprog filter{static_cast<unsigned short>(length), program};
  return ::setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) == 0;
}
bool hear_groups_only(int fd, int family) {
  constexpr auto network = static_cast<__u32>(SKF_NET_OFF);
  if (family == AF_INET6) {
    return filter(
        fd, {BPF_STMT(BPF_LD | BPF_B | BPF_ABS, network + offsetof(wire::Ipv6Header, destination)),
             BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0xff, 0, 1), BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
             BPF_STMT(BPF_RET | BPF_K, 0)});
  }
  return filter(
      fd, {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, network + offsetof(wire::Ipv4Header, destination)),
           BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf0000000),
           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0xe0000000, 0, 1),
           BPF_STMT(BPF_RET | BPF_K, 0xffffffff), BPF_STMT(BPF_RET | BPF_K, 0)});
}

// A socket that is bound to no address hears all its groups, and is to hear no others: those of
// other jobs have sockets of their own.
bool prepare_to_share(int fd, int family) {
  return set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1) && hear_groups_only(fd, family) &&
         (family == AF_INET ? set_option(fd, IPPROTO_IP, IP_MULTICAST_ALL, 0)
                            : set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1) &&
                                  set_option(fd, IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0));
}

Endpoint any_address(int family, std::uint16_t port) {
  return {{}, port, family == AF_INET ? std::nullopt : std::optional(wire::EmbeddingPrefix{})};
}

bool join(int fd, wire::Ipv4Address group, const GroupLink& link) {
  const auto prefix =
      link.local.prefix ? std::optional(wire::EmbeddingPrefix::groups()) : std::nullopt;
  const auto name = to_sockaddr({group, 0, prefix});
  group_req request{};
  request.gr_interface = static_cast<std::uint32_t>(link.interface.index);
  std::memcpy(&request.gr_group, name.get(), name.bytes);
  const int level = link.family() == AF_INET ? IPPROTO_IP : IPPROTO_IPV6;
  return ::setsockopt(fd, level, MCAST_JOIN_GROUP, &request, sizeof request) == 0;
}

bool prepare_sender(int fd, const GroupLink& link) {
  constexpr int hops_max = 64;
  if (link.family() == AF_INET6) {
    return set_option(fd, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, hops_max) &&
           set_option(fd, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 0) &&
           set_option(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, link.interface.index);
  }
  ip_mreqn way_out{};
  way_out.imr_address.s_addr = htonl(link.local.address.value());
  way_out.imr_ifindex = link.interface.index;
  return set_option(fd, IPPROTO_IP, IP_MULTICAST_TTL, hops_max) &&
         set_option(fd, IPPROTO_IP, IP_MULTICAST_LOOP, 0) &&
         ::setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &way_out, sizeof way_out) == 0;
}

}  // namespace

Result<wire::Ipv4Address> parse_group(const std::string& text, const std::string& of) {
  const auto group = parse_address(text);
  if (!group || !group->is_multicast()) {
    return invalid("'" + text + "' is not the multicast address of " + of);
  }
  return group;
}

Result<GroupLink> group_link_of(const wire::IpAddress& local) {
  return interface_of(local).map([&](Interface interface) {
    return GroupLink{Endpoint::at(local, 0), std::move(interface)};
  });
}

Result<DatagramSocket> open_group_socket(const GroupLink& link, std::uint16_t port,
                                         const std::vector<wire::Ipv4Address>& groups) {
  auto socket = open_udp_socket(0, link.family());
  if (!socket) {
    return tl::make_unexpected(socket.error());
  }
  DatagramSocket opened{.fd = std::move(*socket),
                        .local = {link.local.address, port, link.local.prefix}};
  const int fd = opened.fd.get();
  if (!prepare_to_share(fd, link.family())) {
    return fail(Error::Code::network, errno_text("options of the UDP socket"));
  }
  opened.receive_buffer_bytes = enlarge_buffers(fd);
  if (!bind_to(fd, any_address(link.family(), port))) {
    return fail(Error::Code::network, errno_text("bind to port " + std::to_string(port)));
  }
  for (const auto group : groups) {
    if (!join(fd, group, link)) {
      return fail(Error::Code::network,
                  errno_text("joining " + to_string(group) + " on " + link.interface.name));
    }
  }
  return opened;
}

Result<FileDescriptor> open_group_sender(const GroupLink& link, int tos) {
  auto opened = open_sender(tos, link.family());
  if (opened && !prepare_sender(opened->get(), link)) {
    return fail(Error::Code::network, errno_text("UDP socket for multicast"));
  }
  return opened;
}

}  // namespace tributary::host
