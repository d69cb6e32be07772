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
// All of these are looked for, since a launcher that speaks PMI need not be MPICH.
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

std::uint32_t told_number(const Variables& variables, const char* name) {
  return number_of(variables.find(name).value_or("0")).value_or(0);
}

// The ports are below those that Linux gives to connections.
constexpr std::uint32_t port_first = 20000;
constexpr std::uint32_t ports = 10000;

// Jobs run beside each other, and the local ranks of one take a port each.
constexpr std::uint32_t ports_of_job = 80;

// Returns the port that follows from a job's number.
std::string port_of(std::uint32_t job) {
  return std::to_string(port_first + job % (ports / ports_of_job) * ports_of_job);
}

std::uint32_t step_number(const Variables& variables) {
  return told_number(variables, "SLURM_JOB_ID") * 16 + told_number(variables, "SLURM_STEP_ID");
}

// Returns the tasks of one node by Slurm's list for the nodes of a step, such as "4(x2),1"; the
// tasks of the first node if the list is shorter.
std::string tasks_of_node(const std::string& list, std::uint32_t node) {
  std::string first;
  for (const auto& part : list_of(list)) {
    const auto times_at = part.find("(x");
    const auto tasks = part.substr(0, times_at);
    const auto times = times_at == std::string::npos
                           ? "1"
                           : part.substr(times_at + 2, part.find(')') - times_at - 2);
    const auto nodes = number_of(times).value_or(0);
    if (node < nodes) {
      return tasks;
    }
    node -= nodes;
    first = first.empty() ? tasks : first;
  }
  return first;
}

// Torchrun has its own agent listen at the environment's MASTER_PORT.
bool is_port_of_agent(const Variables& variables) {
  return variables.find("TORCHELASTIC_USE_AGENT_STORE") == "True" &&
         !variables.is_set_here("MASTER_PORT");
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

std::optional<Told> local_world_size_of(const Variables& variables) {
  auto told = first_of(variables, local_world_sizes);
  if (told) {
    told->text = tasks_of_node(told->text, told_number(variables, "SLURM_NODEID"));
  }
  return told;
}

std::string rendezvous_of(const Variables& variables) {
  const auto address = variables.find("MASTER_ADDR");
  const auto port = variables.find("MASTER_PORT");
  if (address && port) {
    const auto number = number_of(*port);
    const bool is_bare_ipv6 = address->find(':') != std::string::npos && !address->starts_with('[');
    const auto host = is_bare_ipv6 ? "[" + *address + "]" : *address;
    return host + ":" + (number && is_port_of_agent(variables) ? port_of(*number) : *port);
  }
  const auto nodes = variables.find("SLURM_STEP_NODELIST");
  if (!nodes || address || port) {
    return "";
  }
  return first_node(*nodes) + ":" + port_of(step_number(variables));
}

std::string first_node(const std::string& nodes) {
  const auto stem = nodes.substr(0, nodes.find_first_of("[,"));
  if (stem.size() == nodes.size() || nodes[stem.size()] == ',') {
    return stem;
  }
  const auto numbers = nodes.substr(stem.size() + 1);
  const auto end = numbers.find(']');
  const auto rest = end == std::string::npos ? "" : first_node(numbers.substr(end + 1));
  return stem + numbers.substr(0, numbers.find_first_of("-,]")) + rest;
}

}  // namespace tributary::host
