// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "host/variables.h"

namespace tributary::host {

// The variables by which a launcher tells a process its place in the job.
struct Launcher {
  const char* rank;
  const char* world_size;
};

// Returns the launcher that has started this process, or torchrun's variables if none has.
// Torchrun, or a person who sets its variables, comes before mpirun of Open MPI, mpiexec of MPICH,
// and srun of Slurm: inside an allocation of Slurm the others are started, too.
const Launcher& launcher_of(const Variables& variables);

// What a variable says.
struct Told {
  const char* variable;
  std::string text;
};
// Return the process's number among those of its machine, and how many these are, as this launcher
// tells or one within which it runs; nothing if none tells.
std::optional<Told> local_rank_of(const Variables& variables);
std::optional<Told> local_world_size_of(const Variables& variables);

// Returns where rank 0 is met: at MASTER_ADDR and MASTER_PORT, or at a port that follows from
// MASTER_PORT where torchrun itself listens there; or else, by Slurm, at the first node of the step
// and a port that follows from the step's number. Empty: nobody has said.
std::string rendezvous_of(const Variables& variables);

// Returns the first node of Slurm's list: "node7-a" of "node[7-9,12]-a,other".
std::string first_node(const std::string& nodes);

}  // namespace tributary::host
