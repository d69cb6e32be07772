// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/carrier.h"
#include "host/communicator_options.h"
#include "host/error.h"
#include "host/parameter.h"
#include "host/rendezvous/messages.h"
#include "host/rendezvous/rendezvous.h"
#include "wire/ipv4.h"

namespace tributary::host {

// A rank's own end of the network.
struct Place {
  wire::Ipv4Address address;
  std::uint32_t mtu = 0;                          // IP bytes, with a header of IPv4
  std::optional<wire::EmbeddingPrefix> prefix{};  // of the address that it has, over IPv6

  Endpoint endpoint() const { return {address, 0, prefix}; }
  wire::IpAddress ip() const { return endpoint().ip(); }
};

// Has what a rank tells the others of its end of a protocol.
struct Offer {
  std::uint16_t port = 0;           // at which it receives datagrams
  std::uint32_t payload_bytes = 0;  // of a full packet, a multiple of 32; the least of all counts
  std::uint32_t window = 0;         // likewise
  RendezvousEnd end{};              // everything else, as the protocol writes it
};

// A rank's end of a protocol before it has met the others. What it opens is open already: they may
// send as soon as they have heard of it.
class Preparation {
 public:
  Preparation() = default;
  Preparation(const Preparation&) = delete;
  Preparation& operator=(const Preparation&) = delete;
  virtual ~Preparation() = default;

  virtual Offer offer() const = 0;
  // Is called once.
  virtual Result<std::unique_ptr<Carrier>> join(const Meeting& meeting) = 0;
};

// An algorithm that a communicator can be told to run by.
struct Algorithm {
  std::string_view name;
  bool hosts_alone = false;  // switches have no part in it: nothing is to be found out
};

// The parameters of a protocol, of which no more are agreed on than a hello has room for.
class ParameterTable : public std::span<const Parameter> {
 public:
  constexpr ParameterTable() = default;
  template <std::size_t count>
  consteval ParameterTable(const Parameter (&table)[count]) : std::span<const Parameter>(table) {
    if (std::count_if(begin(), end(), [](const auto& one) { return one.agreed; }) >
        std::ptrdiff_t{rendezvous_settings_max}) {
      throw "more of them are agreed on than a hello has room for";
    }
  }
};

struct UdpPorts {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
};

// Has what a protocol does on hosts. The options that its functions get outlive what they make. The
// options' parameters are checked; for `prepare` everything else in the options is, too.
struct HostProtocol {
  std::string_view name;
  std::span<const Algorithm> algorithms;
  ParameterTable parameters;
  UdpPorts udp_ports;  // where its packets go; other traffic should keep off these ports

  // Tells whether the parameters of a communicator are for this protocol, which then carries it if
  // its algorithm is "auto"; null: they never are.
  bool (*configured)(const CommunicatorOptions& options) = nullptr;
  // It can have ranks with IPv6 addresses, which it knows by what these embed.
  bool over_ipv6 = false;
  // This protocol, and no other, carries those with "auto" that no protocol is configured for.
  bool by_default = false;
  // Fails if the options contradict themselves; null: they cannot.
  Result<void> (*check)(const CommunicatorOptions& options) = nullptr;
  Result<std::unique_ptr<Preparation>> (*prepare)(const CommunicatorOptions& options,
                                                  const Place& place);
  // Tells whether sums may lack ranks; null: they never do.
  bool (*partial)(const CommunicatorOptions& options) = nullptr;
  // Makes the options those of one of several groups of ranks that run beside each other; null:
  // nothing has to differ.
  Result<void> (*divide)(CommunicatorOptions& options, std::uint32_t group) = nullptr;
};

// Returns the protocols of all rows in protocols/list.h.
std::span<const HostProtocol* const> protocols();

inline constexpr std::string_view automatic_algorithm = "auto";
// The algorithm of the hosts alone, over TCP, which belongs to no protocol.
inline constexpr std::string_view ring_algorithm = "ring";

bool has_parameter(const HostProtocol& protocol, std::string_view name);
// Returns the parameters of all protocols. One that several have is there once.
std::vector<const Parameter*> protocol_parameters();
// Returns the library's own parameters.
std::vector<const Parameter*> own_parameters();
// Returns the parameters of all protocols, and the library's own.
std::vector<const Parameter*> all_parameters();
// Returns all algorithms; `automatic_algorithm` is none of them.
std::vector<Algorithm> algorithms();
// "auto, canary, ... or ring"
std::string known_algorithms();
// Returns the protocol that needs no parameters.
const HostProtocol& default_protocol();
// Returns null if there is none of that name.
const HostProtocol* protocol_called(std::string_view name);
// Returns the protocol that carries the collectives, or would if it was not for the ring; null for
// an algorithm that does not exist. Precondition: the parameters are checked.
const HostProtocol* protocol_of(const CommunicatorOptions& options);
bool are_hosts_alone(std::string_view algorithm);

Result<void> check_parameters(const CommunicatorOptions& options);

}  // namespace tributary::host
