// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <netinet/in.h>
#include <string>

#include "host/error.h"
#include "host/job.h"
#include "wire/ipv4.h"

namespace tributary::host {

// Resolves "address:port" or "name:port"; errors call it `what`.
Result<Endpoint> resolve(const std::string& host_and_port, const std::string& what = "rendezvous");
Result<wire::Ipv4Address> parse_address(const std::string& text);

sockaddr_in to_sockaddr(const Endpoint& endpoint);
Endpoint from_sockaddr(const sockaddr_in& address);
// Returns the endpoint of a name that the kernel told with a message; an empty one if it told none.
Endpoint from_name(const void* name, std::size_t bytes);

// Returns the local address that packets to `destination` leave from.
Result<wire::Ipv4Address> local_address_towards(const Endpoint& destination);

// The interface that owns a local address.
struct Interface {
  std::string name;
  int index = 0;
  std::uint32_t mtu = 0;
};
Result<Interface> interface_of(wire::Ipv4Address local);
// Returns an address of the interface of that name. Without a name, it is the first interface that
// is up and not loopback; the address is 127.0.0.1 if there is none.
Result<wire::Ipv4Address> address_of_interface(const std::string& name);

// "what: Reason" with errno's text.
std::string errno_text(const std::string& what);

}  // namespace tributary::host
