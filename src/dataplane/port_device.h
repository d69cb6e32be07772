// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "control/config.h"
#include "dataplane/claim.h"
#include "dataplane/device_arguments.h"
#include "dataplane/device_queue.h"
#include "dataplane/kernel_losses.h"
#include "wire/ethernet.h"

struct rte_mempool;

namespace tributary::dataplane {

// A PortDevice is the device behind a port: an ethdev with one or several queues. The control
// thread opens and closes it; each queue belongs to the core that polls it.
class PortDevice {
 public:
  // `arguments` are those for these `needs`.
  static tl::expected<std::unique_ptr<PortDevice>, std::string> open(
      const control::DeviceConfig& config, const DeviceArguments& arguments,
      const DeviceNeeds& needs, rte_mempool* mempool);
  ~PortDevice();
  PortDevice(const PortDevice&) = delete;
  PortDevice& operator=(const PortDevice&) = delete;

  DeviceQueue& queue(std::size_t number) { return queues_[number]; }

  // The control thread calls all that follow.
  std::uint16_t receivers() const { return static_cast<std::uint16_t>(queues_.size()); }
  // So many of the queues, the first ones, send as well.
  std::uint16_t senders() const { return senders_; }
  // Returns the address for the port, if the device has one to give.
  std::optional<wire::MacAddress> mac() const;
  // Says whether it brings frames that are not for its own address, as a bridge needs.
  bool hears_everything() const { return hears_everything_; }
  bool link_up();
  // Returns bits per second; 0 if it does not say.
  std::uint64_t line_bps() const;
  // A card that can obey PAUSE itself, and send it when its own buffer is full, is told to.
  // Priority flow control is left to the queues, which know the classes: the card lets the frames
  // through.
  void control_flow(forwarding::FlowControl mode);
  // A memif client is not started before there is a server, nor when the server has gone; DPDK does
  // not try again. can_reconnect() says that there is one now. reconnect() is only for paused
  // queues, which stay paused: they belong to their cores.
  bool started() const { return started_; }
  bool can_reconnect();
  void reconnect();

  // The device, its driver and the kernel lost these frames.
  struct Losses {
    std::uint64_t missed = 0;  // before any queue saw them
    std::uint64_t unsent = 0;  // that it had taken to send
  };
  Losses losses();

 private:
  PortDevice(std::uint16_t port, const control::DeviceConfig& config, DeviceArguments arguments,
             Claim claim, KernelLosses kernel_losses);
  tl::expected<void, std::string> configure(const DeviceNeeds& needs, rte_mempool* mempool);
  tl::expected<void, std::string> start();
  void stop();
  void close();
  void name_inputs();
  // Sets the MTU of the kernel's interface behind it, if there is one.
  tl::expected<void, std::string> set_mtu(std::uint16_t mtu);
  // The MTU stays if somebody else has changed it since, or the interface is another one.
  void give_mtu_back();
  void warn_if_replaced(const std::string& name);
  // The mode stays if the interface was in it before.
  void end_promiscuous_mode();
  tl::expected<void, std::string> set_up_queues(std::uint16_t receivers,
                                                std::uint16_t receive_slots, std::uint16_t senders,
                                                std::uint16_t send_slots, rte_mempool* mempool);

  Claim claim_;  // until the device is closed
  std::uint16_t port_;
  bool started_ = false;
  bool was_promiscuous_;  // of the interface, before we asked for it
  bool hears_everything_ = false;
  std::chrono::steady_clock::time_point tried_;  // when it was started last
  control::DeviceConfig config_;
  DeviceArguments arguments_;
  bool lost_backend_ = false;  // virtio_user's, which never returns; its driver warns at each look
  bool was_replaced_ = false;  // the interface of that name is another one by now
  unsigned interface_index_;   // of the kernel's interface behind it; 0: none
  KernelLosses kernel_losses_;
  std::uint16_t mtu_ = 0;  // that it was given; 0: none
  std::uint16_t mtu_before_ = 0;
  wire::MacAddress mac_;
  std::vector<DeviceQueue> queues_;
  std::uint16_t senders_ = 0;
  forwarding::FlowControl flow_control_ = forwarding::FlowControl::off;  // what it was told last
};

}  // namespace tributary::dataplane
