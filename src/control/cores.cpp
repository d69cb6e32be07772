// SPDX-License-Identifier: BSD-3-Clause
#include "control/cores.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sched.h>
#include <set>
#include <utility>

#include "control/join.h"

namespace tributary::control {
namespace {

constexpr std::size_t cores_max = 8;

// Returns what a file of the kernel says; no value if it says nothing, or -1 (a device of no node).
std::optional<unsigned> number_in(const std::string& path) {
  int value = -1;
  std::ifstream(path) >> value;
  return value < 0 ? std::nullopt : std::optional(static_cast<unsigned>(value));
}

unsigned node_of(const std::string& cpu_directory) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(cpu_directory, error)) {
    const auto name = entry.path().filename().string();  // such as node1
    if (name.starts_with("node") && name.find_first_not_of("0123456789", 4) == std::string::npos) {
      return static_cast<unsigned>(std::strtoul(name.c_str() + 4, nullptr, 10));
    }
  }
  return 0;
}

std::vector<Cpu> first_threads(const std::vector<Cpu>& cpus) {
  std::vector<Cpu> threads;
  std::set<std::pair<unsigned, unsigned>> cores;
  for (const auto& cpu : cpus) {
    if (cores.emplace(cpu.package, cpu.core).second) {
      threads.push_back(cpu);
    }
  }
  return threads;
}

std::vector<Cpu> on_nodes(const std::vector<Cpu>& cpus, const std::vector<unsigned>& nodes) {
  std::vector<Cpu> near;
  std::copy_if(cpus.begin(), cpus.end(), std::back_inserter(near), [&](const Cpu& cpu) {
    return std::find(nodes.begin(), nodes.end(), cpu.node) != nodes.end();
  });
  return near;
}

// Returns where sysfs describes what the device is attached to; empty for virtual ones.
std::string node_file(const DeviceConfig& device, const std::string& root) {
  if (const auto* pci = std::get_if<PciDevice>(&device)) {
    return root + "/bus/pci/devices/" + pci->address + "/numa_node";
  }
  if (const auto* interface = std::get_if<InterfaceDevice>(&device)) {
    return root + "/class/net/" + interface->interface + "/device/numa_node";
  }
  return {};
}

}  // namespace

Placement place_cores(const std::vector<Cpu>& cpus, const Work& work) {
  if (cpus.empty()) {
    return {{0}, "the system does not say which CPUs there are"};
  }
  Placement placement;
  auto chosen = first_threads(cpus);
  const auto all = chosen.size();
  placement.why = all < cpus.size() ? "one thread of each core" : "all that are allowed";
  if (auto near = on_nodes(chosen, work.nodes); !near.empty()) {
    chosen = std::move(near);
    placement.why += ", on the cards' NUMA node " + join(work.nodes, as_text);
  } else if (!work.nodes.empty()) {
    placement.why += ", none of which is on the cards' NUMA node " + join(work.nodes, as_text);
  }
  if (chosen.size() == all && all > 2) {
    chosen.erase(chosen.begin());
    placement.why += ", but one for everything else";
  }
  const auto most = std::min<std::size_t>(work.cores.value_or(cores_max), cores_max);
  if (chosen.size() > most) {
    chosen.resize(most);
    placement.why += most == cores_max ? ", and no more than 8" : ", and no more than queues";
  }
  for (const auto& cpu : chosen) {
    placement.cpus.push_back(cpu.number);
  }
  return placement;
}

std::vector<Cpu> allowed_cpus(const std::string& root) {
  std::vector<Cpu> cpus;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
    return cpus;
  }
  for (unsigned number = 0; number < CPU_SETSIZE; ++number) {
    if (CPU_ISSET(number, &allowed)) {
      const auto directory = root + "/devices/system/cpu/cpu" + std::to_string(number);
      const auto topology = directory + "/topology/";
      cpus.push_back({number, number_in(topology + "physical_package_id").value_or(0),
                      number_in(topology + "core_id").value_or(number), node_of(directory)});
    }
  }
  return cpus;
}

Work work_of(const DaemonConfig& config, const std::string& root) {
  Work work;
  std::set<unsigned> nodes;
  unsigned queues = 0;
  bool automatic = false;
  for (const auto& section : config.switches) {
    for (const auto& device : section.devices) {
      if (std::holds_alternative<InternalLink>(device)) {
        continue;
      }
      if (const auto node = number_in(node_file(device, root))) {
        nodes.insert(*node);
      }
      queues += queues_of(device);
      automatic = automatic || queues_of(device) == queues_automatic;
    }
  }
  work.nodes.assign(nodes.begin(), nodes.end());
  if (!automatic) {
    work.cores = std::max(queues, 1u);
  }
  return work;
}

std::vector<unsigned> automatic_cores() {
  return place_cores(allowed_cpus(), {}).cpus;
}

}  // namespace tributary::control
