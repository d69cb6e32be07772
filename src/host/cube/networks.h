// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "host/call.h"
#include "host/communicator.h"
#include "host/communicator_options.h"
#include "host/cube/interfaces.h"
#include "host/cube/layout.h"
#include "host/cube/network_plan.h"
#include "host/deadline.h"
#include "host/error.h"
#include "host/rendezvous/rendezvous.h"
#include "host/runner.h"

namespace tributary::host {

// Carries out allreduces over several interfaces through switches, as a NetworkPlan says. It has
// one communicator or several for each interface, of the ranks that share its network, in which the
// switches add. In a call each communicator has a thread.
class CubeNetworks final : public Runner {
 public:
  // `options` outlive it.
  CubeNetworks(const CommunicatorOptions& options, Job job, const CubeLayout& layout,
               std::uint32_t pieces_max, std::vector<CubeInterface> interfaces,
               std::vector<std::vector<Endpoint>> all);

  // All ranks call it at once. What failed once fails again: ranks meet once only.
  Result<void> connect(Time until);
  // Returns what the communicators have had to say since the last time, such as by which algorithm
  // each goes: "eth0: canary, ...; eth1: ..."
  std::string take_notices();
  // Fails where an interface is down, unless that was told since it ran: what goes by the ring may
  // go on over the others.
  Result<void> hear();

  Result<void> run(const Call& call, Deadline until) override;
  void skip(const Call& call) override;
  bool retaining() override { return false; }  // its communicators answer by themselves
  const Job& job() const override { return job_; }

  // Returns the sums over all interfaces.
  Figures figures() const;

 private:
  class Progress;

  Result<void> connect_all(Time until);
  Result<Communicator> meet_over(std::uint32_t interface, Time until);
  CommunicatorOptions options_of(std::uint32_t interface);
  void carry_out(const std::vector<NetworkPlan::Step>& steps, std::size_t network,
                 const Deadline& until, Progress& progress);
  enum class Losses : std::uint8_t { all, untold };
  Result<void> look_for(Losses losses);
  Result<void> watch(const Deadline& until, const std::function<bool()>& is_done);
  Error about(std::uint32_t interface, const Error& error) const;
  std::uint32_t interface_of(std::size_t network) const {
    return static_cast<std::uint32_t>(network) / networks_per_interface();
  }
  NetworkPlan plan_of(const Call& call) const { return {call, layout_, pieces_max_}; }
  std::uint32_t networks_per_interface() const;

  const CommunicatorOptions& options_;
  Job job_;
  CubeLayout layout_;
  std::uint32_t pieces_max_;  // of a part
  std::vector<CubeInterface> interfaces_;
  std::vector<std::vector<Endpoint>> all_;
  std::mutex mutex_;  // guards what the communicators say, each in its thread
  std::string notices_;
  Result<void> connected_;
  bool was_tried_ = false;
  std::vector<bool> was_told_of_;       // by interface: that it is down
  std::vector<Communicator> networks_;  // as the plan's; last, as they may speak when they end
};

}  // namespace tributary::host
