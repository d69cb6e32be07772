// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/memory_plan.h"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "control/protocol_section.h"

namespace tributary::dataplane {
namespace {

// In a slot of a packet socket, tpacket2_hdr, sockaddr_ll and alignment stand before a frame
// (packet(7)); an Ethernet header and a VLAN tag belong to the frame.
constexpr std::uint32_t slot_header_bytes = 96;
constexpr std::uint32_t frame_header_bytes = 14 + 4;
constexpr std::uint32_t slot_bytes_min = 2048;

constexpr std::uint32_t headroom_bytes = 128;       // RTE_PKTMBUF_HEADROOM
constexpr std::uint32_t mbuf_overhead_bytes = 320;  // rte_mbuf, private area, object header
constexpr std::uint32_t stack_element_bytes = 16;   // of the stack that keeps the free ones
constexpr std::uint64_t base_megabytes = 16;        // ethdev, rings, mempool caches
constexpr std::uint64_t megabytes_per_queue = 1;
constexpr std::uint64_t megabytes_per_core = 2;

template <typename Device>
bool has_a(const control::DaemonConfig& config) {
  return std::any_of(config.switches.begin(), config.switches.end(), [](const auto& section) {
    return std::any_of(section.devices.begin(), section.devices.end(),
                       [](const auto& device) { return std::holds_alternative<Device>(device); });
  });
}

}  // namespace

std::uint64_t free_hugepage_megabytes(const char* root) {
  std::uint64_t kilobytes = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(root, error)) {
    const auto name = entry.path().filename().string();  // such as hugepages-2048kB
    const auto dash = name.find('-');
    if (dash == std::string::npos) {
      continue;
    }
    std::uint64_t pages = 0;
    std::ifstream(entry.path() / "free_hugepages") >> pages;
    kilobytes += pages * std::strtoull(name.c_str() + dash + 1, nullptr, 10);
  }
  return kilobytes / 1024;
}

std::uint16_t largest_mtu(const control::DaemonConfig& config) {
  std::uint16_t mtu = 1500;
  for (const auto& section : config.switches) {
    for (const auto& port : section.config.ports) {
      mtu = std::max(mtu, port.mtu);
    }
  }
  return mtu;
}

std::uint32_t slot_bytes_for(std::uint16_t mtu) {
  return std::max(slot_bytes_min, std::bit_ceil(mtu + frame_header_bytes + slot_header_bytes));
}

std::uint32_t packets_of(const control::DaemonConfig& config) {
  auto packets = config.packets;
  for (const auto& section : config.switches) {
    control::for_each_on(section.config.protocols, [&](const auto& protocol, const auto& settings) {
      packets += protocol.packets == nullptr ? 0 : protocol.packets(settings);
    });
  }
  return packets;
}

MemoryPlan plan_memory(const control::DaemonConfig& config, std::uint64_t hugepage_megabytes_free) {
  MemoryPlan plan;
  plan.packets = packets_of(config);
  plan.slot_bytes = slot_bytes_for(largest_mtu(config));
  plan.buffer_bytes = plan.slot_bytes + headroom_bytes;
  std::uint64_t queues = 0;
  for (const auto& section : config.switches) {
    for (const auto& device : section.devices) {
      const auto given = control::queues_of(device);
      queues += given == control::queues_automatic ? config.cores.size() : given;
    }
  }
  const std::uint64_t pool_bytes =
      std::uint64_t{plan.packets} * (plan.buffer_bytes + mbuf_overhead_bytes);
  const std::uint64_t stack_bytes = std::uint64_t{plan.packets} * stack_element_bytes;
  const auto pool_megabytes = static_cast<std::uint32_t>((pool_bytes >> 20) + 1);
  const auto megabytes = static_cast<std::uint32_t>(base_megabytes + (stack_bytes >> 20) +
                                                    queues * megabytes_per_queue +
                                                    config.cores.size() * megabytes_per_core);
  plan.hugepages = config.hugepages == control::Hugepages::always ||
                   (config.hugepages == control::Hugepages::automatic &&
                    hugepage_megabytes_free >= megabytes + pool_megabytes);
  plan.shared = has_a<control::VirtioUserDevice>(config);
  // Cards and backends know the EAL's memory only, and raw arguments may be about either. Most of a
  // large buffer is never used, and not resident as long as pages are small.
  const bool own = !plan.hugepages && !plan.shared && !has_a<control::PciDevice>(config) &&
                   !has_a<control::RawDevice>(config) && plan.slot_bytes == slot_bytes_min;
  plan.own_megabytes = own ? pool_megabytes : 0;
  plan.megabytes = megabytes + (own ? 0 : pool_megabytes);
  return plan;
}

std::optional<std::uint64_t> available_megabytes(const char* file) {
  std::ifstream lines(file);
  std::string key;
  std::uint64_t kilobytes = 0;
  for (std::string line; std::getline(lines, line);) {
    if (std::istringstream words(line); words >> key >> kilobytes && key == "MemAvailable:") {
      return kilobytes / 1024;
    }
  }
  return std::nullopt;
}

tl::expected<void, std::string> check_memory(const MemoryPlan& plan,
                                             std::optional<std::uint64_t> megabytes_available) {
  const auto megabytes = plan.megabytes + plan.own_megabytes;
  if (plan.hugepages || !megabytes_available || megabytes <= *megabytes_available) {
    return {};
  }
  return tl::unexpected(std::to_string(plan.packets) + " buffers of " +
                        std::to_string(plan.buffer_bytes) + " bytes need " +
                        std::to_string(megabytes) + " MiB of memory, and there are " +
                        std::to_string(*megabytes_available) + "; make daemon.packets smaller");
}

}  // namespace tributary::dataplane
