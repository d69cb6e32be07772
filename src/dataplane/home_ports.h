// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <poll.h>
#include <vector>

#include "control/config.h"
#include "dataplane/core_setup.h"
#include "dataplane/devices.h"
#include "dataplane/home_port.h"

namespace tributary::dataplane {

// HomePorts are the ports at home on one core, and know who sends for those that are not.
class HomePorts {
 public:
  // `pool` is the core's own.
  HomePorts(const CoreSetup& setup, PacketPool& pool, const control::DaemonConfig& config,
            const Devices& devices);
  HomePorts(const HomePorts&) = delete;
  HomePorts& operator=(const HomePorts&) = delete;

  auto begin() { return ports_.begin(); }
  auto end() { return ports_.end(); }
  auto begin() const { return ports_.begin(); }
  auto end() const { return ports_.end(); }

  // Returns the first queue of the port here, or null if there is none.
  HomePort* find(std::uint32_t number) { return by_number_[number]; }
  // Returns the core whose queue sends what leaves here by this port.
  unsigned sender(std::uint32_t number) const { return senders_[number]; }

  // Returns the earliest deadline of all.
  Time deadline() const;
  // Says whether every port announces what comes. `inputs` becomes what to poll for that, at most
  // one of each.
  bool announce() const;
  void list_inputs(std::vector<pollfd>& inputs) const;
  std::size_t size() const { return ports_.size(); }
  // Says whether nothing waits to be sent.
  bool idle() const;

  void end_receiving();
  // A port whose queues are paused neither receives nor sends.
  void pause(std::uint32_t number, bool paused);
  void set_up(std::uint32_t number, bool up);
  void reconfigure(const control::DaemonConfig& config);

 private:
  void add(std::uint32_t number, const control::DaemonConfig& config, PortDevice* device);
  void choose_senders(const control::DaemonConfig& config);
  void control_flow(const control::DaemonConfig& config);

  CoreSetup setup_;
  PacketPool& pool_;
  std::vector<HomePort> ports_;
  std::vector<HomePort*> by_number_;
  std::vector<unsigned> senders_;  // by port number
};

}  // namespace tributary::dataplane
