// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/clock.h"
#include "host/datagram.h"
#include "host/outbox.h"
#include "host/roce/requester.h"
#include "host/roce/responder.h"
#include "host/roce/statistics.h"
#include "protocols/netreduce/host/link.h"
#include "protocols/netreduce/host/plan.h"

namespace tributary::host {

// The Reliable Connections of this link are made in software, out of datagrams. It does no I/O.
class SoftwareLink final : public Link {
 public:
  // `here` is this rank's.
  SoftwareLink(const NetReducePlan& plan, const wire::IpAddress& here, const LinkPlan& ends,
               const roce::Tuning& tuning);

  wire::MutableBytes send_slot(std::uint32_t slot) override;
  wire::Bytes received_slot(std::uint32_t slot) override;
  Result<void> post(std::uint32_t message, std::uint32_t bytes) override;

  // Takes datagrams as they came, and checks them.
  void receive(std::span<const Arrival> burst, Time now);
  void poll(Outbox& outbox, Time now);
  Time deadline() const { return requester_.deadline(); }
  void expire(Time now) { requester_.expire(now); }

  // Returns the next message of the rank before that lies in its slot, if there is one.
  std::optional<roce::Written> next_arrived() { return responder_.next_written(); }
  // Returns the acknowledged messages, counted from the first of the run.
  std::uint32_t acknowledged() const {
    return static_cast<std::uint32_t>(requester_.acknowledged());
  }
  // Returns the packets that came in order, or were acknowledged; repeats do not count.
  std::uint64_t packets_passed() const {
    return responder_.statistics().packets_received + requester_.packets_acknowledged();
  }
  bool idle() const { return requester_.idle(); }
  const std::optional<std::string>& failure() const { return requester_.failure(); }
  RoceStatistics statistics() const;

 private:
  void examine(const Arrival& arrival, Time now);

  NetReducePlan plan_;
  LinkEnd next_;  // where messages go
  std::vector<std::byte> sent_;
  std::vector<std::byte> received_;
  roce::Requester requester_;
  roce::Responder responder_;
  RoceStatistics statistics_;  // of packets that are neither's
};

}  // namespace tributary::host
