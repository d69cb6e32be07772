// SPDX-License-Identifier: BSD-3-Clause
#include "host/job.h"

#include <arpa/inet.h>

#include "host/siphash.h"

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

std::string to_string(const wire::IpAddress& address) {
  if (address.is_v4()) {
    return to_string(address.v4());
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  const auto octets = address.octets();
  ::inet_ntop(AF_INET6, octets.data(), text.data(), text.size());
  return text.data();
}

std::string to_string(const Endpoint& endpoint) {
  const auto address = to_string(endpoint.ip());
  const auto port = ":" + std::to_string(endpoint.port);
  return endpoint.prefix ? "[" + address + "]" + port : address + port;
}

Endpoint Endpoint::at(const wire::IpAddress& address, std::uint16_t port) {
  if (address.is_v4()) {
    return {address.v4(), port};
  }
  return {wire::EmbeddingPrefix::embedded_in(address), port, wire::EmbeddingPrefix::of(address)};
}

JobKey key_of_call(const JobKey& job, std::uint64_t call) {
  JobKey key = job;
  for (std::size_t i = 0; i < sizeof call; ++i) {
    key[i] = static_cast<std::uint8_t>(key[i] ^ (call >> (8 * i)));
  }
  return key;
}

std::uint32_t run_of(const JobKey& key, std::uint32_t number) {
  return static_cast<std::uint32_t>(siphash(key, HashPurpose::run, number, 0));
}

std::uint64_t ring_tag(const JobKey& key, std::uint32_t job, std::uint32_t rank) {
  return siphash(key, HashPurpose::ring, job, rank);
}

}  // namespace tributary::host
