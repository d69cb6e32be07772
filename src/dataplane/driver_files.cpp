// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/driver_files.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <string_view>

#include "dataplane/device_arguments.h"

namespace tributary::dataplane {
namespace {

// The bus of virtual devices, our buffers' and the drivers' own free lists.
constexpr std::array always = {"bus_vdev", "mempool_stack", "mempool_ring"};

constinit std::atomic<const char*> hidden{nullptr};

bool is_on_pci_or_raw(const control::DeviceConfig& device) {
  return std::holds_alternative<control::PciDevice>(device) ||
         std::holds_alternative<control::RawDevice>(device);
}

// Devices are called after their drivers: "net_tap0".
std::string driver_of(const control::DeviceConfig& device) {
  if (std::holds_alternative<control::VirtioUserDevice>(device)) {
    return "net_virtio";
  }
  const auto made = device_arguments(device, 0, DeviceNeeds{});
  return made && *made ? (*made)->name.substr(0, (*made)->name.size() - 1) : "";
}

// Returns the file's name, which ends with one or two versions where DPDK's headers are not
// installed; nothing if there is no such driver.
std::string file_of(std::string_view driver, const std::string& directory) {
  const auto beginning = "librte_" + std::string(driver) + ".so";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (entry.path().filename().string().starts_with(beginning)) {
      return entry.path();
    }
  }
  return "";
}

}  // namespace

std::vector<std::string> driver_files(const control::DaemonConfig& config,
                                      const std::string& directory) {
  std::vector<std::string> drivers(always.begin(), always.end());
  for (const auto& section : config.switches) {
    for (const auto& device : section.devices) {
      if (is_on_pci_or_raw(device)) {
        return {};
      }
      drivers.push_back(driver_of(device));
    }
  }
  std::sort(drivers.begin(), drivers.end());
  drivers.erase(std::unique(drivers.begin(), drivers.end()), drivers.end());
  std::vector<std::string> files;
  for (const auto& driver : drivers) {
    if (driver.empty()) {
      continue;  // an internal link, or a device that is refused when it is opened
    }
    files.push_back(file_of(driver, directory));
    if (files.back().empty()) {
      return {};
    }
  }
  return files;
}

void hide_once(const char* directory) {
  hidden = directory;
}

int stat_what_is_shown(const char* file, struct stat64* status) {
  const char* const name = hidden;
  if (name != nullptr && std::string_view(file) == name) {
    hidden = nullptr;
    errno = ENOENT;
    return -1;
  }
  return fstatat64(AT_FDCWD, file, status, 0);
}

}  // namespace tributary::dataplane

// This function takes the place of libc's for this program and all of its libraries, as munmap()
// does in driver_memory.cpp: the EAL calls it.
extern "C" int stat64(const char* file, struct stat64* status) noexcept {
  return tributary::dataplane::stat_what_is_shown(file, status);
}
