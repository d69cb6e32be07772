// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/dataplane.h"

#include <algorithm>
#include <cassert>
#include <fmt/chrono.h>
#include <fmt/ranges.h>
#include <thread>
#include <utility>

#include <spdlog/spdlog.h>

#include "control/cores.h"
#include "control/tree_store.h"
#include "dataplane/launch.h"
#include "dataplane/reload.h"

namespace tributary::dataplane {
namespace {

constexpr std::chrono::milliseconds reload_patience{1000};  // only to tell who is late

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

// The trees were found to fit.
control::DaemonConfig with_state(control::DaemonConfig config, const control::RuntimeState& state) {
  const auto added = control::add_trees(config, state.trees);
  assert(added);
  control::add_seeds(config, state.seeds);
  return config;
}

std::chrono::milliseconds time_until(std::chrono::steady_clock::time_point end) {
  const auto left = end - std::chrono::steady_clock::now();
  return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(left),
                  std::chrono::milliseconds::zero());
}

bool warn_unless(const control::Outcome& done) {
  if (!done) {
    spdlog::warn("{}", done.error());
  }
  return done.has_value();
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
      runtime_(control::restore_state(config)),
      config_(with_cores(with_state(config, runtime_))),
      version_(std::move(version)),
      memory_(plan_memory(config_, free_hugepage_megabytes())),
      topology_(plan_topology(config_)),
      pulses_(config_.cores.size()),
      handlers_(config_.handler_directory, [this] { return on_cores([](Core&, Time) {}); }) {
  for (const auto& section : config.switches) {
    gauges_.emplace_back(section.config.ports.size());
    buffers_.emplace_back(section.config.ports.size());
  }
}

Dataplane::~Dataplane() {
  stop();
}

control::Outcome Dataplane::open_all() {
  if (auto usable = check_ports(config_, topology_); !usable) {
    return usable;
  }
  if (auto loaded = handlers_.apply(config_.handlers); !loaded) {
    return loaded;
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
  auto devices = open_devices(config_, topology_, store_->mempool());
  if (!devices) {
    return tl::unexpected(devices.error());
  }
  devices_ = std::move(*devices);
  control_flow(devices_, config_, topology_);
  return {};
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

void Dataplane::set_core_patience(std::chrono::milliseconds patience) {
  const std::lock_guard lock(mutex_);
  core_patience_ = patience;
}

control::Outcome Dataplane::on_cores(const std::function<void(Core&, Time)>& action) {
  // A core that is late does not keep the others from knowing.
  constexpr auto least_patience = std::chrono::milliseconds(50);
  const auto end = std::chrono::steady_clock::now() + core_patience_;
  control::Outcome outcome;
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    const auto bound = [&](Time now) { action(*cores_[i], now); };
    if (!running_) {
      bound(Time{});
    } else if (!cores_[i]->mailbox().run(bound, std::max(time_until(end), least_patience)) &&
               outcome) {
      outcome = tl::unexpected(fmt::format(
          "the packet core on CPU {} did not answer within {}; do it again, and if that "
          "does not help see what else runs on that CPU (`top -H`)",
          config_.cores[i], core_patience_));
    }
  }
  return outcome;
}

void Dataplane::drain(std::chrono::milliseconds bound) {
  const std::lock_guard lock(mutex_);
  warn_unless(on_cores([](Core& core, Time) { core.stop_receiving(); }));
  const auto end = std::chrono::steady_clock::now() + bound;
  // Cores are asked one after the other, so a packet may go past the question once.
  for (int rounds_empty = 0; rounds_empty < 2 && std::chrono::steady_clock::now() < end;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    bool empty = true;
    const auto asked = on_cores([&](Core& core, Time) { empty = empty && core.queues_empty(); });
    rounds_empty = asked && empty ? rounds_empty + 1 : 0;
  }
}

void Dataplane::poll_links() {
  const std::lock_guard lock(mutex_);
  bool lines_changed = false;
  for (std::size_t number = 0; number < devices_.size(); ++number) {
    if (!devices_[number]) {
      continue;
    }
    if (devices_[number]->can_reconnect() || !links_[number].paused_told) {
      reconnect(static_cast<std::uint32_t>(number));
    }
    const bool up = devices_[number]->link_up();
    links_[number].device_up = up;
    const auto& place = topology_.ports[number];
    auto& port = config_.switches[place.switch_index].config.ports[place.port];
    lines_changed |= up && note_line(port, devices_[number]->line_bps());
  }
  apply_links();
  if (lines_changed) {
    reconfigure(config_);
  }
}

// The device is connected again while no core touches it.
void Dataplane::reconnect(std::uint32_t number) {
  const auto pause = [&](bool paused) {
    return warn_unless(on_cores([&](Core& core, Time) { core.pause(number, paused); }));
  };
  auto& device = *devices_[number];
  if (device.can_reconnect() && pause(true)) {
    device.reconnect();
  }
  links_[number].paused_told = pause(!device.started());
}

// A port is up when it may be, its device has a link, and the same holds for the far end.
void Dataplane::apply_links() {
  const auto able = [&](std::size_t number) {
    return links_[number].admin_up && links_[number].device_up;
  };
  for (std::uint32_t number = 0; number < links_.size(); ++number) {
    const auto& place = topology_.ports[number];
    const bool up = able(number) && (place.peer == no_peer || able(place.peer));
    auto& link = links_[number];
    if (link.told && up == link.applied) {
      continue;
    }
    // Where a core misses it, others may know, so the next poll tells all of them again.
    link.told = warn_unless(on_cores([&](Core& core, Time) { core.set_port_up(number, up); }));
    if (!link.told) {
      continue;
    }
    link.applied = up;
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
      if (!links_[number].told) {
        return tl::unexpected(
            "a packet core did not answer in time, so not all of them know yet that the port is " +
            std::string(up ? "up" : "down") + "; they are told until they do");
      }
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
    wanted.cores = config_.cores;  // as automatic as before
  }
  auto merged = merge_reload(config_, wanted, runtime_.trees, memory_.packets);
  if (merged) {
    control::add_seeds(*merged, runtime_.seeds);
  }
  return merged;
}

tl::expected<std::vector<control::ConfigChange>, std::string> Dataplane::check_reload(
    const control::DaemonConfig& next) {
  const std::lock_guard lock(mutex_);
  const auto merged = merged_with(next);
  return merged ? handlers_.check(next.handlers) : tl::unexpected(merged.error());
}

tl::expected<control::LateCpus, std::string> Dataplane::reload(const control::DaemonConfig& next) {
  const std::lock_guard lock(mutex_);
  auto merged = merged_with(next);
  if (!merged) {
    return tl::unexpected(merged.error());
  }
  if (auto changed = handlers_.apply(next.handlers); !changed) {
    return tl::unexpected(changed.error());
  }
  given_ = next;
  return reconfigure(std::move(*merged));
}

control::Outcome Dataplane::set_trees(const control::RuntimeTrees& next) {
  const std::lock_guard lock(mutex_);
  auto merged = control::with_trees(config_, given_, next);
  if (!merged) {
    return tl::unexpected(merged.error());
  }
  // The trees go to disk first: what is in force is never more than what comes back.
  if (auto kept = keep({next, runtime_.seeds}, "the trees"); !kept) {
    return kept;
  }
  runtime_.trees = next;
  reconfigure(std::move(*merged));
  return {};
}

control::Outcome Dataplane::set_seeds(const control::RuntimeSeeds& next) {
  const std::lock_guard lock(mutex_);
  if (auto kept = keep({runtime_.trees, next}, "the seeds"); !kept) {
    return kept;
  }
  runtime_.seeds = next;
  reconfigure(control::with_seeds(config_, given_, next));
  return {};
}

control::Outcome Dataplane::keep(const control::RuntimeState& state,
                                 const std::string& what) const {
  const auto path = control::state_path(config_);
  if (const auto saved = path.empty() ? control::Outcome{} : control::save_state(path, state);
      !saved) {
    return tl::unexpected(what + " cannot be kept for the next start: " + saved.error() +
                          "; make room there, or name another file with `state` in [daemon]");
  }
  return {};
}

std::vector<control::HandlerRow> Dataplane::handlers() {
  const std::lock_guard lock(mutex_);
  return handlers_.list();
}

control::Outcome Dataplane::load_handler(const control::HandlerConfig& wanted) {
  const std::lock_guard lock(mutex_);
  return handlers_.load(wanted);
}

control::Outcome Dataplane::unload_handler(unsigned number) {
  const std::lock_guard lock(mutex_);
  return handlers_.unload(number);
}

void Dataplane::poll_handlers() {
  const std::lock_guard lock(mutex_);
  for (const auto& slow : handlers_.newly_slow()) {
    spdlog::warn("{}", slow);
  }
}

control::LateCpus Dataplane::reconfigure(control::DaemonConfig next) {
  config_ = std::move(next);
  const auto shared = std::make_shared<const control::DaemonConfig>(config_);
  for (auto& core : cores_) {
    if (running_) {
      core->mailbox().post([&core = *core, shared](Time) { core.reconfigure(*shared); });
    } else {
      core->reconfigure(*shared);
    }
  }
  control_flow(devices_, config_, topology_);
  control::LateCpus late;
  const auto end = std::chrono::steady_clock::now() + reload_patience;
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    if (!cores_[i]->mailbox().settled(time_until(end))) {
      late.push_back(config_.cores[i]);
    }
  }
  if (!late.empty()) {
    spdlog::warn(
        "packet cores on CPUs {} are late: they take up the configuration before their "
        "next burst",
        fmt::join(late, ", "));
  }
  return late;
}

std::string Dataplane::port_name(std::uint32_t switch_index, PortIndex port) const {
  const auto& ports = config_.switches[switch_index].config.ports;
  if (port < ports.size()) {
    return ports[port].name;
  }
  return port == forwarding::bridge_interface
             ? "bridge"
             : "vlan" + std::to_string(forwarding::vid_of_interface(port));
}

}  // namespace tributary::dataplane
