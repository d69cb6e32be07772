// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "bindings/nccl/abi.h"

// There is one device, an interface of this machine: the same for collectives and from point to
// point.
namespace tributary::nccl {

inline constexpr auto network_name = "Tributary";

// Returns an error, and warns, if there is no interface: NCCL goes on without us.
Result begin(Logger logger);
Result count_devices(int* count);

Result describe(int device, PropertiesV8* properties);
Result describe(int device, PropertiesV9* properties);
Result describe(int device, PropertiesV11* properties);

// Host memory is used as it is: there is nothing to do, and nothing to give back.
Result register_memory(void* comm, void* data, std::size_t bytes, int memory, void** handle);
Result register_dma_buffer(void* comm, void* data, std::size_t bytes, int memory,
                           std::uint64_t offset, int fd, void** handle);

}  // namespace tributary::nccl
