// SPDX-License-Identifier: BSD-3-Clause
#include "ports.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "control/backend.h"
#include "dataplane/device_arguments.h"
#include "dataplane/interface.h"
#include "dataplane/memory_plan.h"

namespace tributary::pktgen {
namespace {

constexpr std::chrono::seconds link_patience{10};
// What is dropped here would count as lost elsewhere; but a dead peer must not stop everything.
constexpr std::chrono::seconds device_patience{1};

// The data plane's advice names keys of the daemon's configuration.
std::string in_options(std::string message) {
  constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"make daemon.packets smaller", "make --buffers smaller"},
      {"set daemon.hugepages = \"never\"", "say --hugepages never"},
      {"daemon.cores", "--core"},
      {"log_level = \"debug\"", "--log-level debug"},
      {"use driver = \"af_packet\" or a smaller mtu", "use driver=af_packet or a smaller --mtu"},
      {"interface = on a veth pair", "interface= on a veth pair"},
      {"set the port's mtu", "set --mtu"},
      {"write tap =", "say tap="},
      {"give the daemon", "give it"}};
  for (const auto& [key, option] : words) {
    if (const auto at = message.find(key); at != std::string::npos) {
      message.replace(at, key.size(), option);
    }
  }
  return message;
}

const char* why_no_link(const dataplane::PortDevice& device) {
  return device.started()
             ? " has no link; start the other end, or set it up (ip link set ... up)"
             : ": nobody is at its socket; start the other end, which has to be the server";
}

tl::unexpected<std::string> refuse(const std::string& message) {
  return tl::unexpected(in_options(message));
}

control::DaemonConfig config_of(const Ports::Setup& setup) {
  control::DaemonConfig config;
  config.cores = {setup.core};
  config.hugepages = setup.hugepages;
  config.packets = setup.buffers;
  auto& section = config.switches.emplace_back();
  section.devices = setup.devices;
  section.config.ports.resize(setup.devices.size());
  for (auto& port : section.config.ports) {
    port.mtu = setup.mtu;
  }
  return config;
}

}  // namespace

tl::expected<Ports, std::string> Ports::open(const Setup& setup) {
  for (const auto& device : setup.devices) {
    if (const auto* interface = std::get_if<control::InterfaceDevice>(&device)) {
      if (const auto usable = dataplane::check_interface(interface->interface); !usable) {
        return refuse(dataplane::describe(device) + ": " + usable.error());
      }
    }
  }
  Ports ports;
  const auto config = config_of(setup);
  const auto memory = dataplane::plan_memory(config, dataplane::free_hugepage_megabytes());
  auto eal = dataplane::Eal::start(config, memory);
  if (!eal) {
    return refuse(eal.error());
  }
  ports.eal_ = std::move(*eal);
  auto store = dataplane::MbufStore::create(memory);
  if (!store) {
    return refuse(store.error());
  }
  ports.store_ = std::make_unique<dataplane::MbufStore>(std::move(*store));
  if (auto opened = ports.open_devices(setup); !opened) {
    return refuse(opened.error());
  }
  return ports;
}

control::Outcome Ports::open_devices(const Setup& setup) {
  for (const auto& config : setup.devices) {
    const auto number = static_cast<unsigned>(devices_.size());
    names_.push_back(dataplane::describe(config));
    const dataplane::DeviceNeeds needs{setup.mtu};
    const auto arguments = dataplane::device_arguments(config, number, needs);
    if (!arguments) {
      return refuse(names_.back() + ": " + arguments.error());
    }
    auto device = dataplane::PortDevice::open(config, **arguments, needs, store_->mempool());
    if (!device) {
      return refuse(names_.back() + ": " + device.error());
    }
    (*device)->queue(0).set_patience(device_patience);
    devices_.push_back(std::move(*device));
  }
  return {};
}

control::Outcome Ports::wait_for_links(const std::function<bool()>& stop) const {
  const auto end = std::chrono::steady_clock::now() + link_patience;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    auto& device = *devices_[i];
    while (!device.link_up()) {
      if (stop() || std::chrono::steady_clock::now() >= end) {
        return tl::unexpected(names_[i] + why_no_link(device));
      }
      if (device.can_reconnect()) {
        device.reconnect();
        device.queue(0).pause(!device.started());
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  return {};
}

}  // namespace tributary::pktgen
