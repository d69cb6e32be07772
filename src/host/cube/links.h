// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/clock.h"
#include "host/cube/frames.h"
#include "host/cube/interfaces.h"
#include "host/cube/layout.h"
#include "host/error.h"
#include "host/job.h"
#include "system/file_descriptor.h"

namespace tributary::host {

// A connection with a neighbour.
struct CubeLink {
  CubeNeighbour to;
  Endpoint remote;
  FileDescriptor fd;
  CubeHeader header{};     // of what comes
  bool has_ended = false;  // the other rank has closed it
};

// Has what the connections of a rank are made of, and outlives them.
struct CubeEnds {
  const Job& job;
  const CubeLayout& layout;
  const std::vector<CubeInterface>& interfaces;
  const std::vector<std::vector<Endpoint>>& all;  // by rank and interface
  // All ranks try at once, and count: who comes late for one attempt is not taken for the next.
  std::uint32_t attempt = 0;

  // Names this rank: "rank 2 over eth1 (10.1.0.4)".
  std::string here(std::uint32_t interface) const;
  // Names the other rank: "rank 5 (10.1.0.9)".
  static std::string there(const CubeLink& link);
};

// Connects with every neighbour, as layout.neighbours() lists them. All ranks call it at once.
Result<std::vector<CubeLink>> connect_links(const CubeEnds& ends, Time until);

// Returns why the neighbour goes no further, where that is what it sends next. Leaves the text
// there, as it does what belongs to the next collective.
std::optional<Error> told_failure(CubeLink& link);

// Returns why a link has failed though neither end has ended; nothing while it has not.
std::optional<Error> failure_of(const CubeEnds& ends, const CubeLink& link);
// Returns the error that says that the connection broke, for that reason.
Error broken(const CubeEnds& ends, const CubeLink& link, const std::string& why);

}  // namespace tributary::host
