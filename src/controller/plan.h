// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "control/tree_support.h"
#include "controller/fabric_file.h"
#include "controller/live_fabric.h"
#include "controller/objections.h"
#include "controller/placement.h"

namespace tributary::controller {

// A Plan says where the trees of a file's jobs have their places, and which jobs have none.
struct Plan {
  PartialPlacement placement;          // in the order of the file
  std::vector<std::string> obstacles;  // trees go around these
  std::vector<Objection> objections;   // of switches that would have had trees

  bool complete() const { return placement.refusals.empty(); }
  std::vector<PlacedPart> parts() const;
  // Returns objections to jobs that have found another place.
  std::vector<Objection> detours() const;
};

// A job that is installed already gets so many trees.
enum class Trees : std::uint8_t {
  as_the_file_says,
  keep_number,  // its workers go on with those that they have
};

// Says by job how many trees its workers know.
using TreeCounts = std::map<std::uint32_t, std::size_t>;

// Makes a plan in which switches that do not answer are taken for good or for unusable. The others
// are asked whether they would take their trees; those of a job go around one that would not, or
// the job is refused. Where objections are known, nobody is asked for them. A job that keeps its
// number of trees keeps those of `before`, too, whose roots are gone.
Plan make_plan(const FabricFile& file, LiveFabric& live, bool silent_usable,
               Trees trees = Trees::as_the_file_says, std::vector<Objection> known = {},
               const TreeCounts& before = {});

// Returns what the workers of a job are to be started with.
control::Environment environment_of(const FabricFile& file, std::size_t job,
                                    const PlacedJob& placed);

}  // namespace tributary::controller
