// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/dataplane.h"

#include <cassert>
#include <fmt/ranges.h>
#include <thread>
#include <utility>

#include <spdlog/spdlog.h>

#include "control/cores.h"
#include "control/tree_store.h"
#include "dataplane/interface.h"
#include "dataplane/launch.h"
#include "dataplane/reload.h"
#include "switch/flow_plan.h"

namespace tributary::dataplane {
namespace {

constexpr std::chrono::milliseconds core_timeout{1000};

// Says where the packet cores are, and why.
control::DaemonConfig with_cores(control::DaemonConfig config) {
  std::string why = "as configured";
  if (config.cores.empty()) {
    auto placement = control::place_cores(control::allowed_cpus(), control::work_of(config));
    config.cores = std::move(placement.cpus);
    why = std::move(placement.why);
  }
  spdlog::info("packet cores on CPUs {}: {}", fmt::join(config.cores, ", "), why);
  return config;
}

// They were found to fit.
control::DaemonConfig with_trees(control::DaemonConfig config, const control::RuntimeTrees& trees) {
  const auto added = control::add_trees(config, trees);
  assert(added);
  return config;
}

// What the check of the configuration could not know: how fast the devices are.
void warn_of_losses(const switching::SwitchConfig& config) {
  const auto plan = switching::plan_flow_control(config.ports);
  for (std::size_t i = 0; i < plan.ports.size(); ++i) {
    if (plan.guards(static_cast<PortIndex>(i)) && !plan.ports[i].lossless) {
      spdlog::warn(
          "{}:{}: flow control may lose frames at the {} Mbit/s of this port; the queues of the "
          "switch need {} bytes each",
          config.name, config.ports[i].name, switching::line_rate(config.ports[i]) / 1'000'000,
          plan.capacity_needed);
    }
  }
}

// How many queues a device with automatic ones is asked for.
std::uint16_t queues_wanted(const control::DeviceConfig& device, std::size_t cores) {
  const auto* interface = std::get_if<control::InterfaceDevice>(&device);
  const bool xdp =
      interface != nullptr && interface->driver == control::InterfaceDevice::Driver::af_xdp;
  const auto most = xdp ? interface_channels(interface->interface) : control::queues_max;
  return static_cast<std::uint16_t>(std::min<std::size_t>(cores, most));
}

control::Outcome check_channels(const control::InterfaceDevice& device) {
  const auto channels = interface_channels(device.interface);
  if (device.driver == control::InterfaceDevice::Driver::af_xdp && device.queues > channels) {
    return tl::unexpected("driver \"af_xdp\" can have a queue for each combined channel of " +
                          device.interface + ", which are " + std::to_string(channels) + ", not " +
                          std::to_string(device.queues) +
                          "; make queues smaller, or see ethtool -l");
  }
  return {};
}

// A bridge needs what is for others, and a port with a MAC address of its own what is for that one.
void warn_if_deaf(const std::string& switch_name, const switching::PortConfig& port,
                  const PortDevice& device) {
  const bool needs_everything = !port.address || device.mac() != port.mac;
  if (needs_everything && !device.hears_everything()) {
    spdlog::warn(
        "{}:{}: the device refuses promiscuous mode, so it brings only what is for its own MAC "
        "address; a virtual function needs `ip link set DEVICE vf N trust on` at its host",
        switch_name, port.name);
  }
}

int run_core(void* core) {
  static_cast<Core*>(core)->run();
  return 0;
}

}  // namespace

tl::expected<std::unique_ptr<Dataplane>, std::string> Dataplane::open(
    const control::DaemonConfig& config, std::string version) {
  std::unique_ptr<Dataplane> dataplane(new Dataplane(config, std::move(version)));
  if (auto opened = dataplane->open_all(); !opened) {
    return tl::unexpected(opened.error());
  }
  dataplane->make_cores();
  dataplane->poll_links();
  return dataplane;
}

Dataplane::Dataplane(const control::DaemonConfig& config, std::string version)
    : given_(config),
      trees_(control::restore_trees(config)),
      config_(with_cores(with_trees(config, trees_))),
      version_(std::move(version)),
      memory_(plan_memory(config_, free_hugepage_megabytes())),
      topology_(plan_topology(config_)),
      pulses_(config_.cores.size()) {
  for (const auto& section : config.switches) {
    gauges_.emplace_back(section.config.ports.size());
    buffers_.emplace_back(section.config.ports.size());
  }
}

Dataplane::~Dataplane() {
  stop();
}

control::Outcome Dataplane::open_all() {
  if (auto usable = check_interfaces(); !usable) {
    return usable;
  }
  auto eal = Eal::start(config_, memory_);
  if (!eal) {
    return tl::unexpected(eal.error());
  }
  eal_ = std::move(*eal);
  auto store = MbufStore::create(memory_);
  if (!store) {
    return tl::unexpected(store.error());
  }
  store_ = std::make_unique<MbufStore>(std::move(*store));
  auto rings = HandoverRings::create(static_cast<unsigned>(config_.cores.size()));
  if (!rings) {
    return tl::unexpected(rings.error());
  }
  rings_ = std::make_unique<HandoverRings>(std::move(*rings));
  return open_devices();
}

// Before anything is started.
control::Outcome Dataplane::check_interfaces() const {
  for (const auto& place : topology_.ports) {
    const auto& device = config_.switches[place.switch_index].devices[place.port];
    if (const auto* interface = std::get_if<control::InterfaceDevice>(&device)) {
      if (const auto usable = check_interface(interface->interface); !usable) {
        return port_error(place, usable.error());
      }
      if (const auto enough = check_channels(*interface); !enough) {
        return port_error(place, enough.error());
      }
    }
    if (std::holds_alternative<control::InternalLink>(device) && place.peer == no_peer) {
      return port_error(place, "there is no port at the other end, \"" + describe(device) + "\"");
    }
  }
  return {};
}

control::Outcome Dataplane::open_devices() {
  std::vector<QueueCount> queues(topology_.ports.size());
  for (std::uint32_t number = 0; number < topology_.ports.size(); ++number) {
    const auto& place = topology_.ports[number];
    auto& section = config_.switches[place.switch_index];
    auto& port = section.config.ports[place.port];
    const auto& device = section.devices[place.port];
    const auto wanted = queues_wanted(device, config_.cores.size());
    const auto arguments = device_arguments(device, number, port.mtu, wanted);
    if (!arguments) {
      return port_error(place, arguments.error());
    }
    devices_.push_back(nullptr);
    if (*arguments) {
      auto opened = PortDevice::open(device, **arguments, port.mtu, store_->mempool(), wanted);
      if (!opened) {
        return port_error(place, opened.error());
      }
      devices_.back() = std::move(*opened);
      queues[number] = {devices_.back()->receivers(), devices_.back()->senders()};
      port.line_bps = devices_.back()->line_bps();
    }
    if (port.mac.is_zero()) {
      const auto given = devices_.back() ? devices_.back()->mac() : std::nullopt;
      port.mac = given.value_or(derived_mac(section.config.id, place.port));
    }
    if (devices_.back()) {
      warn_if_deaf(section.config.name, port, *devices_.back());
    }
  }
  deal_queues(topology_, static_cast<unsigned>(config_.cores.size()), queues);
  control_devices(config_);
  return {};
}

void Dataplane::control_devices(const control::DaemonConfig& config) {
  for (const auto& section : config.switches) {
    warn_of_losses(section.config);
  }
  for (std::uint32_t number = 0; number < devices_.size(); ++number) {
    const auto& place = topology_.ports[number];
    if (devices_[number]) {
      devices_[number]->control_flow(
          config.switches[place.switch_index].config.ports[place.port].flow.mode);
    }
  }
}

tl::unexpected<std::string> Dataplane::port_error(const PortPlace& place,
                                                  const std::string& what) const {
  const auto& config = config_.switches[place.switch_index].config;
  return tl::unexpected("switch \"" + config.name + "\", port \"" + config.ports[place.port].name +
                        "\": " + what);
}

void Dataplane::make_cores() {
  links_.resize(topology_.ports.size());
  for (unsigned core = 0; core < config_.cores.size(); ++core) {
    cores_.push_back(std::make_unique<Core>(
        CoreSetup{core, static_cast<unsigned>(config_.cores.size()), config_.cores[core],
                  &topology_, rings_.get(), store_->mempool(), &pulses_, &gauges_, &buffers_},
        config_, devices_));
  }
}

void Dataplane::launch() {
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    launch_on_core(i, run_core, cores_[i].get());
  }
  running_ = true;
}

void Dataplane::stop() {
  if (!running_) {
    return;
  }
  for (auto& core : cores_) {
    core->stop();
  }
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    wait_for_core(i);
  }
  running_ = false;
}

bool Dataplane::on_cores(const std::function<void(Core&, Time)>& action) {
  bool all = true;
  for (auto& core : cores_) {
    const auto bound = [&](Time now) { action(*core, now); };
    if (!running_) {
      bound(Time{});
    } else if (!core->mailbox().run(bound, core_timeout)) {
      spdlog::error("CPU {} did not answer within {} ms", core->status().cpu, core_timeout.count());
      all = false;
    }
  }
  return all;
}

void Dataplane::drain(std::chrono::milliseconds bound) {
  const std::lock_guard lock(mutex_);
  on_cores([](Core& core, Time) { core.stop_receiving(); });
  const auto end = std::chrono::steady_clock::now() + bound;
  // Cores are asked one after the other, and a packet may go past the question once.
  for (int rounds_empty = 0; rounds_empty < 2 && std::chrono::steady_clock::now() < end;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    bool empty = true;
    on_cores([&](Core& core, Time) { empty = empty && core.queues_empty(); });
    rounds_empty = empty ? rounds_empty + 1 : 0;
  }
}

void Dataplane::poll_links() {
  const std::lock_guard lock(mutex_);
  for (std::size_t number = 0; number < devices_.size(); ++number) {
    if (!devices_[number]) {
      continue;
    }
    if (devices_[number]->can_reconnect()) {
      reconnect(static_cast<std::uint32_t>(number));
    }
    links_[number].device_up = devices_[number]->link_up();
  }
  apply_links();
}

// While no core touches the device.
void Dataplane::reconnect(std::uint32_t number) {
  const auto pause = [&](bool paused) {
    return on_cores([&](Core& core, Time) { core.pause(number, paused); });
  };
  if (pause(true)) {
    devices_[number]->reconnect();
    pause(!devices_[number]->started());
  }
}

// A port is up when it may be, its device has a link, and the same holds for the far end.
void Dataplane::apply_links() {
  const auto able = [&](std::size_t number) {
    return links_[number].admin_up && links_[number].device_up;
  };
  for (std::uint32_t number = 0; number < links_.size(); ++number) {
    const auto& place = topology_.ports[number];
    const bool up = able(number) && (place.peer == no_peer || able(place.peer));
    if (up == links_[number].applied) {
      continue;
    }
    const bool told = on_cores([&](Core& core, Time) { core.set_port_up(number, up); });
    if (!told) {
      continue;  // a core missed it: the next poll tells them again
    }
    links_[number].applied = up;
    spdlog::info("{}:{} is {}", config_.switches[place.switch_index].config.name,
                 port_name(place.switch_index, place.port), up ? "up" : "down");
  }
}

control::Outcome Dataplane::set_port(const std::string& switch_name, const std::string& port,
                                     bool up) {
  const std::lock_guard lock(mutex_);
  for (std::uint32_t number = 0; number < topology_.ports.size(); ++number) {
    const auto& place = topology_.ports[number];
    if (config_.switches[place.switch_index].config.name == switch_name &&
        port_name(place.switch_index, place.port) == port) {
      links_[number].admin_up = up;
      apply_links();
      return {};
    }
  }
  return tl::unexpected("there is no port \"" + switch_name + ":" + port +
                        "\"; `tributaryctl port` lists them");
}

tl::expected<control::DaemonConfig, std::string> Dataplane::merged_with(
    const control::DaemonConfig& next) const {
  auto wanted = next;
  if (given_.cores.empty() && next.cores.empty()) {
    wanted.cores = config_.cores;  // automatic as before
  }
  return merge_reload(config_, wanted, trees_, memory_.packets);
}

control::Outcome Dataplane::check_reload(const control::DaemonConfig& next) {
  const std::lock_guard lock(mutex_);
  return merged_with(next).map([](const auto&) {});
}

control::Outcome Dataplane::reload(const control::DaemonConfig& next) {
  const std::lock_guard lock(mutex_);
  auto merged = merged_with(next);
  if (!merged) {
    return tl::unexpected(merged.error());
  }
  if (auto done = reconfigure(std::move(*merged)); !done) {
    return done;
  }
  given_ = next;
  return {};
}

control::Outcome Dataplane::set_trees(const control::RuntimeTrees& next) {
  const std::lock_guard lock(mutex_);
  auto merged = merge_trees(config_, given_, next);
  if (!merged) {
    return tl::unexpected(merged.error());
  }
  // First to disk: what is in force is never more than what comes back.
  const auto state = control::state_path(config_);
  const auto save = [&](const control::RuntimeTrees& trees) {
    return state.empty() ? control::Outcome{} : control::save_trees(state, trees);
  };
  if (auto saved = save(next); !saved) {
    return tl::unexpected("the trees cannot be kept for the next start: " + saved.error());
  }
  if (auto done = reconfigure(std::move(*merged)); !done) {
    if (const auto restored = save(trees_); !restored) {
      spdlog::error("the next start will take up trees that were refused: {}", restored.error());
    }
    return done;
  }
  trees_ = next;
  return {};
}

control::Outcome Dataplane::reconfigure(control::DaemonConfig next) {
  const auto tell = [&](const control::DaemonConfig& config) {
    return on_cores([&](Core& core, Time) { core.reconfigure(config); });
  };
  cores_agree_ = tell(next);
  if (!cores_agree_) {
    cores_agree_ = tell(config_);  // those that took it up go back
    return tl::unexpected(
        std::string("a packet core did not take up the configuration; do it again"));
  }
  config_ = std::move(next);
  control_devices(config_);
  return {};
}

std::string Dataplane::port_name(std::uint32_t switch_index, PortIndex port) const {
  const auto& ports = config_.switches[switch_index].config.ports;
  return port < ports.size() ? ports[port].name : "bridge";
}

}  // namespace tributary::dataplane
