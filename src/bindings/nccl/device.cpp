// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/nccl/device.h"

#include <optional>
#include <string>

#include "bindings/nccl/interface.h"
#include "bindings/nccl/log.h"

namespace tributary::nccl {
namespace {

constexpr int comms_max = 65536;
// One call takes so much; NCCL cuts what is more.
constexpr std::size_t point_to_point_bytes_max = std::size_t{1} << 30;
constexpr std::size_t collective_bytes_max = std::size_t{1} << 29;

// The device stays as it was found first: NCCL keeps pointers to its names.
const std::optional<Interface>& device() {
  static const auto found = find_interface();
  return found;
}

// Fills in what all versions have.
template <typename Properties>
Result describe_all(int number, Properties& properties) {
  if (number != 0 || !device()) {
    return Result::internal_error;
  }
  properties = {};
  properties.name = device()->name.c_str();
  properties.pci_path = device()->pci_path.empty() ? nullptr : device()->pci_path.c_str();
  properties.guid = device()->address;
  properties.memory = memory_of_host;
  properties.speed_mbps = device()->speed_mbps;
  properties.comms_max = comms_max;
  properties.receives_max = 1;
  return Result::success;
}

}  // namespace

Result begin(Logger logger) {
  log_by(logger);
  if (!device()) {
    warn(
        "this machine has no interface that is up and has an IPv4 address; say which one by "
        "TRIBUTARY_INTERFACE");
    return Result::invalid_usage;
  }
  inform("over " + device()->name);
  return Result::success;
}

Result count_devices(int* count) {
  *count = device() ? 1 : 0;
  return Result::success;
}

Result describe(int number, PropertiesV8* properties) {
  return describe_all(number, *properties);
}

Result describe(int number, PropertiesV9* properties) {
  const auto described = describe_all(number, *properties);
  properties->parts = {1, {number}};
  properties->point_to_point_bytes_max = point_to_point_bytes_max;
  properties->collective_bytes_max = collective_bytes_max;
  return described;
}

Result describe(int number, PropertiesV11* properties) {
  properties->requests_in_one_max = 1;
  return describe(number, &properties->before);
}

Result register_memory(void*, void* data, std::size_t, int memory, void** handle) {
  *handle = nullptr;
  if (memory != memory_of_host) {
    warn("NCCL registers memory of a GPU, and the plugin has said that it takes host memory alone");
    return Result::internal_error;
  }
  *handle = data;
  return Result::success;
}

Result register_dma_buffer(void* comm, void* data, std::size_t bytes, int memory, std::uint64_t,
                           int, void** handle) {
  return register_memory(comm, data, bytes, memory, handle);
}

}  // namespace tributary::nccl
