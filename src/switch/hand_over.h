// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <utility>

#include "engine/actions.h"
#include "engine/frame.h"
#include "packet/clock.h"
#include "packet/list.h"
#include "packet/runs.h"
#include "switch/aggregation.h"

namespace tributary::switching {

// Cores of a switch hand over to each other packets of blocks that another core owns, and partial
// sums of such blocks.
class HandOver {
 public:
  HandOver(Aggregation& aggregation, engine::Actions& actions, unsigned cores)
      : aggregation_(aggregation), actions_(actions), cores_(cores) {}

  void prepare(PacketRuns& passed_on, PacketRuns& partial_sums) const {
    if (cores_ > 1) {
      passed_on.reserve(cores_);
      partial_sums.reserve(cores_);
    }
  }
  // Gives each engine the sums that are its own, in their order.
  void merge(PacketList sums, Time now) {
    while (!sums.empty()) {
      const auto claim = engine::noted_claim(*sums.front());
      merge_run(take_of(claim, sums), claim, now);
    }
  }
  void send(PacketRuns& passed_on, PacketRuns& partial_sums) {
    pass(actions_.passed_on(), passed_on);
    pass(actions_.partial_sums(), partial_sums);
  }

 private:
  // Takes the sums at the front, as far as they are of that protocol.
  static PacketList take_of(std::uint8_t claim, PacketList& sums) {
    PacketList run;
    while (!sums.empty() && engine::noted_claim(*sums.front()) == claim) {
      run.push(sums.pop());
    }
    return run;
  }
  void merge_run(PacketList run, std::uint8_t claim, Time now) {
    if (auto* slot = aggregation_.claimed_by(claim)) {
      return slot->engine->merge(std::move(run), now, actions_);
    }
    while (run.pop()) {  // the engine was taken away meanwhile
      actions_.lose(DropReason::local_unserved);
    }
  }
  static void pass(PacketRuns& from, PacketRuns& to) {
    from.drain([&](std::uint32_t core, PacketList run) { to.append(core, std::move(run)); });
  }

  Aggregation& aggregation_;
  engine::Actions& actions_;
  unsigned cores_;
};

}  // namespace tributary::switching
