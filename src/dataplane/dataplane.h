// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "control/backend.h"
#include "control/handler_loader.h"
#include "control/tree_store.h"
#include "dataplane/core.h"
#include "dataplane/devices.h"
#include "dataplane/eal.h"

namespace tributary::dataplane {

// The Dataplane is the running switch: EAL, devices, packet cores. The methods may be called from
// several control threads; the packet cores never wait for them.
class Dataplane final : public control::Backend {
 public:
  // Opens every device; the cores wait for launch(). On error nothing is left open; the error names
  // the switch and the port and says what to do.
  static tl::expected<std::unique_ptr<Dataplane>, std::string> open(
      const control::DaemonConfig& config, std::string version);
  ~Dataplane() override;

  // Starts the packet cores.
  void launch();
  // Follows the devices' link state; it is to be called about ten times a second.
  void poll_links();
  // Tells the log which handlers the packet cores have closed; it is to be called as often.
  void poll_handlers();
  // Says whether somebody asked for shutdown() over the control socket.
  bool shutdown_requested() const { return shutdown_requested_.load(); }
  // Stops receiving and waits until the queues are empty, for at most `bound`.
  void drain(std::chrono::milliseconds bound);
  // All packet buffers are from this pool.
  rte_mempool* mempool() const { return store_->mempool(); }

  void set_core_patience(std::chrono::milliseconds patience) override;
  control::Queried<control::DaemonStatus> status() override;
  control::Queried<std::vector<control::SwitchStatus>> switches() override;
  control::Queried<std::vector<control::PortStatus>> ports() override;
  control::Queried<std::vector<control::RouteStatus>> routes() override;
  control::Queried<std::vector<control::BfdStatus>> bfd() override;
  control::Queried<std::vector<control::FdbStatus>> fdb() override;
  control::Queried<std::vector<control::VlanStatus>> vlans() override;
  control::Queried<std::vector<control::ArpStatus>> arp() override;
  control::Queried<std::vector<control::RouteStatus6>> routes6() override;
  control::Queried<std::vector<control::NeighbourStatus6>> neighbours6() override;
  control::Queried<std::vector<control::EngineStatus>> engines() override;
  control::Queried<std::vector<control::JobRow>> jobs() override;
  control::Queried<std::vector<control::DescriptorRow>> descriptors(std::size_t limit) override;
  control::Queried<std::vector<control::StallRow>> stalled(std::size_t limit) override;
  control::Queried<std::vector<control::TreeRow>> tree_states() override;
  const control::DaemonConfig& config() const override { return given_; }
  const control::RuntimeTrees& trees() const override { return runtime_.trees; }
  control::Outcome set_trees(const control::RuntimeTrees& next) override;
  const control::RuntimeSeeds& seeds() const override { return runtime_.seeds; }
  control::Outcome set_seeds(const control::RuntimeSeeds& next) override;
  tl::expected<control::LateCpus, std::string> reload(const control::DaemonConfig& next) override;
  tl::expected<std::vector<control::ConfigChange>, std::string> check_reload(
      const control::DaemonConfig& next) override;
  std::vector<control::HandlerRow> handlers() override;
  control::Outcome load_handler(const control::HandlerConfig& wanted) override;
  control::Outcome unload_handler(unsigned number) override;
  control::Outcome set_port(const std::string& switch_name, const std::string& port,
                            bool up) override;
  void shutdown() override { shutdown_requested_.store(true); }

 private:
  struct LinkState {
    bool admin_up = true;
    bool device_up = true;
    bool applied = true;      // what the cores know; a Switch begins with all ports up
    bool told = true;         // all of them do; else they are told again
    bool paused_told = true;  // all know whether they are to leave the device alone
  };

  Dataplane(const control::DaemonConfig& config, std::string version);
  control::Outcome open_all();
  void make_cores();
  void stop();
  // Runs `action` for every core, on its own thread and between its bursts, or here, while the
  // cores do not run. The error names the first core that did not answer in time, and so did not
  // run it; all others were asked.
  control::Outcome on_cores(const std::function<void(Core&, Time)>& action);
  // Returns what a reload would put in force, or why it cannot.
  tl::expected<control::DaemonConfig, std::string> merged_with(
      const control::DaemonConfig& next) const;
  // Keeps the state for the next start; the error begins with `what`.
  control::Outcome keep(const control::RuntimeState& state, const std::string& what) const;
  // Makes every core take up all of it before its next burst.
  control::LateCpus reconfigure(control::DaemonConfig next);
  void reconnect(std::uint32_t number);
  void apply_links();
  std::string port_name(std::uint32_t switch_index, PortIndex port) const;
  template <class Status, class Row>
  control::Queried<std::vector<Status>> neighbours_by(
      std::vector<Row> (switching::Switch::*known)(Time) const);
  template <class Status, class Row>
  control::Queried<std::vector<Status>> routes_by(std::vector<Row> (switching::Switch::*of)()
                                                      const);

  std::mutex mutex_;               // of the control threads
  control::DaemonConfig given_;    // as the operator wrote it; a reload is compared with it
  control::RuntimeState runtime_;  // what came over the control socket
  control::DaemonConfig config_;   // given_ with runtime_ and the MAC addresses that were automatic
  std::string version_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  MemoryPlan memory_;
  Topology topology_;
  // These are in the order of construction: cores return their packets before the devices close,
  // and devices before the store goes.
  std::unique_ptr<Eal> eal_;
  std::unique_ptr<MbufStore> store_;
  std::unique_ptr<HandoverRings> rings_;
  Devices devices_;
  std::vector<CorePulse> pulses_;
  Gauges gauges_;
  Buffers buffers_;
  std::vector<std::unique_ptr<Core>> cores_;
  control::HandlerLoader handlers_;
  std::vector<LinkState> links_;          // by port number
  std::vector<std::uint64_t> sent_told_;  // by port number: packets that status told of last
  std::chrono::milliseconds core_patience_ = control::core_patience_default;
  bool running_ = false;
  std::atomic<bool> shutdown_requested_{false};
};

}  // namespace tributary::dataplane
