// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/engine.h"
#include "engine/group_headers.h"
#include "protocols/flare/engine/config.h"
#include "protocols/flare/wire.h"

namespace tributary::flare {

// What stands before the elements of every packet that this engine sends.
struct [[gnu::packed]] Headers : engine::GroupHeaders {
  wire::FlareHeader flare;

  wire::Bytes bytes() const { return std::as_bytes(std::span(this, 1)); }
};

// What all packets of a block have in common: those that differ cannot be added up, and no result
// is of another kind than its sum.
inline bool is_like(const wire::FlareHeader& a, const wire::FlareHeader& b) {
  return a.elements == b.elements && a.element_type == b.element_type && a.op == b.op;
}

inline std::size_t payload_bytes(const wire::FlareHeader& header) {
  return header.elements.value() * wire::element_bytes(header.element_type);
}

// Of a tree's packets that begin at this switch, but for what depends on the packet.
inline Headers headers_of(const TreeConfig& tree, const engine::SwitchIdentity& self) {
  return {engine::group_headers(tree.group, self, wire::flare_udp_port), {}};
}

// Puts in Flare's own header, which is sealed already, and what follows from it.
inline void complete(Headers& headers, const wire::FlareHeader& header) {
  const auto key = wire::flare_key(header.job.value(), wire::flare_flow_of(header));
  headers.flare = header;
  headers.udp.source_port = wire::source_port_of(key);
  engine::finish_headers(headers, sizeof header + payload_bytes(header));
}

}  // namespace tributary::flare
