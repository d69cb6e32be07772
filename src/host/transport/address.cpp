// SPDX-License-Identifier: BSD-3-Clause
#include "host/transport/address.h"

#include <arpa/inet.h>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netdb.h>
#include <optional>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <system_error>

#include "system/file_descriptor.h"

namespace tributary::host {
namespace {

wire::Ipv4Address from_in_addr(in_addr address) {
  return wire::Ipv4Address(ntohl(address.s_addr));
}

// Loopback has the whole of 127/8: the kernel accepts every address there, but lists only one.
bool owns(const sockaddr_in& listed, wire::Ipv4Address wanted) {
  const auto address = from_in_addr(listed.sin_addr);
  const bool both_loopback = (address.value() >> 24) == 127 && (wanted.value() >> 24) == 127;
  return both_loopback || address == wanted;
}

// An address that an interface has, by the kernel's list.
struct ListedAddress {
  std::string interface;
  wire::Ipv4Address address;
};

// Returns the first IPv4 address of the list for which `is` is true.
template <typename Is>
Result<std::optional<ListedAddress>> first_address_that(Is is) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) {
    return fail(Error::Code::network, errno_text("list of interfaces"));
  }
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> guard(list, &::freeifaddrs);
  for (const auto* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != AF_INET) {
      continue;
    }
    sockaddr_in address{};
    std::memcpy(&address, entry->ifa_addr, sizeof address);
    if (is(*entry, address)) {
      return ListedAddress{entry->ifa_name, from_in_addr(address.sin_addr)};
    }
  }
  return std::nullopt;
}

Result<Interface> describe_interface(const std::string& interface_name) {
  const FileDescriptor socket_fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strncpy(request.ifr_name, interface_name.c_str(), IFNAMSIZ - 1);
  if (::ioctl(socket_fd.get(), SIOCGIFMTU, &request) != 0) {
    return fail(Error::Code::network, errno_text("MTU of " + interface_name));
  }
  return Interface{interface_name, static_cast<int>(::if_nametoindex(interface_name.c_str())),
                   static_cast<std::uint32_t>(request.ifr_mtu)};
}

}  // namespace

std::string errno_text(const std::string& what) {
  return what + ": " + std::generic_category().message(errno);
}

Result<wire::Ipv4Address> parse_address(const std::string& text) {
  in_addr address{};
  if (::inet_pton(AF_INET, text.c_str(), &address) != 1) {
    return fail(Error::Code::invalid_argument, "'" + text + "' is not an IPv4 address");
  }
  return from_in_addr(address);
}

Result<Endpoint> resolve(const std::string& host_and_port, const std::string& what) {
  const auto colon = host_and_port.rfind(':');
  const auto bad = [&](const std::string& why) {
    return fail(Error::Code::invalid_argument,
                what + " '" + host_and_port + "': " + why + "; write address:port");
  };
  if (colon == std::string::npos || colon == 0) {
    return bad("no port");
  }
  Endpoint endpoint;
  const auto* const end = host_and_port.data() + host_and_port.size();
  const auto parsed = std::from_chars(host_and_port.data() + colon + 1, end, endpoint.port);
  if (parsed.ec != std::errc{} || parsed.ptr != end || endpoint.port == 0) {
    return bad("the port is not a number from 1 to 65535");
  }
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const auto host_name = host_and_port.substr(0, colon);
  if (const int error = ::getaddrinfo(host_name.c_str(), nullptr, &hints, &found); error != 0) {
    return bad(::gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> guard(found, &::freeaddrinfo);
  sockaddr_in address{};
  std::memcpy(&address, found->ai_addr, sizeof address);
  endpoint.address = from_in_addr(address.sin_addr);
  return endpoint;
}

sockaddr_in to_sockaddr(const Endpoint& endpoint) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(endpoint.port);
  address.sin_addr.s_addr = htonl(endpoint.address.value());
  return address;
}

Endpoint from_sockaddr(const sockaddr_in& address) {
  return Endpoint{from_in_addr(address.sin_addr), ntohs(address.sin_port)};
}

Endpoint from_name(const void* name, std::size_t bytes) {
  sockaddr_in address{};
  if (bytes < sizeof address) {
    return {};
  }
  std::memcpy(&address, name, sizeof address);
  return from_sockaddr(address);
}

Result<wire::Ipv4Address> local_address_towards(const Endpoint& destination) {
  const FileDescriptor socket_fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto remote = to_sockaddr(destination);
  sockaddr_in local{};
  socklen_t size = sizeof local;
  if (::connect(socket_fd.get(), reinterpret_cast<const sockaddr*>(&remote), sizeof remote) != 0 ||
      ::getsockname(socket_fd.get(), reinterpret_cast<sockaddr*>(&local), &size) != 0) {
    return fail(Error::Code::network,
                errno_text("no route to the rendezvous at " + to_string(destination)));
  }
  return from_in_addr(local.sin_addr);
}

Result<Interface> interface_of(wire::Ipv4Address local) {
  const auto owner = first_address_that(
      [&](const ifaddrs&, const sockaddr_in& address) { return owns(address, local); });
  return owner.and_then([&](const auto& found) -> Result<Interface> {
    if (found) {
      return describe_interface(found->interface);
    }
    return fail(Error::Code::invalid_argument,
                "no interface of this host has the address " + to_string(local));
  });
}

Result<wire::Ipv4Address> address_of_interface(const std::string& name) {
  const auto wanted = first_address_that([&](const ifaddrs& entry, const sockaddr_in&) {
    return name.empty() ? (entry.ifa_flags & IFF_UP) != 0 && (entry.ifa_flags & IFF_LOOPBACK) == 0
                        : entry.ifa_name == name;
  });
  return wanted.and_then([&](const auto& found) -> Result<wire::Ipv4Address> {
    if (found) {
      return found->address;
    }
    if (name.empty()) {
      return wire::Ipv4Address(127, 0, 0, 1);
    }
    return fail(Error::Code::invalid_argument,
                "no interface '" + name + "' of this host has an IPv4 address");
  });
}

}  // namespace tributary::host
