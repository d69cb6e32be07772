// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "packet/list.h"
#include "packet/translation.h"
#include "traffic/stations.h"
#include "traffic/traffic.h"

namespace tributary::traffic {

// Edge stands between ports and traffic that knows hosts by 32 bits: where these have addresses of
// IPv6, its packets become IPv6 as they leave, and IPv4 when they have come. An edge that was made
// of nothing changes nothing.
class Edge {
 public:
  Edge() = default;
  // The stations have one prefix.
  explicit Edge(const Stations& stations) : prefix_(stations.range(0).prefix) {}

  // Returns by how many bytes packets become longer as they leave.
  std::uint32_t growth() const { return prefix_ ? ipv6_longer_by : 0; }

  // Translates what has come; what is not UDP between hosts of that prefix stays as it is.
  void enter(Packet& packet) const {
    if (const auto headers = prefix_ ? headers_over_ipv4(packet, *prefix_) : std::nullopt) {
      become_ipv4(packet, *headers);
    }
  }
  // Translates what leaves, which is UDP.
  void leave(Packet& packet) const {
    if (prefix_) {
      become_ipv6(packet, *prefix_);
    }
  }
  // Has `fill` put packets into an outbox, and moves them to `out`, translated.
  template <typename Fill>
  void leave(Outbox& out, Fill fill) {
    if (!prefix_) {
      return fill(out);
    }
    filled_.resize(out.size());
    fill(filled_);
    for (std::size_t port = 0; port < out.size(); ++port) {
      while (auto packet = filled_[port].pop()) {
        leave(*packet);
        out[port].push(std::move(packet));
      }
    }
  }

 private:
  std::optional<wire::EmbeddingPrefix> prefix_;
  Outbox filled_;
};

}  // namespace tributary::traffic
