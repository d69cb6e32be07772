// SPDX-License-Identifier: BSD-3-Clause
#include "host/job.h"

#include "host/siphash.h"
#include "wire/endian.h"

namespace tributary::host {

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

JobKey key_of_call(const JobKey& job, std::uint64_t call) {
  JobKey key = job;
  for (std::size_t i = 0; i < sizeof call; ++i) {
    key[i] = static_cast<std::uint8_t>(key[i] ^ (call >> (8 * i)));
  }
  return key;
}

std::uint64_t ring_tag(const JobKey& key, std::uint32_t job, std::uint32_t rank) {
  constexpr std::uint32_t purpose = 3;  // protocols have others
  struct [[gnu::packed]] Input {
    wire::be32 purpose;
    wire::be32 job;
    wire::be32 rank;
  };
  return siphash(key, Input{wire::be32{purpose}, wire::be32{job}, wire::be32{rank}});
}

}  // namespace tributary::host
