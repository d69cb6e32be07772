// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "host/job.h"
#include "wire/cursor.h"

namespace tributary::host {

// A packet that is to be sent. It has a copy of the header, which is sealed, and of what is behind
// the payload, if anything; the payload lies in the caller's buffers and stays unchanged until the
// collective ends, so that it need not be copied.
struct Datagram {
  static constexpr std::size_t header_bytes_max = 64;
  static constexpr std::size_t trailer_bytes_max = 128;

  Endpoint destination;
  std::uint32_t flow = 0;  // which of its sending sockets a transport takes, where it has several
  std::uint32_t header_bytes = 0;
  std::array<std::byte, header_bytes_max> header_space;
  wire::Bytes payload;
  std::uint32_t trailer_bytes = 0;
  std::array<std::byte, trailer_bytes_max> trailer_space;

  template <typename Header>
  void assign(const Endpoint& to, const Header& header, wire::Bytes elements,
              std::uint32_t of_flow) {
    static_assert(sizeof(Header) <= header_bytes_max && alignof(Header) == 1);
    assign(to, std::as_bytes(std::span(&header, 1)), elements, {}, of_flow);
  }
  void assign(const Endpoint& to, wire::Bytes head, wire::Bytes elements, wire::Bytes tail,
              std::uint32_t of_flow = 0) {
    assert(head.size() <= header_bytes_max && tail.size() <= trailer_bytes_max);
    destination = to;
    flow = of_flow;
    header_bytes = static_cast<std::uint32_t>(head.size());
    std::memcpy(header_space.data(), head.data(), head.size());
    payload = elements;
    trailer_bytes = static_cast<std::uint32_t>(tail.size());
    std::copy(tail.begin(), tail.end(), trailer_space.begin());
  }

  wire::Bytes header() const { return {header_space.data(), header_bytes}; }
  wire::Bytes trailer() const { return {trailer_space.data(), trailer_bytes}; }
  // Precondition: assign() was called with this type.
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
  Endpoint source{};     // likewise
};

}  // namespace tributary::host
