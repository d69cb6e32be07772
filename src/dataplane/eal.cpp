// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/eal.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <unistd.h>
#include <vector>

#include <rte_eal.h>
#include <rte_errno.h>

#include "control/cores.h"
#include "dataplane/driver_files.h"
#include "dataplane/eal_arguments.h"
#include "dataplane/log.h"

namespace tributary::dataplane {
namespace {

std::vector<unsigned> allowed_cpus() {
  std::vector<unsigned> numbers;
  for (const auto& cpu : control::allowed_cpus()) {
    numbers.push_back(cpu.number);
  }
  return numbers;
}

}  // namespace

tl::expected<std::unique_ptr<Eal>, std::string> Eal::start(const control::DaemonConfig& config,
                                                           const MemoryPlan& memory) {
  const auto cpus = allowed_cpus();
  for (const auto core : config.cores) {
    if (std::find(cpus.begin(), cpus.end(), core) == cpus.end()) {
      return tl::unexpected("daemon.cores: this process may not use CPU " + std::to_string(core) +
                            "; it may use " + fmt::format("{}", fmt::join(cpus, ", ")));
    }
  }
  if (auto enough = check_memory(memory, available_megabytes()); !enough) {
    return tl::unexpected(enough.error());
  }
  redirect_eal_log();
  auto arguments = eal_arguments(config, memory, cpus, std::to_string(getpid()));
  const auto drivers = driver_files(config, RTE_EAL_PMD_PATH);
  for (const auto& file : drivers) {
    arguments.insert(arguments.end(), {"-d", file});
  }
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (auto& argument : arguments) {
    argv.push_back(argument.data());
  }
  argv.push_back(nullptr);
  if (!drivers.empty()) {
    hide_once(RTE_EAL_PMD_PATH);
  }
  const bool initialised = rte_eal_init(static_cast<int>(arguments.size()), argv.data()) >= 0;
  const int error = rte_errno;
  // Nothing lives in it without shared configuration, and nobody removes it after SIGKILL.
  rmdir(rte_eal_get_runtime_dir());
  if (!initialised) {
    return tl::unexpected(
        std::string("DPDK did not start: ") + rte_strerror(error) +
        (memory.hugepages ? "; set daemon.hugepages = \"never\" or provide more huge pages" : "") +
        "; log_level = \"debug\" shows its messages");
  }
  return std::unique_ptr<Eal>(new Eal());
}

}  // namespace tributary::dataplane
