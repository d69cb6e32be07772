// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "host/variables.h"

namespace tributary::host {

// By which variables a launcher tells a process its place in the job.
struct Launcher {
  const char* rank;
  const char* world_size;
};

// The one that has started this process: torchrun, or a person by the same variables, before mpirun
// of Open MPI, mpiexec of MPICH, and srun of Slurm, inside of whose allocations the others are
// started, too. Torchrun's if none has.
const Launcher& launcher_of(const Variables& variables);

// What a variable says.
struct Told {
  const char* variable;
  std::string text;
};
// The process's number among those of its machine, and how many these are; by this launcher, or by
// one within which that runs. Nothing if none tells.
std::optional<Told> local_rank_of(const Variables& variables);
std::optional<Told> local_world_size_of(const Variables& variables);

// Where rank 0 is met: MASTER_ADDR and MASTER_PORT, or a port that follows from it where torchrun
// itself listens there; or else, by Slurm, the first node of the step and a port that follows from
// its number. Empty: nobody has said.
std::string rendezvous_of(const Variables& variables);

// The first of Slurm's list of nodes: "node7-a" of "node[7-9,12]-a,other".
std::string first_node(const std::string& nodes);

}  // namespace tributary::host
