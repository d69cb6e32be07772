// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/device_arguments.h"

#include <algorithm>
#include <bit>

#include "control/protocol_section.h"
#include "dataplane/memory_plan.h"
#include "forwarding/flow_plan.h"

namespace tributary::dataplane {
namespace {

using control::InterfaceDevice;
using Result = tl::expected<std::optional<DeviceArguments>, std::string>;

template <typename... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <typename... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

// The ring has so many frames in each direction; blocks of the kernel's memory have to be full.
std::string packet_socket_ring(std::uint16_t mtu, std::uint32_t frames) {
  const auto slot = slot_bytes_for(mtu);
  const auto block = std::max<std::uint32_t>(slot, 65536);
  const auto slots = std::bit_ceil(frames);
  return ",blocksz=" + std::to_string(block) + ",framesz=" + std::to_string(slot) +
         ",framecnt=" + std::to_string(slots);
}

// A packet socket has at most so many, in 128 MiB of slots for an MTU of 9000.
constexpr std::uint64_t frames_max = 8192;

// AF_XDP keeps a frame, 256 bytes of its own and our headroom in one page.
constexpr std::uint16_t af_xdp_mtu_max = 3400;

std::string queue_count(std::uint16_t queues, const DeviceNeeds& needs) {
  return std::to_string(queues == control::queues_automatic ? needs.cores : queues);
}

Result interface_arguments(const InterfaceDevice& device, const std::string& suffix,
                           const DeviceNeeds& needs) {
  const auto queues = queue_count(device.queues, needs);
  if (device.driver == InterfaceDevice::Driver::af_packet) {
    return DeviceArguments{"vdev", "net_af_packet" + suffix,
                           "iface=" + device.interface + ",qpairs=" + queues + ",qdisc_bypass=1" +
                               packet_socket_ring(needs.mtu, needs.frames)};
  }
  if (needs.mtu > af_xdp_mtu_max) {
    return tl::unexpected("driver \"af_xdp\" carries an MTU of at most " +
                          std::to_string(af_xdp_mtu_max) + ", not " + std::to_string(needs.mtu) +
                          "; use driver = \"af_packet\" or a smaller mtu");
  }
  return DeviceArguments{"vdev", "net_af_xdp" + suffix,
                         "iface=" + device.interface + ",queue_count=" + queues};
}

std::string pcap_arguments(const control::PcapDevice& device) {
  std::string arguments;
  const auto add = [&](const std::string& argument) {
    arguments += (arguments.empty() ? "" : ",") + argument;
  };
  for (const auto& file : device.rx) {
    add("rx_pcap=" + file);
  }
  if (!device.tx.empty()) {
    add("tx_pcap=" + device.tx);
  }
  if (device.infinite) {
    add("infinite_rx=1");
  }
  return arguments;
}

DeviceArguments memif_arguments(const control::MemifDevice& device, const std::string& suffix,
                                std::uint16_t mtu) {
  return {"vdev", "net_memif" + suffix,
          "role=" + std::string(device.server ? "server" : "client") +
              ",id=" + std::to_string(device.id) + ",socket=" + device.socket +
              ",socket-abstract=no,bsize=" + std::to_string(slot_bytes_for(mtu))};
}

DeviceArguments vhost_arguments(const control::VhostDevice& device, const std::string& suffix,
                                const DeviceNeeds& needs) {
  return {"vdev", "net_vhost" + suffix,
          "iface=" + device.socket + ",queues=" + queue_count(device.queues, needs) +
              ",client=" + (device.server ? "0" : "1")};
}

// A port has an address of its own; without this one the driver would warn that it had to invent
// one.
constexpr const char* unseen_mac = "02:00:00:00:00:01";

Result virtio_user_arguments(const control::VirtioUserDevice& device, const std::string& suffix,
                             const DeviceNeeds& needs) {
  const bool automatic = device.queues == control::queues_automatic;
  const auto queues = automatic ? needs.cores : device.queues;
  if (queues > control::virtio_user_queues_max) {
    return tl::unexpected("a virtio_user has at most " +
                          std::to_string(control::virtio_user_queues_max) + " queues, not " +
                          std::to_string(queues) + (automatic ? ", one for each packet core" : "") +
                          "; write queues = N at both ends");
  }
  return DeviceArguments{"vdev", "net_virtio_user" + suffix,
                         "path=" + device.socket + ",queues=" + std::to_string(queues) +
                             ",queue_size=512,mac=" + unseen_mac};
}

// The name ends at the first comma: "net_null0,size=64".
DeviceArguments raw_arguments(const control::RawDevice& device) {
  const auto comma = device.arguments.find(',');
  return {"vdev", device.arguments.substr(0, comma),
          comma == std::string::npos ? "" : device.arguments.substr(comma + 1)};
}

}  // namespace

std::uint32_t frames_at_once(const switching::SwitchConfig& config,
                             const forwarding::PortConfig& port) {
  std::uint64_t frames = 0;
  control::for_each_on(config.protocols, [&](const auto& protocol, const auto& settings) {
    frames += protocol.frames_at_once == nullptr ? 0 : protocol.frames_at_once(settings);
  });
  if (port.flow.mode != forwarding::FlowControl::off) {
    const auto half_a_second = forwarding::line_rate(port) / 8 / 2;
    frames = std::max<std::uint64_t>(frames, half_a_second / port.mtu);
  }
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(frames, DeviceNeeds::frames_usual, frames_max));
}

Result device_arguments(const control::DeviceConfig& device, unsigned number,
                        const DeviceNeeds& needs) {
  const auto suffix = std::to_string(number);
  return std::visit(
      Overloaded{
          [&](const InterfaceDevice& d) { return interface_arguments(d, suffix, needs); },
          [&](const control::TapDevice& d) -> Result {
            if (needs.mtu > 1500) {
              return tl::unexpected(std::string(
                  "a TAP carries an mtu of at most 1500; use a smaller mtu, or an interface = "
                  "on a veth pair"));
            }
            return DeviceArguments{"vdev", "net_tap" + suffix, "iface=" + d.interface};
          },
          [&](const control::MemifDevice& d) -> Result {
            return memif_arguments(d, suffix, needs.mtu);
          },
          [&](const control::VhostDevice& d) -> Result {
            return vhost_arguments(d, suffix, needs);
          },
          [&](const control::VirtioUserDevice& d) -> Result {
            return virtio_user_arguments(d, suffix, needs);
          },
          [&](const control::PciDevice& d) -> Result {
            return DeviceArguments{"pci", d.address, ""};
          },
          [&](const control::RingDevice&) -> Result {
            return DeviceArguments{"vdev", "net_ring" + suffix, ""};
          },
          [&](const control::PcapDevice& d) -> Result {
            return DeviceArguments{"vdev", "net_pcap" + suffix, pcap_arguments(d)};
          },
          [&](const control::RawDevice& d) -> Result { return raw_arguments(d); },
          [&](const control::InternalLink&) -> Result { return std::nullopt; },
      },
      device);
}

std::string describe(const control::DeviceConfig& device) {
  return std::visit(
      Overloaded{
          [](const InterfaceDevice& d) {
            return (d.driver == InterfaceDevice::Driver::af_xdp ? "af_xdp " : "af_packet ") +
                   d.interface;
          },
          [](const control::TapDevice& d) { return "tap " + d.interface; },
          [](const control::MemifDevice& d) {
            return "memif " + d.socket + " id " + std::to_string(d.id) +
                   (d.server ? " server" : " client");
          },
          [](const control::VhostDevice& d) {
            return "vhost " + d.socket + (d.server ? " server" : " client");
          },
          [](const control::VirtioUserDevice& d) { return "virtio_user " + d.socket; },
          [](const control::PciDevice& d) { return "pci " + d.address; },
          [](const control::RingDevice& d) { return "ring " + d.name; },
          [](const control::PcapDevice& d) {
            std::string files;
            for (const auto& file : d.rx) {
              files += (files.empty() ? "" : ",") + file;
            }
            return "pcap " + (files.empty() ? "-" : files) + " " + (d.tx.empty() ? "-" : d.tx);
          },
          [](const control::RawDevice& d) { return "device " + d.arguments; },
          [](const control::InternalLink& d) {
            return "link " + d.peer_switch + ":" + d.peer_port;
          },
      },
      device);
}

}  // namespace tributary::dataplane
