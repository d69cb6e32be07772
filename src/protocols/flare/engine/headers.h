// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/engine.h"
#include "engine/group_headers.h"
#include "protocols/flare/engine/config.h"
#include "protocols/flare/sparse_wire.h"
#include "protocols/flare/wire.h"

namespace tributary::flare {

// These headers stand before the elements of every packet that this engine sends.
template <typename Header>
struct [[gnu::packed]] HeadersWith : engine::GroupHeaders {
  Header flare;

  wire::Bytes bytes() const { return std::as_bytes(std::span(this, 1)); }
};
using Headers = HeadersWith<wire::FlareHeader>;
using SparseHeaders = HeadersWith<wire::FlareSparseHeader>;

// Returns whether two headers agree in what all packets of a block have in common: those that
// differ cannot be added up, and no result is of another kind than its sum.
inline bool is_like(const wire::FlareHeader& a, const wire::FlareHeader& b) {
  return a.elements == b.elements && a.element_type == b.element_type && a.op == b.op;
}
inline bool is_like(const wire::FlareSparseHeader& a, const wire::FlareSparseHeader& b) {
  return a.element_type == b.element_type && a.span == b.span && a.full == b.full;
}

inline std::size_t payload_bytes(const wire::FlareHeader& header) {
  return header.elements.value() * wire::element_bytes(header.element_type);
}
inline std::size_t payload_bytes(const wire::FlareSparseHeader& header) {
  return wire::flare_payload_bytes(header);
}

// Returns the headers of a tree's packets that begin at this switch, but for what depends on the
// packet.
inline engine::GroupHeaders headers_of(const TreeConfig& tree, const engine::SwitchIdentity& self) {
  return engine::group_headers(tree.group, self, wire::flare_udp_port);
}

// Tells how packets of a job go through the network.
struct [[gnu::packed]] Bearing {
  Bearing() = default;
  explicit Bearing(const engine::Arrival& arrival)
      : over_ipv6(arrival.packet->over_ipv6),
        tos(static_cast<std::uint8_t>(arrival.frame.ipv4->tos & ~wire::ecn::mask)) {}

  bool over_ipv6 = false;
  std::uint8_t tos = 0;  // the codepoint of the traffic class; no packet asks for marks
};

// Returns the headers of one packet, whose own header is sealed already.
template <typename Header>
HeadersWith<Header> complete(const engine::GroupHeaders& usual, const Header& header,
                             std::uint8_t ttl, std::uint8_t tos = 0) {
  HeadersWith<Header> headers{usual, header};
  headers.ipv4.tos = tos;
  const auto flow = wire::flare_flow_of(header.block.value(), header.window.value());
  headers.udp.source_port = wire::source_port_of(wire::flare_key(header.job.value(), flow));
  headers.ipv4.ttl = ttl;
  engine::finish_headers(headers, sizeof header + payload_bytes(header));
  return headers;
}

}  // namespace tributary::flare
