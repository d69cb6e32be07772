// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/home_ports.h"

#include <algorithm>

#include "forwarding/flow_plan.h"

namespace tributary::dataplane {
namespace {

const forwarding::PortConfig& config_of(const PortPlace& place,
                                        const control::DaemonConfig& config) {
  return config.switches[place.switch_index].config.ports[place.port];
}

}  // namespace

HomePorts::HomePorts(const CoreSetup& setup, PacketPool& pool, const control::DaemonConfig& config,
                     const Devices& devices)
    : setup_(setup), pool_(pool), by_number_(setup.topology->ports.size()) {
  for (std::uint32_t number = 0; number < by_number_.size(); ++number) {
    add(number, config, devices[number].get());
  }
  for (auto home = ports_.rbegin(); home != ports_.rend(); ++home) {
    by_number_[home->number()] = &*home;
  }
  choose_senders(config);
  control_flow(config);
}

void HomePorts::add(std::uint32_t number, const control::DaemonConfig& config, PortDevice* device) {
  const auto& place = setup_.topology->ports[number];
  for (std::size_t queue = 0; queue < place.cores.size(); ++queue) {
    if (place.cores[queue] == setup_.core) {
      // A gauge has one writer. Where flows are spread over the queues, one is as full as another.
      auto* gauge = queue == 0 ? &(*setup_.gauges)[place.switch_index][place.port] : nullptr;
      ports_.emplace_back(forwarding::Port(config_of(place, config), gauge), place, number,
                          queue == 0, device != nullptr ? &device->queue(queue) : nullptr);
    }
  }
}

void HomePorts::choose_senders(const control::DaemonConfig& config) {
  senders_.clear();
  for (const auto& place : setup_.topology->ports) {
    senders_.push_back(sender_of(place, has_one_owner(config_of(place, config)), setup_.core));
  }
}

void HomePorts::control_flow(const control::DaemonConfig& config) {
  std::vector<forwarding::FlowPlan> plans;
  for (const auto& section : config.switches) {
    plans.push_back(forwarding::plan_flow_control(section.config.ports));
  }
  for (auto& home : ports_) {
    const auto& place = home.place();
    home.control_flow(
        {(*setup_.buffers)[place.switch_index], place.port, home.first() ? &pool_ : nullptr},
        config_of(place, config), plans[place.switch_index]);
  }
}

Time HomePorts::deadline() const {
  Time earliest = never;
  for (const auto& home : ports_) {
    earliest = std::min(earliest, home.deadline());
  }
  return earliest;
}

bool HomePorts::announce() const {
  return std::all_of(ports_.begin(), ports_.end(),
                     [](const HomePort& home) { return home.announces(); });
}

void HomePorts::list_inputs(std::vector<pollfd>& inputs) const {
  inputs.clear();
  for (const auto& home : ports_) {
    if (home.device() != nullptr) {
      inputs.push_back({home.device()->input(), POLLIN, 0});
    }
  }
}

bool HomePorts::idle() const {
  return std::all_of(ports_.begin(), ports_.end(),
                     [](const HomePort& home) { return home.idle(); });
}

void HomePorts::end_receiving() {
  for (auto& home : ports_) {
    home.end_receiving();
  }
}

void HomePorts::pause(std::uint32_t number, bool paused) {
  for (auto& home : ports_) {
    if (home.number() == number) {
      home.pause(paused);
    }
  }
}

void HomePorts::set_up(std::uint32_t number, bool up) {
  for (auto& home : ports_) {
    if (home.number() == number) {
      home.set_up(up);
    }
  }
}

void HomePorts::reconfigure(const control::DaemonConfig& config) {
  choose_senders(config);
  for (auto& home : ports_) {
    auto port = config_of(home.place(), config);
    if (sender(home.number()) != setup_.core) {
      port.queue.rate_bps = 0;  // what still waits here goes; only the owner shapes
      for (auto& one : port.queue.classes) {
        one.rate_bps = 0;
      }
    }
    home.reconfigure(port);
  }
  control_flow(config);
}

}  // namespace tributary::dataplane
