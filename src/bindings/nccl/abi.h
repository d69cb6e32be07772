// SPDX-License-Identifier: BSD-3-Clause
// NCCL and its network plugins agree on this, in our words: the numbers and the layouts that NVIDIA
// publishes with NCCL (github.com/NVIDIA/nccl: src/nccl.h.in, src/include/nccl_common.h, net_v8.h
// to net_v11.h in src/include/plugin/net). Only what this plugin has to do with is here.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tributary::nccl {

enum class Result : int {
  success = 0,
  system_error = 2,
  internal_error = 3,  // NCCL calls in a way that the plugin does not have
  invalid_usage = 5,
  remote_error = 6,  // another rank went away
};

// These are the types of elements, and what is done with them. NCCL makes averages of sums.
enum class Type : int {
  i8 = 0,
  u8 = 1,
  i32 = 2,
  u32 = 3,
  i64 = 4,
  u64 = 5,
  f16 = 6,
  f32 = 7,
  f64 = 8,
  bf16 = 9,
  f8e4m3 = 10,
  f8e5m2 = 11,
};
enum class Operator : int { sum = 0, prod = 1, max = 2, min = 3 };

enum class LogLevel : int { warn = 2, info = 3 };
inline constexpr unsigned long log_of_network = 0x10;
using Logger = void (*)(LogLevel level, unsigned long subsystems, const char* file, int line,
                        const char* format, ...);

// These are kinds of memory, and sets of them.
inline constexpr int memory_of_host = 1;

inline constexpr std::size_t handle_bytes_max = 128;

struct PropertiesV8 {
  const char* name;      // one name means one device, of point-to-point and of collectives
  const char* pci_path;  // null: there is none
  std::uint64_t guid;
  int memory;  // kinds that can be registered
  int is_registered_for_all;
  int speed_mbps;
  int port;
  float latency_us;
  int comms_max;
  int receives_max;  // in one call
  int offload;       // to a device: 0 is none
  int offload_version;
};
static_assert(offsetof(PropertiesV8, memory) == 24 && sizeof(PropertiesV8) == 64);

struct VirtualDevice {
  int count;
  int devices[4];
};

// Version 10 has the same.
struct PropertiesV9 {
  const char* name;
  const char* pci_path;
  std::uint64_t guid;
  int memory;
  int is_registered_for_all;
  int must_flush;
  int speed_mbps;
  int port;
  float latency_us;
  int comms_max;
  int receives_max;
  int offload;
  int offload_version;
  VirtualDevice parts;
  std::size_t point_to_point_bytes_max;
  std::size_t collective_bytes_max;
};
static_assert(offsetof(PropertiesV9, parts) == 64 && sizeof(PropertiesV9) == 104);

struct PropertiesV11 {
  PropertiesV9 before;
  int requests_in_one_max;
};
static_assert(sizeof(PropertiesV11) == 112);

struct PartV8 {
  void* memory;  // as registered
  void* address;
  std::uint32_t bytes;
};
struct PartV9 {
  void* memory;
  void* address;
  std::size_t bytes;
};
static_assert(sizeof(PartV8) == 24 && sizeof(PartV9) == 24);

// The tables of all versions have this behind what differs.
template <typename Count, typename Part>
struct Collectives {
  Result (*connect)(void* handles[], int ranks, int rank, void* listener, void** comm);
  Result (*reduce_support)(Type type, Operator op, int* supported);
  Result (*register_memory)(void* comm, void* data, std::size_t bytes, int memory, void** handle);
  Result (*register_dma_buffer)(void* comm, void* data, std::size_t bytes, int memory,
                                std::uint64_t offset, int fd, void** handle);
  Result (*deregister_memory)(void* comm, void* handle);
  Result (*iallreduce)(void* comm, void* in, void* out, Count count, Type type, Operator op,
                       void* in_memory, void* out_memory, void** request);
  Result (*iallgather)(void* comm, void* in, int part_count, Part* parts,
                       std::size_t bytes_per_rank, std::size_t window_offset,
                       std::size_t window_bytes, void* in_memory, void** request);
  Result (*ireduce_scatter)(void* comm, int part_count, Part* parts, void* out,
                            std::size_t bytes_per_rank, std::size_t window_offset,
                            std::size_t window_bytes, Type type, Operator op, void* out_memory,
                            void** request);
  Result (*iflush)(void* comm, void* data, int bytes, void* memory, void** request);
  Result (*test)(void* request, int* done, int* bytes);
  Result (*close_comm)(void* comm);
  Result (*close_listener)(void* listener);
};

struct CollectiveNetworkV8 {
  const char* name;
  Result (*init)(Logger logger);
  Result (*devices)(int* count);
  Result (*properties)(int device, PropertiesV8* properties);
  Result (*listen)(int device, void* handle, void** listener);
  Collectives<int, PartV8> collectives;
};

// Version 10 has the same.
struct CollectiveNetworkV9 {
  const char* name;
  Result (*init)(Logger logger);
  Result (*devices)(int* count);
  Result (*properties)(int device, PropertiesV9* properties);
  Result (*listen)(int device, void* handle, void** listener);
  Collectives<std::size_t, PartV9> collectives;
  Result (*make_virtual_device)(int* device, VirtualDevice* parts);  // null: there are none
};

struct CollectiveNetworkV11 {
  const char* name;
  Result (*init)(void** context, std::uint64_t communicator, Logger logger);
  Result (*devices)(int* count);
  Result (*properties)(int device, PropertiesV11* properties);
  Result (*listen)(void* context, int device, void* handle, void** listener);
  Collectives<std::size_t, PartV9> collectives;
  Result (*make_virtual_device)(int* device, VirtualDevice* parts);
  Result (*finalize)(void* context);
};

// This table is for messages from point to point.
struct NetworkV8 {
  const char* name;
  Result (*init)(Logger logger);
  Result (*devices)(int* count);
  Result (*properties)(int device, PropertiesV8* properties);
  Result (*listen)(int device, void* handle, void** listener);
  // Null in *comm means: not yet, call again.
  Result (*connect)(int device, void* handle, void** comm, void** device_comm);
  Result (*accept)(void* listener, void** comm, void** device_comm);
  Result (*register_memory)(void* comm, void* data, std::size_t bytes, int memory, void** handle);
  Result (*register_dma_buffer)(void* comm, void* data, std::size_t bytes, int memory,
                                std::uint64_t offset, int fd, void** handle);
  Result (*deregister_memory)(void* comm, void* handle);
  // Null in *request means: not now, call again.
  Result (*isend)(void* comm, void* data, int bytes, int tag, void* memory, void** request);
  Result (*ireceive)(void* comm, int count, void** data, int* bytes, int* tags, void** memories,
                     void** request);
  Result (*iflush)(void* comm, int count, void** data, int* bytes, void** memories, void** request);
  Result (*test)(void* request, int* done, int* bytes);
  Result (*close_send)(void* comm);
  Result (*close_receive)(void* comm);
  Result (*close_listener)(void* listener);
  Result (*device_memory)(void* comm, void* memory, void** of_device);
  Result (*receive_consumed)(void* comm, int count, void* request);
};

}  // namespace tributary::nccl
