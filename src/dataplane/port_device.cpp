// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/port_device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_flow.h>
#include <spdlog/spdlog.h>

#include "dataplane/device_check.h"
#include "dataplane/device_plan.h"
#include "dataplane/fanout.h"
#include "dataplane/interface.h"
#include "dataplane/interrupt_thread.h"
#include "dataplane/log.h"
#include "dataplane/peer_socket.h"
#include "dataplane/privileges.h"
#include "dataplane/rss.h"

namespace tributary::dataplane {
namespace {

constexpr std::uint16_t ring_descriptors = 512;
constexpr std::chrono::seconds reconnect_interval{1};
constexpr const char* socket_is_taken =
    "another process is the server of this socket, or another port of this process; be its "
    "client, or name another socket";

// The kernel's name of the device; empty if it is none of the kernel's.
std::string kernel_name(const control::DeviceConfig& config) {
  if (const auto* interface = std::get_if<control::InterfaceDevice>(&config)) {
    return interface->interface;
  }
  if (const auto* tap = std::get_if<control::TapDevice>(&config)) {
    return tap->interface;
  }
  return {};
}

// Drivers return -1 for all that they have no number for, which is that of EPERM.
std::string reason(int error) {
  return error == -1 ? "refused by its driver, or not permitted" : std::strerror(std::abs(error));
}

tl::expected<void, std::string> check(int result, const char* what) {
  if (result != 0) {
    return tl::unexpected(std::string("cannot ") + what + ": " + reason(result));
  }
  return {};
}

rte_eth_conf settings_of(DevicePlan& plan) {
  rte_eth_conf settings = {};
  settings.txmode.offloads = plan.transmit_offloads;
  if (plan.rss_hashes != 0) {
    settings.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
    auto& rss = settings.rx_adv_conf.rss_conf;
    rss.rss_hf = plan.rss_hashes;
    rss.rss_key = plan.rss_key.empty() ? nullptr : plan.rss_key.data();
    rss.rss_key_len = static_cast<std::uint8_t>(plan.rss_key.size());
  }
  return settings;
}

// What a card cannot be told is made good by handing over.
void fill_redirection(std::uint16_t port, std::uint16_t entries, std::uint16_t queues) {
  std::vector<rte_eth_rss_reta_entry64> table((entries + RTE_ETH_RETA_GROUP_SIZE - 1) /
                                              RTE_ETH_RETA_GROUP_SIZE);
  for (std::uint32_t i = 0; i < entries; ++i) {
    auto& group = table[i / RTE_ETH_RETA_GROUP_SIZE];
    group.mask |= std::uint64_t{1} << (i % RTE_ETH_RETA_GROUP_SIZE);
    group.reta[i % RTE_ETH_RETA_GROUP_SIZE] = rss_queue(i, entries, queues);
  }
  if (const int error = rte_eth_dev_rss_reta_update(port, table.data(), entries); error != 0) {
    spdlog::warn("cannot set a card's redirection table ({}): blocks are handed over",
                 reason(error));
  }
}

// Of cards alone: that of a virtual device may change the host to find out what it can (net_tap).
void make_rule(std::uint16_t port, const DevicePlan& plan, std::uint16_t queues) {
  rte_flow_error error = {};
  const auto form = choose_rule(plan, [&](RssRule::Form asked) {
    const RssRule rule(asked, queues);
    return rte_flow_validate(port, &rule.attributes(), rule.pattern(), rule.actions(), &error) == 0;
  });
  if (!form) {
    return;
  }
  const RssRule rule(*form, queues);
  if (rte_flow_create(port, &rule.attributes(), rule.pattern(), rule.actions(), &error) ==
      nullptr) {
    spdlog::warn("cannot have a card spread UDP by its source port ({}): blocks are handed over",
                 error.message != nullptr ? error.message : reason(rte_errno));
  }
}

// In the driver's own words where it has some: most of its numbers say nothing.
std::string why_refused(int error) {
  const auto said = take_driver_error();
  if (!said.empty()) {
    return ": " + said;
  }
  return " (" + reason(error) + "); log_level = \"debug\" shows the driver's messages";
}

// Drivers that take frames which they cannot send. Others refuse them, and count each refusal.
bool loses_what_it_takes(const DeviceArguments& arguments) {
  return arguments.name.starts_with("net_af_packet") || arguments.name.starts_with("net_pcap");
}

// That of a TAP belongs to the host behind it. DPDK gives all vhosts of all processes the same
// ones, and virtio devices a new one at every start.
bool has_no_mac_to_give(const std::string& name) {
  return name.starts_with("net_tap") || name.starts_with("net_vhost") ||
         name.starts_with("net_virtio_user");
}

KernelLosses::Side side_of(const control::DeviceConfig& config) {
  return std::holds_alternative<control::TapDevice>(config) ? KernelLosses::Side::far
                                                            : KernelLosses::Side::near;
}

tl::expected<std::uint16_t, std::string> probe(const DeviceArguments& arguments) {
  std::uint16_t port = 0;
  if (arguments.bus == "pci") {
    // The bus was scanned with this address allowed when the EAL started.
    if (rte_eth_dev_get_port_by_name(arguments.name.c_str(), &port) != 0) {
      return tl::unexpected(
          "no DPDK driver took the device; bind it to vfio-pci "
          "(dpdk-devbind.py --bind=vfio-pci " +
          arguments.name + ")");
    }
    return port;
  }
  const FanoutGroup group;
  take_driver_error();
  const int result = rte_eal_hotplug_add(arguments.bus.c_str(), arguments.name.c_str(),
                                         arguments.arguments.c_str());
  if (result != 0) {
    return tl::unexpected("cannot make " + arguments.name + why_refused(result));
  }
  if (rte_eth_dev_get_port_by_name(arguments.name.c_str(), &port) != 0) {
    return tl::unexpected(arguments.name + " is not an Ethernet device");
  }
  return port;
}

// What a device cannot do without is missing more often than a driver says so.
std::string explained(const std::string& error, const control::DeviceConfig& config) {
  const auto missing = missing_capabilities(config, held_capabilities());
  return missing.empty() ? error
                         : "this process lacks " + missing +
                               "; run as root or give the daemon what it lacks (" + error + ")";
}

}  // namespace

PortDevice::PortDevice(std::uint16_t port, const control::DeviceConfig& config,
                       DeviceArguments arguments, Claim claim, KernelLosses kernel_losses)
    : claim_(std::move(claim)),
      port_(port),
      // Before the device starts, which ends the mode.
      was_promiscuous_(interface_promiscuous(kernel_name(config))),
      config_(config),
      arguments_(std::move(arguments)),
      interface_index_(interface_index(kernel_name(config))),
      kernel_losses_(std::move(kernel_losses)) {}

tl::expected<std::unique_ptr<PortDevice>, std::string> PortDevice::open(
    const control::DeviceConfig& config, const DeviceArguments& arguments, const DeviceNeeds& needs,
    rte_mempool* mempool) {
  if (const auto usable = check_device(config); !usable) {
    return tl::unexpected(usable.error());
  }
  auto claim = Claim::take(config);
  if (!claim) {
    return tl::unexpected(claim.error());
  }
  if (makes_socket(config)) {
    remove_stale_socket(config);
  }
  // Of a memif it may be another port of this process, which shares the socket.
  if (std::holds_alternative<control::VhostDevice>(config) && makes_socket(config) &&
      is_served(config)) {
    return tl::unexpected(std::string(socket_is_taken));
  }
  KernelLosses kernel_losses(kernel_name(config), side_of(config));
  const auto port = probe(arguments);
  if (!port && makes_socket(config) && is_served(config)) {
    return tl::unexpected(std::string(socket_is_taken));
  }
  if (!port) {
    return tl::unexpected(explained(port.error(), config));
  }
  std::unique_ptr<PortDevice> device(
      new PortDevice(*port, config, arguments, std::move(*claim), std::move(kernel_losses)));
  if (auto ready = device->configure(needs, mempool); !ready) {
    return tl::unexpected(explained(ready.error(), config));
  }
  if (auto set = device->set_mtu(needs.mtu); !set) {
    return tl::unexpected(explained(set.error(), config));
  }
  device->kernel_losses_.watch();
  return device;
}

tl::expected<void, std::string> PortDevice::set_mtu(std::uint16_t mtu) {
  const auto name = kernel_name(config_);
  if (name.empty()) {
    return {};
  }
  mtu_ = mtu;
  mtu_before_ = interface_mtu(name);
  return set_interface_mtu(name, mtu);
}

void PortDevice::give_mtu_back() {
  const auto name = kernel_name(config_);
  if (mtu_before_ != 0 && mtu_before_ != mtu_ && interface_mtu(name) == mtu_) {
    static_cast<void>(set_interface_mtu(name, mtu_before_));
  }
}

tl::expected<void, std::string> PortDevice::configure(const DeviceNeeds& needs,
                                                      rte_mempool* mempool) {
  rte_eth_dev_info info = {};
  if (auto ok = check(rte_eth_dev_info_get(port_, &info), "read the device's abilities"); !ok) {
    return ok;
  }
  // The kernel's interfaces and virtual devices carry what fits a buffer; ask hardware for it.
  const auto queues = choose_queues(config_, needs.cores, info.max_rx_queues);
  if (!queues) {
    return tl::unexpected(queues.error());
  }
  const auto senders = std::min(*queues, info.max_tx_queues);
  auto plan = plan_device(info, *queues, needs.owners);
  auto settings = settings_of(plan);
  if (arguments_.bus == "pci") {
    settings.rxmode.mtu = needs.mtu;
  }
  std::uint16_t receive = ring_descriptors;
  std::uint16_t send = ring_descriptors;
  rte_ether_addr address = {};
  auto ok = check(rte_eth_dev_configure(port_, *queues, senders, &settings), "configure the device")
                .and_then([&] {
                  return check(rte_eth_dev_adjust_nb_rx_tx_desc(port_, &receive, &send),
                               "size the device's rings");
                })
                .and_then([&] { return set_up_queues(*queues, receive, senders, send, mempool); })
                .and_then([&] { return start(); })
                .and_then([&] {
                  return check(rte_eth_macaddr_get(port_, &address), "read the MAC address");
                });
  if (!ok) {
    return ok;
  }
  for (auto& queue : queues_) {
    queue.set_gathers(plan.gathers);
    queue.pause(!started_);
  }
  if (plan.fills_redirection) {
    fill_redirection(port_, info.reta_size, *queues);
  }
  if (arguments_.bus == "pci") {
    make_rule(port_, plan, *queues);
  }
  std::copy(std::begin(address.addr_bytes), std::end(address.addr_bytes), mac_.octets.begin());
  hears_everything_ =
      dataplane::hears_everything(rte_eth_promiscuous_enable(port_), arguments_.bus);
  return {};
}

tl::expected<void, std::string> PortDevice::set_up_queues(std::uint16_t receivers,
                                                          std::uint16_t receive_slots,
                                                          std::uint16_t senders,
                                                          std::uint16_t send_slots,
                                                          rte_mempool* mempool) {
  queues_.reserve(receivers);
  tl::expected<void, std::string> ok;
  for (std::uint16_t q = 0; ok && q < receivers; ++q) {
    ok = check(rte_eth_rx_queue_setup(port_, q, receive_slots, SOCKET_ID_ANY, nullptr, mempool),
               "set up a receive queue");
    queues_.emplace_back(port_, q, q < senders);
  }
  for (std::uint16_t q = 0; ok && q < senders; ++q) {
    ok = check(rte_eth_tx_queue_setup(port_, q, send_slots, SOCKET_ID_ANY, nullptr),
               "set up a transmit queue");
  }
  senders_ = senders;
  return ok;
}

tl::expected<void, std::string> PortDevice::start() {
  tried_ = std::chrono::steady_clock::now();
  if (is_memif_client(config_) && !is_served(config_)) {
    return {};
  }
  auto ok = check(rte_eth_dev_start(port_), "start the device");
  started_ = ok.has_value();
  return ok;
}

bool PortDevice::can_reconnect() {
  return is_memif_client(config_) && !link_up() &&
         std::chrono::steady_clock::now() - tried_ > reconnect_interval && is_served(config_);
}

void PortDevice::reconnect() {
  stop();
  start();
}

void PortDevice::stop() {
  if (started_) {
    run_on_interrupt_thread([this] { rte_eth_dev_stop(port_); });
    started_ = false;
  }
}

// The kernel keeps what the driver told its interface.
void PortDevice::end_promiscuous_mode() {
  if (!was_promiscuous_ && interface_promiscuous(kernel_name(config_))) {
    rte_eth_promiscuous_disable(port_);
  }
}

PortDevice::~PortDevice() {
  for (auto& queue : queues_) {
    queue.drop_waiting();
  }
  end_promiscuous_mode();
  stop();
  rte_eth_dev_close(port_);
  give_mtu_back();
}

std::optional<wire::MacAddress> PortDevice::mac() const {
  return mac_.is_zero() || has_no_mac_to_give(arguments_.name) ? std::nullopt : std::optional(mac_);
}

bool PortDevice::link_up() {
  if (const auto* interface = std::get_if<control::InterfaceDevice>(&config_)) {
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
  if (const auto* user = std::get_if<control::VirtioUserDevice>(&config_); user && was_up_ && !up) {
    spdlog::warn("who served {} has gone; restart this daemon when somebody serves it again",
                 user->socket);
    lost_backend_ = true;
  }
  was_up_ = up;
  return up;
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
        reason(error));
  }
}

PortDevice::Losses PortDevice::losses() {
  kernel_losses_.count();
  Losses losses{kernel_losses_.missed(), kernel_losses_.unsent()};
  rte_eth_stats statistics = {};
  if (rte_eth_stats_get(port_, &statistics) == 0) {
    losses.missed += statistics.imissed + statistics.ierrors + statistics.rx_nombuf;
    losses.unsent += loses_what_it_takes(arguments_) ? statistics.oerrors : 0;
  }
  return losses;
}

}  // namespace tributary::dataplane
