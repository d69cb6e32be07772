// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/nccl/interface.h"

#include <arpa/inet.h>
#include <cstdlib>
#include <fstream>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netinet/in.h>
#include <string_view>

namespace tributary::nccl {
namespace {

constexpr int speed_unknown_mbps = 10000;

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

std::uint32_t address_of(const ifaddrs& one) {
  return ntohl(reinterpret_cast<const sockaddr_in*>(one.ifa_addr)->sin_addr.s_addr);
}

bool is_wanted(const ifaddrs& one) {
  const auto address = variable("TRIBUTARY_LOCAL_ADDRESS");
  const auto name = variable("TRIBUTARY_INTERFACE");
  if (!address.empty()) {
    in_addr wanted{};
    return ::inet_aton(std::string(address).c_str(), &wanted) != 0 &&
           ntohl(wanted.s_addr) == address_of(one);
  }
  if (!name.empty()) {
    return name == one.ifa_name;
  }
  return (one.ifa_flags & IFF_UP) != 0 && (one.ifa_flags & IFF_LOOPBACK) == 0;
}

int speed_of(const std::string& name) {
  int speed_mbps = 0;
  std::ifstream("/sys/class/net/" + name + "/speed") >> speed_mbps;
  return speed_mbps > 0 ? speed_mbps : speed_unknown_mbps;
}

std::string pci_path_of(const std::string& name) {
  const std::unique_ptr<char, decltype(&std::free)> path(
      ::realpath(("/sys/class/net/" + name + "/device").c_str(), nullptr), &std::free);
  return path == nullptr ? "" : path.get();
}

Interface described(const ifaddrs& one) {
  const std::string name = one.ifa_name;
  return {name, address_of(one), pci_path_of(name), speed_of(name)};
}

}  // namespace

std::optional<Interface> find_interface() {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) {
    return std::nullopt;
  }
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(all, &::freeifaddrs);
  for (const auto* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr != nullptr && one->ifa_addr->sa_family == AF_INET && is_wanted(*one)) {
      return described(*one);
    }
  }
  return std::nullopt;
}

}  // namespace tributary::nccl
