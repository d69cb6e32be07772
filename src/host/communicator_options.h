// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/error.h"
#include "wire/encapsulation.h"

namespace tributary {

// How a communicator carries out its collectives.
enum class Algorithm : std::uint8_t {
  automatic,  // PANAMA where trees are given, NetReduce where a ring of a switch is, or Canary
              // where a switch between the ranks aggregates; otherwise the ring of the hosts
  canary,     // also where none does: then the leaders add up everything themselves
  ring,       // by the hosts alone, over TCP
  panama,     // over the trees that were set up for the job; the ring if they do not answer
  netreduce,  // over a ring of Reliable Connections whose switch adds; the ring if it does not
  roce_ring,  // by the hosts alone, over the same connections, in software: to compare with; only
              // allreduce, other collectives take the ring
};

inline constexpr std::size_t algorithm_count = 6;

// What happens when the switches do not do their part.
enum class Fallback : std::uint8_t {
  allow,  // the hosts do it; said once, and counted
  error,  // create(), or the collective, fails
};

std::string_view name(Algorithm algorithm);
std::optional<Algorithm> algorithm_of(std::string_view name);
std::string_view name(Fallback fallback);
std::optional<Fallback> fallback_of(std::string_view name);

struct CommunicatorOptions {
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
  std::string rendezvous;  // "address:port"; rank 0 listens there
  // Known to the ranks of this job alone, the same for all: a long random text. Whoever reaches the
  // rendezvous and does not know it is turned away; empty: everybody is believed.
  std::string secret;
  std::string local_address;           // IPv4; empty: the one that routes to the rendezvous
  std::uint32_t local_world_size = 1;  // ranks on this machine
  std::uint16_t mtu = 0;     // IP bytes; 0: that of the interface. The smallest of all ranks counts
  std::uint32_t window = 0;  // blocks in flight per worker; 0: chosen from the receive buffer
  // A collective fails when it has made no progress for so long: nothing new of it came to this
  // rank. However long it takes, it goes on while it does.
  std::optional<std::chrono::nanoseconds> stall_timeout;
  // A collective fails when it is not done after so long, progress or not. Where only this is
  // given, there is no stall timeout; where neither is, that is stall_timeout_default. create()
  // takes no longer than the shorter of the two.
  std::optional<std::chrono::nanoseconds> deadline;
  static constexpr std::chrono::nanoseconds stall_timeout_default = std::chrono::seconds(30);
  wire::Encapsulation encapsulation = wire::Encapsulation::udp;

  // Identifies the job to the switches (their [[switch.canary.job]]); 0: rank 0 draws one.
  // This and the next five are the same on all ranks.
  std::uint32_t job = 0;
  Algorithm algorithm = Algorithm::automatic;
  Fallback fallback = Fallback::allow;
  // PANAMA: the multicast groups of the job's aggregation trees, in the order of their ids.
  std::vector<std::string> trees;
  // Whether a tree's window follows congestion; otherwise it is what its switches have room for.
  bool congestion_control = true;
  // Partial aggregation: the share of the ranks that a sum needs. The trees must be set up for it.
  double share = 1;
  // NetReduce: the ring, its window (in messages), the packets of a message and their payload
  // bytes, as the switch's [[switch.netreduce.ring]] has them.
  std::optional<std::uint32_t> netreduce_ring;
  std::uint16_t netreduce_window = 2;
  std::uint16_t netreduce_message = 170;
  std::uint16_t netreduce_mtu = 1024;
  // The RDMA device by which this rank is connected; empty: an endpoint in software.
  std::string rdma_device;
  // After which a device sends again what is not acknowledged; 0: so long that it does not give a
  // rank up before the stall timeout, or the deadline, does.
  std::chrono::nanoseconds rdma_timeout{};
  // How often a block is tried in the network before the hosts reduce it; 1 to attempts_max.
  static constexpr std::uint32_t attempts_max = 15;
  std::uint32_t attempts = 4;
  // Is told, on every rank, what people should know: one line by which algorithm the communicator
  // runs and why, and at most one more when hosts had to help out. Called from within create() and
  // collectives. Empty: rank 0 writes the lines to standard error.
  std::function<void(const std::string&)> on_notice;

  // RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun sets them; and, if they are there,
  // LOCAL_WORLD_SIZE, TRIBUTARY_SECRET, TRIBUTARY_LOCAL_ADDRESS, TRIBUTARY_MTU, TRIBUTARY_WINDOW,
  // TRIBUTARY_STALL_TIMEOUT and TRIBUTARY_DEADLINE ("500ms"; seconds without a unit),
  // TRIBUTARY_ENCAPSULATION ("udp" or "ethernet"), TRIBUTARY_JOB, TRIBUTARY_ALGORITHM ("auto",
  // "canary", "panama", "netreduce", "roce-ring" or "ring"), TRIBUTARY_FALLBACK ("allow" or
  // "error"), TRIBUTARY_ATTEMPTS, TRIBUTARY_TREES (addresses, with commas between),
  // TRIBUTARY_CONGESTION_CONTROL ("on" or "off"), TRIBUTARY_SHARE ("0.88"),
  // TRIBUTARY_NETREDUCE_RING, TRIBUTARY_NETREDUCE_WINDOW, TRIBUTARY_NETREDUCE_MESSAGE,
  // TRIBUTARY_NETREDUCE_MTU, TRIBUTARY_RDMA_DEVICE and TRIBUTARY_RDMA_TIMEOUT ("1s").
  static Result<CommunicatorOptions> from_environment();

  bool wants_trees() const {
    return algorithm == Algorithm::panama || (algorithm == Algorithm::automatic && !trees.empty());
  }
  bool wants_netreduce() const {
    return algorithm == Algorithm::netreduce ||
           (algorithm == Algorithm::automatic && netreduce_ring && !wants_trees());
  }
  // Reliable Connections from rank to rank.
  bool wants_links() const { return wants_netreduce() || algorithm == Algorithm::roce_ring; }
};

}  // namespace tributary
