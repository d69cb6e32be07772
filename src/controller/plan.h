// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "control/tree_support.h"
#include "controller/fabric_file.h"
#include "controller/live_fabric.h"
#include "controller/objections.h"
#include "controller/placement.h"

namespace tributary::controller {

// Where the trees of a file's jobs have their places, and which jobs have none.
struct Plan {
  PartialPlacement placement;          // in the order of the file
  std::vector<std::string> obstacles;  // that trees go around
  std::vector<Objection> objections;   // what switches said that would have had trees

  bool complete() const { return placement.refusals.empty(); }
  std::vector<PlacedPart> parts() const;
  // Objections to jobs that have found another place.
  std::vector<Objection> detours() const;
};

// How many trees a job gets that is installed already.
enum class Trees : std::uint8_t {
  as_the_file_says,
  keep_number,  // its workers go on with those that they have
};

// Switches that do not answer are taken for good or for unusable. The others are asked whether they
// would take their trees; those of a job go around one that would not, or the job is refused. Where
// objections are known, nobody is asked for them.
Plan make_plan(const FabricFile& file, LiveFabric& live, bool silent_usable,
               Trees trees = Trees::as_the_file_says, std::vector<Objection> known = {});

// What the workers of a job are to be started with.
control::Environment environment_of(const FabricFile& file, std::size_t job,
                                    const PlacedJob& placed);

}  // namespace tributary::controller
