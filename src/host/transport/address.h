// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <netinet/in.h>
#include <optional>
#include <string>
#include <sys/socket.h>

#include "host/error.h"
#include "host/job.h"
#include "wire/embedding_prefix.h"
#include "wire/ip_address.h"
#include "wire/ipv4.h"

namespace tributary::host {

// Resolves "address:port", "[IPv6 address]:port" or "name:port", whose host is preferred to be one
// of IPv4; errors call it `what`.
Result<Endpoint> resolve(const std::string& host_and_port, const std::string& what = "rendezvous");
Result<wire::Ipv4Address> parse_address(const std::string& text);
// Reads an address of either version of IP.
Result<wire::IpAddress> parse_ip_address(const std::string& text);

// The name that a socket has for the kernel, by either version of IP.
struct SocketName {
  sockaddr_in6 storage{};  // a sockaddr_in lies at its beginning, and is shorter
  socklen_t bytes = sizeof(sockaddr_in6);

  int family() const { return storage.sin6_family; }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};
SocketName to_sockaddr(const Endpoint& endpoint);
Endpoint from_sockaddr(const SocketName& name);
// Returns the endpoint of a name that the kernel told with a message; an empty one if it told none.
Endpoint from_name(const void* name, std::size_t bytes);

// Returns the local address that packets to `destination` leave from.
Result<wire::IpAddress> local_address_towards(const Endpoint& destination);

// The interface that owns a local address.
struct Interface {
  std::string name;
  int index = 0;
  std::uint32_t mtu = 0;
};
Result<Interface> interface_of(const wire::IpAddress& local);
// Returns an IPv4 address of the interface of that name. Without a name, it is the first interface
// that is up and not loopback; the address is 127.0.0.1 if there is none.
Result<wire::Ipv4Address> address_of_interface(const std::string& name);
// Returns its address of IPv6 with that prefix, if one is given, or else one of IPv4.
Result<wire::IpAddress> address_of_interface(const std::string& name,
                                             const std::optional<wire::EmbeddingPrefix>& prefix);

// "what: Reason" with errno's text.
std::string errno_text(const std::string& what);

}  // namespace tributary::host
