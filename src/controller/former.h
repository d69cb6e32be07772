// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/topology.h"

namespace tributary::controller {

inline bool leads(const SwitchPort& end, std::size_t sw, const std::string& port) {
  return end.switch_index == sw && end.port == port;
}

// The switches had these parts of one tree before.
class Former {
 public:
  Former(const Topology& topology, const std::vector<PlacedPart>& installed, std::uint32_t job,
         std::size_t tree);

  // Returns how many parts stay where they are if `root`, so many links from each switch, is the
  // root.
  std::size_t kept(std::size_t root, const std::vector<std::size_t>& distances) const;
  // Returns the ports towards the root, by switch.
  std::map<std::size_t, std::string> parents() const;
  // Returns the group that most switches have: a switch that was gone may have an older one.
  std::optional<wire::Ipv4Address> group() const;

 private:
  struct Part {
    const PlacedPart* placed = nullptr;
    std::optional<std::size_t> above;  // the switch behind the port to the parent
  };
  std::vector<Part> parts_;
};

}  // namespace tributary::controller
