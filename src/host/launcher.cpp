// SPDX-License-Identifier: BSD-3-Clause
#include "host/launcher.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "host/text.h"

namespace tributary::host {
namespace {

constexpr std::array launchers = {
    Launcher{"RANK", "WORLD_SIZE"},
    Launcher{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    Launcher{"PMI_RANK", "PMI_SIZE"},
    Launcher{"SLURM_PROCID", "SLURM_NTASKS"},
};
// Of these launchers; what speaks PMI need not be MPICH.
constexpr const char* local_ranks[] = {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
                                       "MPI_LOCALRANKID", "SLURM_LOCALID"};
constexpr const char* local_world_sizes[] = {"LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE",
                                             "MPI_LOCALNRANKS", "SLURM_STEP_TASKS_PER_NODE"};

std::optional<Told> first_of(const Variables& variables, std::span<const char* const> names) {
  for (const auto* name : names) {
    if (auto text = variables.find(name)) {
      return Told{name, std::move(*text)};
    }
  }
  return std::nullopt;
}

// Below those that Linux gives to connections.
constexpr std::uint32_t slurm_port_first = 20000;
constexpr std::uint32_t slurm_ports = 10000;

// Steps of one job may run beside each other, and a job's local ranks take a port each.
constexpr std::uint32_t ports_of_step = 80;

std::uint32_t port_of_step(const Variables& variables) {
  const auto number = [&](const char* name) {
    return number_of(variables.find(name).value_or("0")).value_or(0);
  };
  const auto step = number("SLURM_JOB_ID") * 16 + number("SLURM_STEP_ID");
  return slurm_port_first + step * ports_of_step % slurm_ports;
}

}  // namespace

const Launcher& launcher_of(const Variables& variables) {
  const auto* const found = std::ranges::find_if(launchers, [&](const Launcher& one) {
    return variables.find(one.rank) && variables.find(one.world_size);
  });
  return found == launchers.end() ? launchers.front() : *found;
}

std::optional<Told> local_rank_of(const Variables& variables) {
  return first_of(variables, local_ranks);
}

// Slurm's has of the first machine how many others have as many: "4(x2)".
std::optional<Told> local_world_size_of(const Variables& variables) {
  auto told = first_of(variables, local_world_sizes);
  if (told) {
    told->text.resize(std::min(told->text.find_first_of("(,"), told->text.size()));
  }
  return told;
}

std::string rendezvous_of(const Variables& variables) {
  const auto address = variables.find("MASTER_ADDR");
  const auto port = variables.find("MASTER_PORT");
  if (address && port) {
    return *address + ":" + *port;
  }
  const auto nodes = variables.find("SLURM_STEP_NODELIST");
  if (!nodes || address || port) {
    return "";
  }
  return first_node(*nodes) + ":" + std::to_string(port_of_step(variables));
}

std::string first_node(const std::string& nodes) {
  const auto stem = nodes.substr(0, nodes.find_first_of("[,"));
  if (stem.size() == nodes.size() || nodes[stem.size()] == ',') {
    return stem;
  }
  const auto numbers = nodes.substr(stem.size() + 1);
  return stem + numbers.substr(0, numbers.find_first_of("-,]"));
}

}  // namespace tributary::host
