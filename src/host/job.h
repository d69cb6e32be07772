// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wire/embedding_prefix.h"
#include "wire/encapsulation.h"
#include "wire/ip_address.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"

namespace tributary::host {

// Says where a worker listens for packets (UDP; the port is 0 directly over Ethernet). Protocols
// know it by an IPv4 address, which with a prefix stands for the IPv6 address that embeds it.
struct Endpoint {
  wire::Ipv4Address address;
  std::uint16_t port = 0;
  std::optional<wire::EmbeddingPrefix> prefix{};  // no value: it is IPv4

  static Endpoint at(const wire::IpAddress& address, std::uint16_t port);
  wire::IpAddress ip() const { return prefix ? prefix->embed(address) : wire::IpAddress(address); }
  // Returns by how much the IP header of its packets is longer than one of IPv4.
  std::uint32_t more_header_bytes() const {
    return prefix ? sizeof(wire::Ipv6Header) - sizeof(wire::Ipv4Header) : 0;
  }

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};
std::string to_string(wire::Ipv4Address address);
std::string to_string(const wire::IpAddress& address);
std::string to_string(const Endpoint& endpoint);

// The secret of one job; whoever does not have it cannot forge fingerprints.
using JobKey = std::array<std::uint8_t, 16>;

// Has what the ranks of a communicator agreed on when they met.
struct Job {
  std::uint32_t id = 0;
  JobKey key{};
  std::uint32_t rank = 0;           // of this process
  std::vector<Endpoint> peers;      // by rank, this one included
  std::uint32_t payload_bytes = 0;  // of a full block; a multiple of every element's size
  std::uint32_t window = 1;         // blocks in flight per worker; the same on all ranks
  wire::Encapsulation encapsulation = wire::Encapsulation::udp;

  std::uint32_t world_size() const { return static_cast<std::uint32_t>(peers.size()); }
  const Endpoint& self() const { return peers[rank]; }
};

// Returns the key of the job's collective number `call`: nothing of one call passes for part of
// another, also where a rank refused a call that the others made, or where ids came round.
JobKey key_of_call(const JobKey& job, std::uint64_t call);

// Names the run of a job whose ranks agreed on that key when they met: what another run has left in
// switches or on the way can be no part of this one's. `number` counts the runs of the same job.
std::uint32_t run_of(const JobKey& key, std::uint32_t number = 0);

// Proves to the next rank that `rank` is who connects to it, of the job `job`.
std::uint64_t ring_tag(const JobKey& key, std::uint32_t job, std::uint32_t rank);

}  // namespace tributary::host
