// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "packet/clock.h"
#include "packet/packet.h"
#include "wire/ipv4.h"

namespace tributary::engine {

// Engines tell operators about themselves in these words. An engine leaves at zero what it does not
// have; whatever else it has to tell is a figure.

// A switch has an engine on each of its cores; this is how it makes one figure of theirs.
enum class Merge : std::uint8_t { sum, maximum, minimum };

// A Figure is a named number of an engine, for counters and metrics: "collisions_total",
// "descriptors_in_use".
struct Figure {
  std::string_view name;
  std::uint64_t value = 0;
  Merge merge = Merge::sum;
};

// A JobStatus describes one job as an engine sees it.
struct JobStatus {
  std::uint32_t job = 0;
  std::uint64_t contributions = 0;
  std::uint64_t results = 0;
  std::uint64_t bypassed = 0;     // contributions that went to their leader as they were
  std::uint64_t descriptors = 0;  // in use now
  std::uint64_t descriptors_high_water = 0;
  Duration timeout{};  // of the latest block; 0: none began, or only at its leader's last hop

  // Adds what another core tells of the same job.
  void merge(const JobStatus& other) {
    job = other.job;
    contributions += other.contributions;
    results += other.results;
    bypassed += other.bypassed;
    descriptors += other.descriptors;
    descriptors_high_water = std::max(descriptors_high_water, other.descriptors_high_water);
    timeout = std::max(timeout, other.timeout);
  }
};

// A DescriptorStatus describes one block that is held, for `tributaryctl descriptor` and for
// diagnosis.
struct DescriptorStatus {
  std::uint32_t job = 0;
  std::uint32_t id = 0;
  std::uint32_t counter = 0;
  std::uint32_t hosts = 0;
  bool sent = false;  // the partial sum has gone on; only the children are remembered
  Duration age{};
  wire::Ipv4Address leader;
  std::vector<PortIndex> children;
  bool sparse = false;  // one of the blocks of sparse collectives, which have numbers of their own
};

// A StallStatus describes one block that waits unusually long, as far as is known here.
struct StallStatus {
  std::uint32_t job = 0;
  std::uint32_t block = 0;
  std::uint32_t attempt = 0;
  std::uint32_t contributions = 0;  // how many are in, at the leader if it has said so
  std::uint32_t hosts = 0;
  Duration waiting{};
  wire::Ipv4Address leader;
  std::vector<std::uint16_t> missing;      // ranks that have not contributed; empty: unknown
  std::vector<PortIndex> missing_ports{};  // ports behind which somebody has not; empty: unknown
  bool sparse = false;                     // as in DescriptorStatus
  wire::Ipv4Address group{};               // of the tree, for engines whose jobs have several
};

// A TreeStatus describes one aggregation tree that is installed here, for engines whose trees are
// set up beforehand.
struct TreeStatus {
  std::uint32_t job = 0;
  std::uint16_t tree = 0;
  bool active = false;            // a collective is going on
  std::optional<Time> used{};     // when a sender was last heard; no value: never
  std::vector<Figure> figures{};  // how it stands, in the engine's own words
};

}  // namespace tributary::engine
