// SPDX-License-Identifier: BSD-3-Clause
#include "host/job.h"

#include <cstring>

#include <sodium/crypto_shorthash.h>

#include "protocols/panama/wire.h"
#include "wire/transport.h"

namespace tributary::host {

static_assert(crypto_shorthash_KEYBYTES == sizeof(JobKey));

std::string to_string(wire::Ipv4Address address) {
  const auto value = address.value();
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) {
    text += std::to_string((value >> shift) & 0xff);
    if (shift != 0) {
      text += '.';
    }
  }
  return text;
}

std::string to_string(const Endpoint& endpoint) {
  return to_string(endpoint.address) + ":" + std::to_string(endpoint.port);
}

namespace {

std::uint32_t payload_bytes_behind(std::uint32_t headers, std::uint32_t mtu) {
  constexpr std::uint32_t granule = 32;
  return mtu < headers ? 0 : (mtu - headers) / granule * granule;
}

constexpr std::uint32_t udp_headers = sizeof(wire::Ipv4Header) + sizeof(wire::UdpHeader);

}  // namespace

std::uint32_t panama_payload_bytes_for(std::uint32_t mtu) {
  return payload_bytes_behind(udp_headers + sizeof(wire::PanamaHeader), mtu);
}

std::uint32_t payload_bytes_for(std::uint32_t mtu, wire::Encapsulation encapsulation) {
  std::uint32_t headers = sizeof(wire::CanaryHeader);
  if (encapsulation == wire::Encapsulation::udp) {
    headers += udp_headers;
  }
  return payload_bytes_behind(headers, mtu);
}

JobKey key_of_call(const JobKey& job, std::uint64_t call) {
  JobKey key = job;
  for (std::size_t i = 0; i < sizeof call; ++i) {
    key[i] = static_cast<std::uint8_t>(key[i] ^ (call >> (8 * i)));
  }
  return key;
}

namespace {

// Of a packed structure.
template <typename T>
std::uint64_t siphash(const JobKey& key, const T& input) {
  std::uint64_t tag = 0;
  unsigned char hash[crypto_shorthash_BYTES];
  static_assert(sizeof hash == sizeof tag);
  crypto_shorthash(hash, reinterpret_cast<const unsigned char*>(&input), sizeof input, key.data());
  std::memcpy(&tag, hash, sizeof tag);
  return tag;
}

}  // namespace

std::uint64_t control_tag(const JobKey& key, wire::CanaryKind kind, std::uint32_t id,
                          std::uint32_t rank) {
  struct [[gnu::packed]] Input {
    wire::be32 id;
    wire::be32 rank;
    wire::CanaryKind kind;
  };
  return siphash(key, Input{wire::be32{id}, wire::be32{rank}, kind});
}

std::uint64_t contribution_tag(const JobKey& key, std::uint32_t id, std::uint32_t rank) {
  return control_tag(key, wire::CanaryKind::contribution, id, rank);
}

std::uint64_t ring_tag(const JobKey& key, std::uint32_t job, std::uint32_t rank) {
  constexpr std::uint32_t purpose = 3;  // NetReduce has 1 and 2
  struct [[gnu::packed]] Input {
    wire::be32 purpose;
    wire::be32 job;
    wire::be32 rank;
  };
  return siphash(key, Input{wire::be32{purpose}, wire::be32{job}, wire::be32{rank}});
}

}  // namespace tributary::host
