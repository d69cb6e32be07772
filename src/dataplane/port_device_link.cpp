// SPDX-License-Identifier: BSD-3-Clause
// A running device says this of its link and of what was lost, and is told of flow control.
#include <rte_ethdev.h>
#include <spdlog/spdlog.h>

#include "dataplane/interface.h"
#include "dataplane/log.h"
#include "dataplane/port_device.h"

namespace tributary::dataplane {
namespace {

// These drivers take frames which they cannot send. Others refuse them, and count each refusal.
bool loses_what_it_takes(const DeviceArguments& arguments) {
  return arguments.name.starts_with("net_af_packet") || arguments.name.starts_with("net_pcap");
}

// These drivers take a frame before they ask for a buffer, and lose it where there is none. Others
// leave it where it is; they try again at each look, and count the tries.
bool loses_what_has_no_buffer(const DeviceArguments& arguments) {
  return arguments.name.starts_with("net_tap") || arguments.name.starts_with("net_pcap");
}

// The address of a TAP belongs to the host behind it. DPDK gives all vhosts of all processes the
// same ones, and virtio devices a new one at every start.
bool has_no_mac_to_give(const std::string& name) {
  return name.starts_with("net_tap") || name.starts_with("net_vhost") ||
         name.starts_with("net_virtio_user");
}

}  // namespace

std::optional<wire::MacAddress> PortDevice::mac() const {
  return mac_.is_zero() || has_no_mac_to_give(arguments_.name) ? std::nullopt : std::optional(mac_);
}

bool PortDevice::link_up() {
  if (const auto* interface = std::get_if<control::InterfaceDevice>(&config_)) {
    warn_if_replaced(interface->interface);
    return interface_running(interface->interface, interface_index_);
  }
  if (std::holds_alternative<control::TapDevice>(config_)) {
    return true;  // we are its cable; it may have been moved to another network namespace
  }
  if (lost_backend_) {
    return false;
  }
  rte_eth_link link = {};
  const bool up = rte_eth_link_get_nowait(port_, &link) == 0 && link.link_status != 0;
  // Somebody served it when it was opened.
  if (const auto* user = std::get_if<control::VirtioUserDevice>(&config_); user && !up) {
    spdlog::warn("who served {} has gone; restart this daemon when somebody serves it again",
                 user->socket);
    lost_backend_ = true;
  }
  return up;
}

// The driver's sockets stay with the interface that they were made for.
void PortDevice::warn_if_replaced(const std::string& name) {
  const auto index = interface_index(name);
  if (index != 0 && index != interface_index_ && !was_replaced_) {
    was_replaced_ = true;
    spdlog::warn(
        "{} was removed and made again: the port stays down; restart this daemon to use the new "
        "interface",
        name);
  }
}

std::uint64_t PortDevice::line_bps() const {
  constexpr std::uint64_t megabit = 1'000'000;
  rte_eth_link link = {};
  const bool known = rte_eth_link_get_nowait(port_, &link) == 0 &&
                     link.link_speed != RTE_ETH_SPEED_NUM_NONE &&
                     link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN;
  return known ? link.link_speed * megabit : 0;
}

void PortDevice::control_flow(forwarding::FlowControl mode) {
  rte_eth_fc_conf settings = {};
  if (mode == flow_control_ || rte_eth_dev_flow_ctrl_get(port_, &settings) != 0) {
    return;  // nothing to change, or a device without: frames come and go as any other
  }
  flow_control_ = mode;
  settings.mode = mode == forwarding::FlowControl::pause ? RTE_ETH_FC_FULL : RTE_ETH_FC_NONE;
  settings.mac_ctrl_frame_fwd = mode == forwarding::FlowControl::pfc ? 1 : 0;
  if (const int error = rte_eth_dev_flow_ctrl_set(port_, &settings); error != 0) {
    spdlog::warn(
        "cannot set a card's flow control ({}): only the queues obey, as far as the card "
        "lets PAUSE frames through",
        reason_of(error));
  }
}

PortDevice::Losses PortDevice::losses() {
  kernel_losses_.count();
  Losses losses{kernel_losses_.missed(), kernel_losses_.unsent()};
  rte_eth_stats statistics = {};
  if (rte_eth_stats_get(port_, &statistics) == 0) {
    losses.missed += statistics.imissed + statistics.ierrors;
    losses.missed += loses_what_has_no_buffer(arguments_) ? statistics.rx_nombuf : 0;
    losses.unsent += loses_what_it_takes(arguments_) ? statistics.oerrors : 0;
  }
  return losses;
}

}  // namespace tributary::dataplane
