// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/devices.h"

#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

#include "dataplane/device_arguments.h"
#include "dataplane/interface.h"
#include "forwarding/flow_plan.h"

namespace tributary::dataplane {
namespace {

using Outcome = tl::expected<void, std::string>;

tl::unexpected<std::string> port_error(const switching::SwitchConfig& config, PortIndex port,
                                       const std::string& what) {
  return tl::unexpected("switch \"" + config.name + "\", port \"" + config.ports[port].name +
                        "\": " + what);
}

// The check of the configuration could not know how fast the devices are.
void warn_of_losses(const switching::SwitchConfig& config) {
  const auto plan = forwarding::plan_flow_control(config.ports);
  for (std::size_t i = 0; i < plan.ports.size(); ++i) {
    if (plan.guards(static_cast<PortIndex>(i)) && !plan.ports[i].lossless) {
      spdlog::warn(
          "{}:{}: flow control may lose frames at the {} Mbit/s of this port; the queues of the "
          "switch need {} bytes each{}",
          config.name, config.ports[i].name, forwarding::line_rate(config.ports[i]) / 1'000'000,
          plan.capacity_needed, config.classes.empty() ? "" : " for classes with pfc_priority");
    }
  }
}

// Returns the interface that is driven by AF_XDP; null for other devices.
const control::InterfaceDevice* xdp_interface(const control::DeviceConfig& device) {
  const auto* interface = std::get_if<control::InterfaceDevice>(&device);
  const bool is_xdp =
      interface != nullptr && interface->driver == control::InterfaceDevice::Driver::af_xdp;
  return is_xdp ? interface : nullptr;
}

// Returns how many queues a device with automatic ones is asked for.
std::uint16_t queues_wanted(const control::DeviceConfig& device, std::size_t cores) {
  const auto* xdp = xdp_interface(device);
  const auto most = xdp != nullptr ? interface_channels(xdp->interface) : control::queues_max;
  return static_cast<std::uint16_t>(std::min<std::size_t>(cores, most));
}

Outcome check_channels(const control::InterfaceDevice& device) {
  const auto channels = interface_channels(device.interface);
  if (device.driver == control::InterfaceDevice::Driver::af_xdp && device.queues > channels) {
    return tl::unexpected("driver \"af_xdp\" can have a queue for each combined channel of " +
                          device.interface + ", which are " + std::to_string(channels) + ", not " +
                          std::to_string(device.queues) +
                          "; make queues smaller, or see ethtool -l");
  }
  return {};
}

// A bridge needs what is for others, a port with a MAC address of its own what is for that one, and
// IPv6 what is for groups.
void warn_if_deaf(const std::string& switch_name, const forwarding::PortConfig& port,
                  const PortDevice& device) {
  const bool needs_everything = !port.is_routed() || port.address6 || device.mac() != port.mac;
  if (needs_everything && !device.hears_everything()) {
    spdlog::warn(
        "{}:{}: the device refuses promiscuous mode, so it brings only what is for its own MAC "
        "address; a virtual function needs `ip link set DEVICE vf N trust on` at its host",
        switch_name, port.name);
  }
}

void warn_of_lost_tags(const std::string& switch_name, const forwarding::PortConfig& port,
                       const control::DeviceConfig& device) {
  const auto* xdp = xdp_interface(device);
  if (xdp != nullptr && port.vlan.any() && interface_takes_tags_off(xdp->interface)) {
    spdlog::warn(
        "{}:{}: tags of VLANs are taken off before AF_XDP sees the frames, and lost; `ethtool -K "
        "{} rxvlan off`, of a veth pair also `txvlan off` at its other end",
        switch_name, port.name, xdp->interface);
  }
}

void warn_of_unread_channels(const std::string& switch_name, const forwarding::PortConfig& port,
                             const control::DeviceConfig& device, std::uint16_t queues) {
  const auto* xdp = xdp_interface(device);
  const auto channels = xdp != nullptr ? interface_receive_channels(xdp->interface) : queues;
  if (channels > queues) {
    spdlog::warn(
        "{}:{}: {} spreads frames over {} channels, and the port has {} of these: all others' "
        "frames go to the kernel; `ethtool -L {} combined {}` (`rx` where none are combined), or "
        "write queues = {}",
        switch_name, port.name, xdp->interface, channels, queues, xdp->interface, queues, channels);
  }
}

// Returns null for an internal link.
tl::expected<std::unique_ptr<PortDevice>, std::string> open_device(
    const control::DeviceConfig& device, std::uint32_t number, DeviceNeeds needs,
    rte_mempool* mempool) {
  needs.cores = queues_wanted(device, needs.cores);
  const auto arguments = device_arguments(device, number, needs);
  if (!arguments) {
    return tl::unexpected(arguments.error());
  }
  return *arguments ? PortDevice::open(device, **arguments, needs, mempool) : nullptr;
}

}  // namespace

Outcome check_ports(const control::DaemonConfig& config, const Topology& topology) {
  for (const auto& place : topology.ports) {
    const auto& section = config.switches[place.switch_index];
    const auto& device = section.devices[place.port];
    if (const auto* interface = std::get_if<control::InterfaceDevice>(&device)) {
      if (const auto usable = check_interface(interface->interface); !usable) {
        return port_error(section.config, place.port, usable.error());
      }
      if (const auto enough = check_channels(*interface); !enough) {
        return port_error(section.config, place.port, enough.error());
      }
    }
    if (std::holds_alternative<control::InternalLink>(device) && place.peer == no_peer) {
      return port_error(section.config, place.port,
                        "there is no port at the other end, \"" + describe(device) + "\"");
    }
  }
  return {};
}

tl::expected<Devices, std::string> open_devices(control::DaemonConfig& config, Topology& topology,
                                                rte_mempool* mempool) {
  Devices devices;
  std::vector<QueueCount> queues(topology.ports.size());
  for (std::uint32_t number = 0; number < topology.ports.size(); ++number) {
    const auto& place = topology.ports[number];
    auto& section = config.switches[place.switch_index];
    auto& port = section.config.ports[place.port];
    const DeviceNeeds needs{port.mtu, static_cast<std::uint16_t>(config.cores.size()),
                            frames_at_once(section.config, port),
                            !section.config.protocols.empty()};
    auto opened = open_device(section.devices[place.port], number, needs, mempool);
    if (!opened) {
      return port_error(section.config, place.port, opened.error());
    }
    const auto& device = devices.emplace_back(std::move(*opened));
    if (port.mac.is_zero()) {
      const auto given = device ? device->mac() : std::nullopt;
      port.mac = given.value_or(derived_mac(section.config.id, place.port));
    }
    if (device) {
      port.line_bps = device->line_bps();
      queues[number] = {device->receivers(), device->senders()};
      warn_if_deaf(section.config.name, port, *device);
      warn_of_lost_tags(section.config.name, port, section.devices[place.port]);
      warn_of_unread_channels(section.config.name, port, section.devices[place.port],
                              device->receivers());
    }
  }
  deal_queues(topology, static_cast<unsigned>(config.cores.size()), queues);
  return devices;
}

void control_flow(const Devices& devices, const control::DaemonConfig& config,
                  const Topology& topology) {
  for (const auto& section : config.switches) {
    warn_of_losses(section.config);
  }
  for (std::uint32_t number = 0; number < devices.size(); ++number) {
    const auto& place = topology.ports[number];
    if (devices[number]) {
      devices[number]->control_flow(
          config.switches[place.switch_index].config.ports[place.port].flow.mode);
    }
  }
}

}  // namespace tributary::dataplane
