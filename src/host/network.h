// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "host/clock.h"
#include "host/communicator_options.h"
#include "host/error.h"
#include "host/job.h"
#include "host/machine.h"
#include "host/ring/ring.h"
#include "host/runner.h"
#include "host/selection.h"
#include "host/setup.h"
#include "host/transport/driver.h"
#include "host/verbs/verbs_runner.h"
#include "protocols/canary/host/collectives.h"
#include "protocols/netreduce/host/collectives.h"
#include "protocols/panama/host/collectives.h"

namespace tributary::host {

// What the collectives of two and more ranks run on: the machine of one protocol and who drives it,
// or an RDMA device instead of both; and the ring of the hosts, which works in any case.
class Network {
 public:
  Network(Connections connections, const CommunicatorOptions& options);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  Runner& runner() { return *runner_; }
  Ring& ring() { return ring_; }
  const Job& job() const { return runner_->job(); }
  bool on_device() const { return device_ != nullptr; }
  // Precondition: it runs PANAMA.
  bool leaves_ranks_out() const { return panama_->plan().quorum < job().world_size(); }

  // Tries it out, together with the other ranks, and says by which algorithm to go on.
  Result<Choice> find_out(const CommunicatorOptions& options, Time until);
  // From now on other ranks are answered between collectives, too.
  Result<void> attend();
  // Canary's collectives fail, from now on, where hosts would have to reduce.
  void require_switches();

  // Of protocols that do not run here: zeros.
  CanaryStatistics canary_statistics();
  PanamaStatistics panama_statistics();
  NetReduceStatistics netreduce_statistics();
  // So far, that hosts reduced without switches, as far as this rank had part in that.
  std::uint64_t blocks_by_hosts();

 private:
  std::unique_ptr<Machine> make_machine(Connections& connections,
                                        const CommunicatorOptions& options);

  CanaryCollectives* canary_ = nullptr;  // one of these is the machine, if there is one
  PanamaCollectives* panama_ = nullptr;
  NetReduceCollectives* netreduce_ = nullptr;
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<Driver> driver_;
  std::unique_ptr<VerbsRunner> device_;  // instead of those
  Runner* runner_;
  Ring ring_;
  bool mixed_;  // as Connections has it
};

}  // namespace tributary::host
