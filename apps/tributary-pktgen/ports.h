// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "control/config.h"
#include "dataplane/eal.h"
#include "dataplane/mbuf_pool.h"
#include "dataplane/port_device.h"

namespace tributary::pktgen {

// Ports has DPDK, its memory and the open devices of the generator, and closes them in the right
// order.
class Ports {
 public:
  struct Setup {
    unsigned core = 0;
    std::uint16_t mtu = 1500;
    std::uint32_t buffers = 16384;
    control::IdlePolicy idle = control::IdlePolicy::adaptive;
    control::Hugepages hugepages = control::Hugepages::automatic;
    std::vector<control::DeviceConfig> devices;
  };

  // The error says what to do, in words of the command line.
  static tl::expected<Ports, std::string> open(const Setup& setup);

  const std::vector<std::unique_ptr<dataplane::PortDevice>>& devices() const { return devices_; }
  rte_mempool* mempool() const { return store_->mempool(); }
  // Waits until all have a link, or `stop` says so. The error names one that has none.
  tl::expected<void, std::string> wait_for_links(const std::function<bool()>& stop) const;

 private:
  Ports() = default;
  tl::expected<void, std::string> open_devices(const Setup& setup);

  std::vector<std::string> names_;
  std::unique_ptr<dataplane::Eal> eal_;
  std::unique_ptr<dataplane::MbufStore> store_;
  std::vector<std::unique_ptr<dataplane::PortDevice>> devices_;
};

}  // namespace tributary::pktgen
