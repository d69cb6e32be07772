// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/privileges.h"

#include <array>
#include <linux/capability.h>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>
#include <variant>

namespace tributary::dataplane {
namespace {

constexpr std::uint64_t bit(unsigned capability) {
  return std::uint64_t{1} << capability;
}

std::uint64_t needed_for(const control::DeviceConfig& device) {
  using control::InterfaceDevice;
  if (const auto* interface = std::get_if<InterfaceDevice>(&device)) {
    const bool xdp = interface->driver == InterfaceDevice::Driver::af_xdp;
    return bit(CAP_NET_RAW) | bit(CAP_NET_ADMIN) | (xdp ? bit(CAP_BPF) : 0);
  }
  return std::holds_alternative<control::TapDevice>(device) ? bit(CAP_NET_ADMIN) : 0;
}

}  // namespace

std::uint64_t held_capabilities() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets = {};
  if (syscall(SYS_capget, &header, sets.data()) != 0) {
    return ~std::uint64_t{0};  // nobody knows, so it is not what is wrong
  }
  return sets[0].effective | (std::uint64_t{sets[1].effective} << 32);
}

std::string missing_capabilities(const control::DeviceConfig& device, std::uint64_t held) {
  constexpr std::pair<unsigned, std::string_view> names[] = {
      {CAP_NET_RAW, "CAP_NET_RAW"}, {CAP_NET_ADMIN, "CAP_NET_ADMIN"}, {CAP_BPF, "CAP_BPF"}};
  std::string missing;
  for (const auto& [capability, name] : names) {
    if ((needed_for(device) & ~held & bit(capability)) != 0) {
      missing += (missing.empty() ? "" : " and ") + std::string(name);
    }
  }
  return missing;
}

}  // namespace tributary::dataplane
