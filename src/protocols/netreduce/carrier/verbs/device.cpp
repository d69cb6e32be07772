// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/carrier/verbs/device.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "host/job.h"
#include "host/transport/address.h"

namespace tributary::host::verbs {
namespace {

constexpr std::size_t gids_max = 1024;
// A queue pair names its entry of the GID table by eight bits.
constexpr std::uint32_t gid_index_max = 0xff;

std::string names(std::span<ibv_device*> devices) {
  std::string text;
  for (auto* device : devices) {
    text += (text.empty() ? "" : ", ") + std::string(ibv_get_device_name(device));
  }
  return text.empty() ? "there is none" : "there is " + text;
}

Result<Context> open_context(const std::string& name) {
  int count = 0;
  const Devices list(ibv_get_device_list(&count));
  const std::span devices(list.get(), list ? static_cast<std::size_t>(count) : 0);
  const auto found = std::find_if(devices.begin(), devices.end(), [&](auto* device) {
    return name == ibv_get_device_name(device);
  });
  if (found == devices.end()) {
    return fail(Error::Code::invalid_argument,
                "no RDMA device '" + name + "' (" + names(devices) +
                    "); 'rdma link' lists them (TRIBUTARY_RDMA_DEVICE)");
  }
  Context context(ibv_open_device(*found));
  if (!context) {
    return fail(Error::Code::network, errno_text("cannot open the RDMA device " + name));
  }
  return context;
}

std::optional<ibv_gid_entry> find_gid(ibv_context& context, const ibv_gid& wanted) {
  std::vector<ibv_gid_entry> table(gids_max);
  const auto count = ibv_query_gid_table(&context, table.data(), table.size(), 0);
  table.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
  const auto found = std::find_if(table.begin(), table.end(), [&](const auto& entry) {
    return entry.gid_type == IBV_GID_TYPE_ROCE_V2 && entry.gid_index <= gid_index_max &&
           std::memcmp(&entry.gid, &wanted, sizeof wanted) == 0;
  });
  return found == table.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

ibv_gid gid_of(wire::Ipv4Address address) {
  ibv_gid gid{};
  gid.raw[10] = gid.raw[11] = 0xff;
  std::memcpy(gid.raw + 12, &address, sizeof address);
  return gid;
}

Result<Device> open_device(const std::string& name, wire::Ipv4Address local) {
  auto context = open_context(name);
  if (!context) {
    return tl::make_unexpected(context.error());
  }
  const auto gid = find_gid(**context, gid_of(local));
  if (!gid) {
    return fail(Error::Code::invalid_argument,
                "the RDMA device " + name + " has no RoCE v2 GID of " + to_string(local) +
                    ": it belongs to another interface or address (TRIBUTARY_LOCAL_ADDRESS), or "
                    "speaks RoCE v1 or InfiniBand only");
  }
  ibv_port_attr port{};
  if (const int error =
          ibv_query_port(context->get(), static_cast<std::uint8_t>(gid->port_num), &port);
      error != 0 || port.state != IBV_PORT_ACTIVE) {
    return fail(Error::Code::network, "port " + std::to_string(gid->port_num) +
                                          " of the RDMA device " + name +
                                          " is not active: is its network interface up?");
  }
  return Device{std::move(*context), name, static_cast<std::uint8_t>(gid->port_num),
                static_cast<std::uint8_t>(gid->gid_index), port.active_mtu};
}

}  // namespace tributary::host::verbs
