// SPDX-License-Identifier: BSD-3-Clause
#include "host/transport/flow_senders.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "host/transport/datagram_socket.h"
#include "wire/spread.h"

namespace tributary::host {

// The ports lie beyond those that Linux gives to sockets that ask for none. Where no port of a flow
// is left, any other does.
Result<std::vector<FileDescriptor>> open_flow_senders(
    const wire::IpAddress& local, const std::function<Result<FileDescriptor>()>& open) {
  constexpr unsigned port_first = 0xf000;
  constexpr unsigned port_last = 0xffff;
  std::vector<FileDescriptor> senders(wire::flow_count);
  auto spare = open();
  std::size_t missing = senders.size();
  const auto bind_spare_to = [&](FileDescriptor& sender, std::uint16_t port) {
    if (!spare || sender || !bind_to(spare->get(), Endpoint::at(local, port))) {
      return;
    }
    sender = std::move(*spare);
    if (--missing != 0) {
      spare = open();
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

}  // namespace tributary::host
