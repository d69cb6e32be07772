// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/interface.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace tributary::dataplane {
namespace {

FileDescriptor open_socket(int domain, int type, int protocol) {
  return FileDescriptor(socket(domain, type | SOCK_CLOEXEC, protocol));
}

ifreq request_for(const std::string& name) {
  ifreq request = {};
  std::strncpy(request.ifr_name, name.c_str(), IFNAMSIZ - 1);
  return request;
}

}  // namespace

std::uint16_t interface_mtu(const std::string& name) {
  const auto socket = open_socket(AF_INET, SOCK_DGRAM, 0);
  ifreq request = request_for(name);
  const bool known = ioctl(socket.get(), SIOCGIFMTU, &request) == 0;
  return known ? static_cast<std::uint16_t>(std::min(request.ifr_mtu, 0xffff)) : 0;
}

tl::expected<void, std::string> set_interface_mtu(const std::string& name, std::uint16_t mtu) {
  if (interface_mtu(name) == mtu) {
    return {};
  }
  const auto socket = open_socket(AF_INET, SOCK_DGRAM, 0);
  ifreq request = request_for(name);
  request.ifr_mtu = mtu;
  if (ioctl(socket.get(), SIOCSIFMTU, &request) != 0) {
    return tl::unexpected("interface \"" + name + "\" does not take an MTU of " +
                          std::to_string(mtu) + " (" + std::strerror(errno) +
                          "); set the port's mtu to what the interface can carry");
  }
  return {};
}

tl::expected<void, std::string> check_interface(const std::string& name) {
  if (name.size() >= IFNAMSIZ || if_nametoindex(name.c_str()) == 0) {
    return tl::unexpected("there is no interface \"" + name +
                          "\" in this network namespace; `ip link` lists those that exist");
  }
  if (!open_socket(AF_PACKET, SOCK_RAW, 0)) {
    return tl::unexpected("packet sockets are not allowed (" + std::string(std::strerror(errno)) +
                          "); run as root or give the daemon CAP_NET_RAW and CAP_NET_ADMIN");
  }
  return {};
}

bool interface_promiscuous(const std::string& name) {
  const auto socket = open_socket(AF_INET, SOCK_DGRAM, 0);
  ifreq request = request_for(name);
  return ioctl(socket.get(), SIOCGIFFLAGS, &request) == 0 && (request.ifr_flags & IFF_PROMISC) != 0;
}

bool interface_takes_tags_off(const std::string& name) {
  const auto socket = open_socket(AF_INET, SOCK_DGRAM, 0);
  ethtool_value flags = {ETHTOOL_GFLAGS, 0};
  ifreq request = request_for(name);
  request.ifr_data = reinterpret_cast<char*>(&flags);
  return ioctl(socket.get(), SIOCETHTOOL, &request) == 0 && (flags.data & ETH_FLAG_RXVLAN) != 0;
}

namespace {

// All are 0 where the interface does not say.
ethtool_channels channels_of(const std::string& name) {
  const auto socket = open_socket(AF_INET, SOCK_DGRAM, 0);
  ethtool_channels channels = {};
  channels.cmd = ETHTOOL_GCHANNELS;
  ifreq request = request_for(name);
  request.ifr_data = reinterpret_cast<char*>(&channels);
  return ioctl(socket.get(), SIOCETHTOOL, &request) == 0 ? channels : ethtool_channels{};
}

std::uint16_t at_least_one(std::uint32_t channels) {
  return static_cast<std::uint16_t>(std::clamp(channels, 1u, 0xffffu));
}

}  // namespace

std::uint16_t interface_channels(const std::string& name) {
  return at_least_one(channels_of(name).combined_count);
}

std::uint16_t interface_receive_channels(const std::string& name) {
  const auto channels = channels_of(name);
  return at_least_one(channels.combined_count + channels.rx_count);
}

std::optional<InterfaceLosses> interface_losses(const std::string& name) {
  struct {
    nlmsghdr header{};
    if_stats_msg what{};
  } request;
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = RTM_GETSTATS;
  request.header.nlmsg_flags = NLM_F_REQUEST;
  request.what.ifindex = interface_index(name);
  request.what.filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64);
  const auto socket = open_socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
  struct {
    nlmsghdr header;
    if_stats_msg what;
    nlattr attribute;
    rtnl_link_stats64 counted;
  } answer;
  const bool answered =
      send(socket.get(), &request, sizeof request, 0) == ssize_t{sizeof request} &&
      recv(socket.get(), &answer, sizeof answer, 0) == ssize_t{sizeof answer} &&
      answer.header.nlmsg_type == RTM_NEWSTATS && answer.attribute.nla_type == IFLA_STATS_LINK_64;
  if (!answered) {
    return std::nullopt;
  }
  return InterfaceLosses{answer.counted.rx_missed_errors, answer.counted.tx_dropped};
}

unsigned interface_index(const std::string& name) {
  return if_nametoindex(name.c_str());
}

bool interface_running(const std::string& name, unsigned index) {
  const auto socket = open_socket(AF_INET, SOCK_DGRAM, 0);
  ifreq request = request_for(name);
  if (ioctl(socket.get(), SIOCGIFINDEX, &request) != 0 ||
      static_cast<unsigned>(request.ifr_ifindex) != index) {
    return false;
  }
  ifreq flags = request_for(name);
  if (ioctl(socket.get(), SIOCGIFFLAGS, &flags) != 0 || (flags.ifr_flags & IFF_UP) == 0) {
    return false;
  }
  // When a carrier flaps, the kernel may be a second late with IFF_RUNNING; the driver is not.
  ethtool_value link = {ETHTOOL_GLINK, 0};
  request = request_for(name);
  request.ifr_data = reinterpret_cast<char*>(&link);
  if (ioctl(socket.get(), SIOCETHTOOL, &request) == 0) {
    return link.data != 0;
  }
  return (flags.ifr_flags & IFF_RUNNING) != 0;
}

InterfaceEvents::InterfaceEvents()
    : descriptor_(open_socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK, NETLINK_ROUTE)) {
  sockaddr_nl address = {};
  address.nl_family = AF_NETLINK;
  address.nl_groups = RTMGRP_LINK;
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (descriptor_ && bind(descriptor_.get(), generic, sizeof address) != 0) {
    descriptor_ = FileDescriptor();
  }
}

// An overrun (ENOBUFS) says "something new" as well, and is over when it has been read.
void InterfaceEvents::clear() {
  std::array<char, 8192> ignored{};
  while (descriptor_ && (recv(descriptor_.get(), ignored.data(), ignored.size(), 0) > 0 ||
                         errno == ENOBUFS || errno == EINTR)) {
  }
}

}  // namespace tributary::dataplane
