// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "packet/list.h"

namespace tributary {

// PacketRuns sort owned packets by where they go next (a port, by its number): there is a run for
// each place, in the order in which its packets came. What is done for a run is done once, however
// many packets it has.
class PacketRuns {
 public:
  // Numbers are below `places` from now on. This allocates only when there are more than before.
  void reserve(std::size_t places) {
    if (places > runs_.size()) {
      runs_.resize(places);
      begun_.reserve(places);
    }
  }

  void push(std::uint32_t place, PacketPtr packet) { begin(place).push(std::move(packet)); }
  // Precondition: `run` has packets.
  void append(std::uint32_t place, PacketList&& run) { begin(place).append(std::move(run)); }

  // Calls take(place, PacketList) for each run, in the order in which they began. take() must not
  // add packets here.
  template <typename Take>
  void drain(Take&& take) {
    for (const auto place : begun_) {
      take(place, PacketList(std::move(runs_[place])));
    }
    begun_.clear();
  }

  bool empty() const { return begun_.empty(); }

 private:
  PacketList& begin(std::uint32_t place) {
    auto& run = runs_[place];
    if (run.empty()) {
      begun_.push_back(place);
    }
    return run;
  }

  std::vector<PacketList> runs_;      // by place
  std::vector<std::uint32_t> begun_;  // places that have packets
};

}  // namespace tributary
