// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <tl/expected.hpp>

#include "control/config.h"
#include "dataplane/device_arguments.h"
#include "packet/clock.h"
#include "packet/list.h"
#include "packet/pool.h"
#include "wire/ethernet.h"

struct rte_mbuf;
struct rte_mempool;

namespace tributary::dataplane {

// The device behind a port: one receive and one transmit queue of an ethdev. Opened and closed by
// the control thread; receive() and transmit() belong to the core that the port is homed on.
class PortDevice {
 public:
  static constexpr std::uint16_t burst = 32;

  static tl::expected<std::unique_ptr<PortDevice>, std::string> open(
      const control::DeviceConfig& config, const DeviceArguments& arguments, std::uint16_t mtu,
      rte_mempool* mempool);
  ~PortDevice();
  PortDevice(const PortDevice&) = delete;
  PortDevice& operator=(const PortDevice&) = delete;

  // Up to one burst, owned by `pool` from now on. Returns how many came.
  std::size_t receive(PacketPool& pool, PortIndex ingress, PacketList& out);

  // How many packets transmit() takes at most.
  std::size_t room() const { return burst - waiting_; }
  // Takes all of `packets`. What the device has no room for waits for the next call, for a while
  // (10 ms unless told); then it is dropped and counted. Returns how many the device took.
  std::size_t transmit(PacketList& packets, Time now);
  bool waiting() const { return waiting_ > 0; }
  void set_patience(Duration patience) { patience_ = patience; }
  std::uint64_t dropped() const { return dropped_; }

  // Control thread.
  // Of the port, if the device has one to give.
  std::optional<wire::MacAddress> mac() const;
  bool link_up() const;
  std::uint64_t missed() const;  // lost by the device before receive() saw them

 private:
  PortDevice(std::uint16_t port, const control::DeviceConfig& config, DeviceArguments arguments);
  tl::expected<void, std::string> configure(std::uint16_t mtu, rte_mempool* mempool);
  void drop_waiting();

  std::uint16_t port_;
  bool started_ = false;
  control::DeviceConfig config_;
  DeviceArguments arguments_;
  unsigned interface_index_;  // of the kernel's interface behind it; 0: none
  wire::MacAddress mac_;
  std::array<rte_mbuf*, burst> pending_{};
  std::uint16_t waiting_ = 0;
  Time waiting_since_{};
  Duration patience_ = std::chrono::milliseconds(10);
  std::uint64_t dropped_ = 0;
  std::uint64_t refused_ = 0;  // in several segments that do not fit one buffer
};

}  // namespace tributary::dataplane
