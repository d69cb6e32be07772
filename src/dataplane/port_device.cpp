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

// Returns the kernel's name of the device; empty if it is none of the kernel's.
std::string kernel_name(const control::DeviceConfig& config) {
  if (const auto* interface = std::get_if<control::InterfaceDevice>(&config)) {
    return interface->interface;
  }
  if (const auto* tap = std::get_if<control::TapDevice>(&config)) {
    return tap->interface;
  }
  return {};
}

tl::expected<void, std::string> check(int result, const char* what) {
  if (result != 0) {
    return tl::unexpected(std::string("cannot ") + what + ": " + reason_of(result));
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

// Where a card cannot be told, handing over makes up for it.
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
                 reason_of(error));
  }
}

// Only cards get a rule: that of a virtual device may change the host to find out what it can
// (net_tap).
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
                 error.message != nullptr ? error.message : reason_of(rte_errno));
  }
}

// Uses the driver's own words where it has some: most of its numbers say nothing.
std::string why_refused(int error) {
  const auto said = take_driver_error();
  if (!said.empty()) {
    return ": " + said;
  }
  return " (" + reason_of(error) + "); log_level = \"debug\" shows the driver's messages";
}

// A packet socket takes frames that are longer than the interface's MTU, and sends none of them.
std::uint32_t frame_bytes_max(const control::DeviceConfig& config, std::uint16_t mtu) {
  const auto* interface = std::get_if<control::InterfaceDevice>(&config);
  const bool by_packet_socket =
      interface != nullptr && interface->driver == control::InterfaceDevice::Driver::af_packet;
  return by_packet_socket ? mtu + std::uint32_t{sizeof(wire::EthernetHeader)} : UINT32_MAX;
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

// Drivers seldom say that a capability is missing, though that is often the cause.
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
      // This is asked before the device starts, which ends the mode.
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
  // A memif's socket may be served by another port of this process, which shares it.
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
  device->name_inputs();
  return device;
}

// The drivers whose sockets are known open one for each queue, in the order of these.
void PortDevice::name_inputs() {
  const auto& sockets = kernel_losses_.sockets();
  if (sockets.size() == queues_.size()) {
    for (std::size_t q = 0; q < sockets.size(); ++q) {
      queues_[q].set_input(sockets[q]);
    }
  }
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
  const bool is_ours = mtu_before_ != 0 && interface_index(name) == interface_index_;
  if (is_ours && mtu_before_ != mtu_ && interface_mtu(name) == mtu_) {
    static_cast<void>(set_interface_mtu(name, mtu_before_));
  }
}

tl::expected<void, std::string> PortDevice::configure(const DeviceNeeds& needs,
                                                      rte_mempool* mempool) {
  rte_eth_dev_info info = {};
  if (auto ok = check(rte_eth_dev_info_get(port_, &info), "read the device's abilities"); !ok) {
    return ok;
  }
  // The kernel's interfaces and virtual devices carry what fits a buffer; hardware has to be asked
  // for it.
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
    queue.set_frame_bytes_max(frame_bytes_max(config_, needs.mtu));
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

// A memif's client may knock at any time, so nothing else of the interrupt thread comes in between.
void PortDevice::close() {
  if (!std::holds_alternative<control::MemifDevice>(config_)) {
    stop();
    rte_eth_dev_close(port_);
    return;
  }
  run_on_interrupt_thread([this] {
    if (started_) {
      rte_eth_dev_stop(port_);
    }
    rte_eth_dev_close(port_);
    dismiss_clients(config_);
  });
}

// The kernel keeps what the driver told its interface.
void PortDevice::end_promiscuous_mode() {
  const auto name = kernel_name(config_);
  const bool is_ours = interface_index(name) == interface_index_;
  if (is_ours && !was_promiscuous_ && interface_promiscuous(name)) {
    rte_eth_promiscuous_disable(port_);
  }
}

PortDevice::~PortDevice() {
  for (auto& queue : queues_) {
    queue.drop_waiting();
  }
  end_promiscuous_mode();
  close();
  give_mtu_back();
}

}  // namespace tributary::dataplane
