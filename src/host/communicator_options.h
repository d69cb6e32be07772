// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "host/error.h"
#include "wire/encapsulation.h"

namespace tributary {

// Options of protocols by name, as text; docs/reference/library.md lists them.
using Parameters = std::map<std::string, std::string, std::less<>>;

// Says what happens when switches do not reduce.
enum class Fallback : std::uint8_t {
  allow,  // the hosts reduce instead; a notice says so once, and statistics count it
  error,  // create(), or the collective, fails
};

// Says how this process comes into its world, and whether the world can change.
enum class Membership : std::uint8_t {
  fixed,    // it has a rank, and the ranks stay the same
  elastic,  // it has a rank among those who found the world; Communicator::regroup() changes it
  join,     // it is a newcomer to an elastic world that exists, and is given a rank
};

std::string_view name(Fallback fallback);
std::optional<Fallback> fallback_of(std::string_view name);

struct CommunicatorOptions {
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
  std::string
      rendezvous;  // "address:port"; rank 0 listens there, or the keeper of an elastic world
  Membership membership = Membership::fixed;
  // A newcomer waits so long to be taken in.
  std::chrono::nanoseconds join_timeout = std::chrono::minutes(10);
  // A long random text that only the ranks of this job know, and that is the same for all of them.
  // Whoever comes to the rendezvous without knowing it is turned away; empty: everybody is
  // believed.
  std::string secret;
  std::string local_address;           // IPv4; empty: the one that routes to the rendezvous
  std::uint32_t local_world_size = 1;  // ranks on this machine
  std::uint16_t mtu = 0;     // IP bytes; 0: that of the interface. The smallest of all ranks counts
  std::uint32_t window = 0;  // blocks in flight per worker; 0: chosen from the receive buffer
  // A collective fails when it has made no progress for so long, that is, when nothing new of it
  // came to this rank. While it makes progress it may take any time.
  std::optional<std::chrono::nanoseconds> stall_timeout;
  // If this is given, ranks that are late are waited for so long without progress, as long as all
  // are there, as far as this rank can tell; `stall_timeout` counts once one has ended, or its
  // machine has not answered for so long.
  std::optional<std::chrono::nanoseconds> late_timeout;
  // A collective fails when it is not done after so long, progress or not. If only this is given,
  // there is no stall timeout; if neither is, the stall timeout is stall_timeout_default. create()
  // takes no longer than the shorter of the two.
  std::optional<std::chrono::nanoseconds> deadline;
  static constexpr std::chrono::nanoseconds stall_timeout_default = std::chrono::seconds(30);
  wire::Encapsulation encapsulation = wire::Encapsulation::udp;

  // The number by which switches know the job; 0: rank 0 draws one. It and the next three options
  // are the same on all ranks.
  std::uint32_t job = 0;
  // Says how collectives are carried out. A name that a protocol has ("canary") chooses that
  // protocol. "ring": by the hosts alone, over TCP. "auto": by the protocol that `parameters` are
  // for, or else by the one that needs none; but by the ring where switches do not take part, and
  // for sizes for which ranks measured at creation that hosts are faster (the parameter "tune").
  std::string algorithm = "auto";
  Fallback fallback = Fallback::allow;
  // The same contributions give the same bits, whatever carries them, in whichever order they come,
  // and wherever the ranks are. Float sums are then sums of integers, which take more bytes, and a
  // small collective more. At most 16384 ranks can have that, and not where sums may lack ranks.
  bool reproducible = false;
  Parameters parameters;
  // It is told, on every rank, what people should know: one line that says by which algorithm the
  // communicator runs and why, and at most one more when hosts had to help out. It is called from
  // within create() and collectives; the thread of a CollectiveQueue also tells it whom others wait
  // for. The parameters "log" and "report" ask for less or more, which is said when the
  // communicator ends. Empty: rank 0 writes the lines to standard error.
  std::function<void(const std::string&)> on_notice;

  // Sets an option of a protocol: set("trees", "239.192.0.1,239.192.0.2").
  CommunicatorOptions& set(std::string name, std::string value) {
    parameters.insert_or_assign(std::move(name), std::move(value));
    return *this;
  }

  // Reads RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun sets them, or what mpirun and
  // srun set in their place; a process that joins a world has neither rank nor size. It also reads,
  // if they are set: TRIBUTARY_MEMBERSHIP ("fixed", "elastic" or "join"), TRIBUTARY_JOIN_TIMEOUT,
  // LOCAL_WORLD_SIZE, TRIBUTARY_SECRET, TRIBUTARY_LOCAL_ADDRESS or TRIBUTARY_INTERFACE,
  // TRIBUTARY_MTU, TRIBUTARY_WINDOW, TRIBUTARY_STALL_TIMEOUT, TRIBUTARY_LATE_TIMEOUT and
  // TRIBUTARY_DEADLINE ("500ms"; seconds without a unit), TRIBUTARY_ENCAPSULATION ("udp" or
  // "ethernet"), TRIBUTARY_JOB, TRIBUTARY_ALGORITHM, TRIBUTARY_FALLBACK ("allow" or "error"),
  // TRIBUTARY_REPRODUCIBLE ("0" or "1"), and for every parameter the variable that is TRIBUTARY_
  // with its name in capitals.
  static Result<CommunicatorOptions> from_environment();
};

}  // namespace tributary
