// SPDX-License-Identifier: BSD-3-Clause
#include "host/transport/address.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
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

wire::IpAddress from_in6_addr(const in6_addr& address) {
  std::array<std::uint8_t, sizeof address> octets;
  std::memcpy(octets.data(), &address, sizeof address);
  return wire::IpAddress(octets);
}

// Returns no value for what is no address of IP.
std::optional<wire::IpAddress> address_in(const sockaddr& listed) {
  if (listed.sa_family == AF_INET) {
    sockaddr_in name{};
    std::memcpy(&name, &listed, sizeof name);
    return from_in_addr(name.sin_addr);
  }
  if (listed.sa_family == AF_INET6) {
    sockaddr_in6 name{};
    std::memcpy(&name, &listed, sizeof name);
    return from_in6_addr(name.sin6_addr);
  }
  return std::nullopt;
}

// Loopback has the whole of 127/8: the kernel accepts every address there, but lists only one.
bool owns(const wire::IpAddress& listed, const wire::IpAddress& wanted) {
  const auto is_loopback = [](const wire::IpAddress& address) {
    return address.is_v4() && (address.v4().value() >> 24) == 127;
  };
  return (is_loopback(listed) && is_loopback(wanted)) || listed == wanted;
}

// An address that an interface has, by the kernel's list.
struct ListedAddress {
  std::string interface;
  wire::IpAddress address;
};

// Returns the first address of the list for which `is` is true.
template <typename Is>
Result<std::optional<ListedAddress>> first_address_that(Is is) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) {
    return fail(Error::Code::network, errno_text("list of interfaces"));
  }
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> guard(list, &::freeifaddrs);
  for (const auto* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) {
      continue;
    }
    const auto listed = address_in(*entry->ifa_addr);
    if (listed && is(*entry, *listed)) {
      return ListedAddress{entry->ifa_name, *listed};
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

Result<wire::IpAddress> parse_ip_address(const std::string& text) {
  in6_addr address{};
  if (text.find(':') == std::string::npos) {
    return parse_address(text);
  }
  if (::inet_pton(AF_INET6, text.c_str(), &address) != 1) {
    return fail(Error::Code::invalid_argument, "'" + text + "' is not an IP address");
  }
  return from_in6_addr(address);
}

namespace {

// Takes the brackets off that tell an IPv6 address from the port behind it.
std::string without_brackets(const std::string& host) {
  const bool has_them = host.size() > 2 && host.front() == '[' && host.back() == ']';
  return has_them ? host.substr(1, host.size() - 2) : host;
}

// Returns an address of a host, of IPv4 if it has one, or the reason why there is none.
tl::expected<wire::IpAddress, std::string> look_up(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &found); error != 0) {
    return tl::make_unexpected(std::string(::gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> guard(found, &::freeaddrinfo);
  std::optional<wire::IpAddress> first;
  for (const auto* entry = found; entry != nullptr; entry = entry->ai_next) {
    const auto address = address_in(*entry->ai_addr);
    if (address && (!first || (address->is_v4() && !first->is_v4()))) {
      first = address;
    }
  }
  if (!first) {
    return tl::make_unexpected(std::string("it has no address of IP"));
  }
  return *first;
}

}  // namespace

Result<Endpoint> resolve(const std::string& host_and_port, const std::string& what) {
  const auto colon = host_and_port.rfind(':');
  const auto bad = [&](const std::string& why) {
    return fail(Error::Code::invalid_argument,
                what + " '" + host_and_port + "': " + why + "; write address:port");
  };
  if (colon == std::string::npos || colon == 0) {
    return bad("no port");
  }
  std::uint16_t port = 0;
  const auto* const end = host_and_port.data() + host_and_port.size();
  const auto parsed = std::from_chars(host_and_port.data() + colon + 1, end, port);
  if (parsed.ec != std::errc{} || parsed.ptr != end || port == 0) {
    return bad("the port is not a number from 1 to 65535");
  }
  const auto given = host_and_port.substr(0, colon);
  const auto host = without_brackets(given);
  if (host == given && host.find(':') != std::string::npos) {
    return bad("an IPv6 address stands in brackets, as in [2001:db8::1]:29500");
  }
  const auto address = look_up(host);
  if (!address) {
    return bad(address.error());
  }
  if (!address->is_v4() && address->is_link_local()) {
    return bad("the address is one of each link; name one that holds everywhere");
  }
  return Endpoint::at(*address, port);
}

SocketName to_sockaddr(const Endpoint& endpoint) {
  SocketName name;
  if (endpoint.prefix) {
    const auto octets = endpoint.ip().octets();
    name.storage.sin6_family = AF_INET6;
    name.storage.sin6_port = htons(endpoint.port);
    std::memcpy(&name.storage.sin6_addr, octets.data(), octets.size());
    return name;
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(endpoint.port);
  address.sin_addr.s_addr = htonl(endpoint.address.value());
  std::memcpy(&name.storage, &address, sizeof address);
  name.bytes = sizeof address;
  return name;
}

Endpoint from_sockaddr(const SocketName& name) {
  const auto address = address_in(*name.get());
  // The port is at the same place in both.
  return address ? Endpoint::at(*address, ntohs(name.storage.sin6_port)) : Endpoint{};
}

Endpoint from_name(const void* name, std::size_t bytes) {
  SocketName told;
  if (bytes < sizeof(sockaddr_in)) {
    return {};
  }
  std::memcpy(&told.storage, name, std::min(bytes, sizeof told.storage));
  return from_sockaddr(told);
}

Result<wire::IpAddress> local_address_towards(const Endpoint& destination) {
  const auto remote = to_sockaddr(destination);
  const FileDescriptor socket_fd(::socket(remote.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  SocketName local;
  if (::connect(socket_fd.get(), remote.get(), remote.bytes) != 0 ||
      ::getsockname(socket_fd.get(), local.get(), &local.bytes) != 0) {
    return fail(Error::Code::network,
                errno_text("no route to the rendezvous at " + to_string(destination)));
  }
  return from_sockaddr(local).ip();
}

Result<Interface> interface_of(const wire::IpAddress& local) {
  const auto owner = first_address_that(
      [&](const ifaddrs&, const wire::IpAddress& address) { return owns(address, local); });
  return owner.and_then([&](const auto& found) -> Result<Interface> {
    if (found) {
      return describe_interface(found->interface);
    }
    return fail(Error::Code::invalid_argument,
                "no interface of this host has the address " + to_string(local));
  });
}

Result<wire::Ipv4Address> address_of_interface(const std::string& name) {
  const auto wanted = first_address_that([&](const ifaddrs& entry, const wire::IpAddress& address) {
    const bool is_wanted =
        name.empty() ? (entry.ifa_flags & IFF_UP) != 0 && (entry.ifa_flags & IFF_LOOPBACK) == 0
                     : entry.ifa_name == name;
    return is_wanted && address.is_v4();
  });
  return wanted.and_then([&](const auto& found) -> Result<wire::Ipv4Address> {
    if (found) {
      return found->address.v4();
    }
    if (name.empty()) {
      return wire::Ipv4Address(127, 0, 0, 1);
    }
    return fail(Error::Code::invalid_argument,
                "no interface '" + name + "' of this host has an IPv4 address");
  });
}

Result<wire::IpAddress> address_of_interface(const std::string& name,
                                             const std::optional<wire::EmbeddingPrefix>& prefix) {
  if (!prefix) {
    return address_of_interface(name).map([](auto found) { return wire::IpAddress(found); });
  }
  const auto wanted = first_address_that([&](const ifaddrs& entry, const wire::IpAddress& address) {
    return entry.ifa_name == name && !address.is_v4() &&
           wire::EmbeddingPrefix::of(address) == *prefix;
  });
  return wanted.and_then([&](const auto& found) -> Result<wire::IpAddress> {
    if (found) {
      return found->address;
    }
    return fail(Error::Code::invalid_argument, "no interface '" + name +
                                                   "' of this host has an address in " +
                                                   to_string(prefix->embed({})) + "/96");
  });
}

}  // namespace tributary::host
