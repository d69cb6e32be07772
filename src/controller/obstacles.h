// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "controller/topology.h"

namespace tributary::controller {

// This mends a job with two workers behind one port.
inline constexpr auto one_worker_a_port =
    "a switch takes one worker of a job by each port: give each a port of its own, or name one "
    "host for all ranks of a machine, which add up before they send (ParallelCommunicator)";

// Returns "a, b, c".
std::string joined(const std::vector<std::string>& words);

// Returns "switch leaf1 does not answer", or "each of leaf1, leaf2 does not answer".
std::string said_of(const std::vector<std::string>& switches, const std::string& what);

// The same is to be said about these switches; those of one daemon fail together.
struct Alike {
  std::string what;
  std::vector<std::string> switches;
};
void add_to(std::vector<Alike>& groups, const std::string& name, const std::string& what);

// Lists what no tree can lead through. Switches with the same fault are named together.
std::vector<std::string> obstacles(const Topology& topology);

}  // namespace tributary::controller
