// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/eal_arguments.h"

#include <cstddef>

namespace tributary::dataplane {
namespace {

std::vector<std::string> pci_addresses(const control::DaemonConfig& config) {
  std::vector<std::string> addresses;
  for (const auto& section : config.switches) {
    for (const auto& device : section.devices) {
      if (const auto* pci = std::get_if<control::PciDevice>(&device)) {
        addresses.push_back(pci->address);
      }
    }
  }
  return addresses;
}

std::string lcore_map(const std::vector<unsigned>& cores,
                      const std::vector<unsigned>& control_cpus) {
  std::string map = "0@(";
  for (std::size_t i = 0; i < control_cpus.size(); ++i) {
    map += (i == 0 ? "" : ",") + std::to_string(control_cpus[i]);
  }
  map += ")";
  for (std::size_t i = 0; i < cores.size(); ++i) {
    map += "," + std::to_string(i + 1) + "@" + std::to_string(cores[i]);
  }
  return map;
}

}  // namespace

std::vector<std::string> eal_arguments(const control::DaemonConfig& config,
                                       const MemoryPlan& memory,
                                       const std::vector<unsigned>& control_cpus,
                                       const std::string& instance) {
  std::vector<std::string> arguments = {"tributaryd",
                                        "--no-telemetry",
                                        "--no-shconf",
                                        "--file-prefix=tributary-" + instance,
                                        "--lcores=" + lcore_map(config.cores, control_cpus),
                                        "--main-lcore=0",
                                        "--log-level=*:notice"};
  if (memory.hugepages) {
    arguments.push_back("--in-memory");
    if (memory.shared) {
      // A vhost-user backend maps at most eight files, and each huge page would be one.
      arguments.push_back("--single-file-segments");
    }
  } else {
    // Without huge pages the EAL refuses --in-memory, but leaves no file behind either. Its memory
    // is one file without a name (memfd_create(2)), which a backend can map.
    arguments.insert(arguments.end(), {"--no-huge", "-m", std::to_string(memory.megabytes)});
  }
  const auto pci = pci_addresses(config);
  if (pci.empty()) {
    arguments.insert(arguments.end(), {"--no-pci", "--iova-mode=va"});
  }
  for (const auto& address : pci) {
    arguments.push_back("--allow=" + address);
  }
  return arguments;
}

}  // namespace tributary::dataplane
