// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "host/call.h"
#include "host/communicator.h"
#include "host/deadline.h"
#include "host/error.h"
#include "host/partial_result.h"
#include "host/probe.h"
#include "host/ring/ring.h"
#include "host/runner.h"
#include "host/statistics.h"

namespace tributary::host {

// Carries the collectives of a job by one protocol: with a machine and its driver, or with an RDMA
// device instead of both. The ring of the hosts stands beside it.
class Carrier {
 public:
  Carrier() = default;
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;
  virtual ~Carrier() = default;

  virtual Runner& runner() = 0;
  // From now on other ranks are answered between collectives, too.
  virtual Result<void> attend() = 0;
  // Tries the protocol out together with the other ranks, and says by which algorithm to go on.
  virtual Result<Choice> find_out(Ring& ring, const Deadline& until) = 0;

  // Tells whether it can carry that call; if not, the ring of the hosts does. Shares are scattered
  // and gathered only by a carrier that says so.
  virtual bool takes(const Call& call) const { return !is_of_shares(call.collective); }
  // Tells whether switches may have been told to add these in an order that is always the same.
  virtual bool orders(const Buffers& /*buffers*/) const { return false; }
  // Tells whether its runner takes sparse calls. All ranks get the same answer, once the protocol
  // was tried out.
  virtual bool takes_sparse() const { return false; }
  // Returns how many packets a collective may have; one that would have more is refused.
  virtual std::size_t packets_max() const { return std::numeric_limits<std::size_t>::max(); }
  // Collectives fail, from now on, where hosts would have to reduce.
  virtual void require_switches() {}
  // Returns what people should hear about the last collective, if anything, in one line.
  virtual std::optional<std::string> news() { return std::nullopt; }
  // Is called while this rank waits for others in a call of the ring; an error ends that call.
  virtual Result<void> hear() { return {}; }
  // Returns why the ring's connections broke, if others can tell; otherwise the error that it got.
  virtual Error explain(const Error& why) { return why; }
  // Returns what lacks whom in the result of the last collective that it carried; an error if
  // nobody can tell.
  virtual Result<std::vector<PartialResult>> partial_results() {
    return std::vector<PartialResult>{};
  }
  // Tells whether it can carry more collectives after one has failed.
  virtual bool survives_failures() const { return true; }
  // Tells whether packets go by a device, which sends again by itself, but after seconds.
  virtual bool on_device() const { return false; }

  virtual FullPacket full_packet() const = 0;
  virtual ProtocolStatistics statistics() = 0;
};

}  // namespace tributary::host
