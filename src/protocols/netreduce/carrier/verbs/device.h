// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "host/error.h"
#include "protocols/netreduce/carrier/verbs/resources.h"
#include "wire/ipv4.h"

namespace tributary::host::verbs {

// This is an RDMA device, with the port and the entry of its GID table that stand for one IPv4
// address.
struct Device {
  Context context;
  std::string name;
  std::uint8_t port = 0;
  std::uint8_t gid_index = 0;
  ibv_mtu mtu_max = IBV_MTU_256;
};

// Opens the device of that name, if it speaks RoCE v2 from `local`.
Result<Device> open_device(const std::string& name, wire::Ipv4Address local);

// Writes an IPv4 address as RoCE v2 does.
ibv_gid gid_of(wire::Ipv4Address address);

}  // namespace tributary::host::verbs
