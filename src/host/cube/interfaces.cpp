// SPDX-License-Identifier: BSD-3-Clause
#include "host/cube/interfaces.h"

#include <algorithm>
#include <cstring>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <utility>

#include "host/cube/layout.h"
#include "host/text.h"
#include "host/transport/address.h"
#include "system/file_descriptor.h"
#include "wire/endian.h"

namespace tributary::host {
namespace {

// The interfaces of a rank in its hello; those that it does not have are 0. Over IPv6, addresses
// are the lower 32 bits of theirs.
struct [[gnu::packed]] Ends {
  struct [[gnu::packed]] End {
    wire::Ipv4Address address;
    wire::be16 port;
  };
  End of[CubeLayout::interfaces_max];
  wire::be32 reserved;
};
static_assert(sizeof(Ends) == sizeof(RendezvousEnd));

Result<CubeInterface> open(const std::string& name, const wire::IpAddress& address) {
  return listen_on(Endpoint::at(address, 0)).map([&](Listener listener) {
    return CubeInterface{name, std::move(listener)};
  });
}

Result<CubeInterface> open_given(const std::string& text, const wire::IpAddress& own) {
  const auto prefix = Endpoint::at(own, 0).prefix;
  const auto address = parse_ip_address(text);
  if (!address) {
    return address_of_interface(text, prefix).and_then([&](const wire::IpAddress& found) {
      return open(text, found);
    });
  }
  if (Endpoint::at(*address, 0).prefix != prefix) {
    return invalid("the interface " + text + " and this rank, " + to_string(own) +
                   ", have addresses of different versions of IP, or of IPv6 with different upper "
                   "96 bits: give all interfaces of all ranks addresses of one kind");
  }
  return interface_of(*address).and_then(
      [&](const Interface& found) { return open(found.name, *address); });
}

}  // namespace

Result<std::vector<CubeInterface>> open_interfaces(const std::vector<std::string>& given,
                                                   const wire::IpAddress& own) {
  std::vector<CubeInterface> interfaces;
  const auto texts = given.empty() ? std::vector{to_string(own)} : given;
  for (const auto& text : texts) {
    auto opened = open_given(text, own);
    if (!opened) {
      return fail(opened.error().code, opened.error().message + " (TRIBUTARY_INTERFACES)");
    }
    if (std::ranges::find(interfaces, opened->address(), &CubeInterface::address) !=
        interfaces.end()) {
      return invalid("interface " + text_of(*opened) + " is given twice (TRIBUTARY_INTERFACES)");
    }
    interfaces.push_back(std::move(*opened));
  }
  return interfaces;
}

std::string text_of(const CubeInterface& interface) {
  return interface.name + " (" + to_string(interface.address()) + ")";
}

std::string text_of(std::uint32_t rank, const CubeInterface& interface) {
  return rank_text(rank) + " over " + text_of(interface);
}

bool is_running(const CubeInterface& interface) {
  const FileDescriptor any_socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!any_socket) {
    return true;  // nobody knows
  }
  ifreq request{};
  std::strncpy(request.ifr_name, interface.name.c_str(), IFNAMSIZ - 1);
  constexpr int needed = IFF_UP | IFF_RUNNING;
  return ::ioctl(any_socket.get(), SIOCGIFFLAGS, &request) == 0 &&
         (request.ifr_flags & needed) == needed;
}

Error down(std::uint32_t rank, const CubeInterface& interface) {
  return {Error::Code::network,
          text_of(rank, interface) + ": the interface is down or has no carrier" + without_it};
}

RendezvousEnd end_of(const std::vector<CubeInterface>& interfaces) {
  Ends ends{};
  for (std::size_t i = 0; i < interfaces.size(); ++i) {
    const auto& local = interfaces[i].listener.local;
    ends.of[i] = {local.address, wire::be16{local.port}};
  }
  RendezvousEnd end{};
  std::memcpy(end.data(), &ends, sizeof ends);
  return end;
}

Result<std::vector<std::vector<Endpoint>>> endpoints_of(const Meeting& meeting) {
  std::vector<std::vector<Endpoint>> all;
  const auto& prefix = meeting.job.self().prefix;
  for (std::uint32_t rank = 0; rank < meeting.ends.size(); ++rank) {
    Ends ends;
    std::memcpy(&ends, meeting.ends[rank].data(), sizeof ends);
    auto& own = all.emplace_back();
    for (const auto& end : ends.of) {
      if (end.port.value() != 0) {
        own.push_back({end.address, end.port.value(), prefix});
      }
    }
    if (own.size() != all.front().size()) {
      return fail(Error::Code::rendezvous, rank_text(rank) + " has " + std::to_string(own.size()) +
                                               " interfaces, rank 0 has " +
                                               std::to_string(all.front().size()) +
                                               ": give all ranks as many (TRIBUTARY_INTERFACES)");
    }
  }
  return all;
}

}  // namespace tributary::host
