// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "control/config.h"
#include "dataplane/port_device.h"
#include "dataplane/topology.h"

struct rte_mempool;

namespace tributary::dataplane {

// The devices are by port number; null for internal links.
using Devices = std::vector<std::unique_ptr<PortDevice>>;

// Checks what can be known to be wrong before anything is started. Errors, here and below, name the
// switch and the port and say what to do.
tl::expected<void, std::string> check_ports(const control::DaemonConfig& config,
                                            const Topology& topology);

// Opens the device of every port. It fills in what only the devices know: MAC addresses and rates
// in `config`, and in `topology` how their queues are dealt to the cores.
tl::expected<Devices, std::string> open_devices(control::DaemonConfig& config, Topology& topology,
                                                rte_mempool* mempool);

// Puts the flow control of `config` in force on the devices, and warns where it may lose frames.
void control_flow(const Devices& devices, const control::DaemonConfig& config,
                  const Topology& topology);

}  // namespace tributary::dataplane
