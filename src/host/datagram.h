// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "host/job.h"
#include "wire/cursor.h"

namespace tributary::host {

// A packet that is to be sent. It has a copy of the header, which is sealed; the payload lies in
// the caller's buffers and stays unchanged until the collective ends, so that it need not be
// copied.
struct Datagram {
  static constexpr std::size_t header_bytes_max = 64;

  Endpoint destination;
  std::uint32_t flow = 0;  // which of its sending sockets a transport takes, where it has several
  std::uint32_t header_bytes = 0;
  std::array<std::byte, header_bytes_max> header_space;
  wire::Bytes payload;

  template <typename Header>
  void assign(const Endpoint& to, const Header& header, wire::Bytes elements,
              std::uint32_t of_flow) {
    static_assert(sizeof(Header) <= header_bytes_max && alignof(Header) == 1);
    destination = to;
    flow = of_flow;
    header_bytes = sizeof header;
    std::memcpy(header_space.data(), &header, sizeof header);
    payload = elements;
  }

  wire::Bytes header() const { return {header_space.data(), header_bytes}; }
  // Precondition: assigned with this type.
  template <typename Header>
  const Header& header_as() const {
    assert(header_bytes == sizeof(Header));
    return *reinterpret_cast<const Header*>(header_space.data());
  }
};

// A packet that came: what was behind the header of UDP or Ethernet. Machines may change it.
struct Arrival {
  wire::MutableBytes bytes;
  std::uint8_t ecn = 0;  // of its IP header, where the transport tells
};

}  // namespace tributary::host
