// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "host/call.h"
#include "host/clock.h"
#include "host/communicator.h"
#include "host/communicator_options.h"
#include "host/deadline.h"
#include "host/error.h"
#include "host/parallel/machine_group.h"
#include "host/parallel/seating.h"
#include "host/transport/tcp.h"

namespace tributary::host {

// Collectives of ranks of which several are on a machine, however many on each. They go through
// memory there, and the first rank of each machine brings one vector for all of them to those of
// the other machines: by a communicator of these, whose ranks are machines.
class MachineCollectives {
 public:
  // All ranks know this of the communicator between the machines.
  struct Between {
    std::array<char, 32> algorithm{};
    std::uint32_t job = 0;
    std::uint32_t payload_bytes = 0;
    std::uint32_t window = 0;
    FullPacket full_packet;
    std::array<char, 48> address{};  // of this machine's first rank; empty for a single machine
  };

  // `name` is the same on all ranks of the communicator, and on no others. If `ready` is an error
  // on some rank, no rank gets them. `listener` is where rank 0 is met; it is null on others.
  static Result<std::unique_ptr<MachineCollectives>> create(const CommunicatorOptions& options,
                                                            const Seating& seating,
                                                            const std::string& name,
                                                            Result<void> ready, Listener* listener);

  // Precondition: the call is a sound one, not by a handler, and has something to do. When it fails
  // on one rank it fails on all of its machine.
  Result<void> run(const Call& call, const Deadline& until);
  // Counts a call that was refused here. The call fails on the others of this machine, which are
  // waited for until they come to it.
  void skip(const Call& call, const Deadline& until);
  // What runs ends, and fails. Any thread may call it.
  void shut_down();

  const Between& known() const { return known_; }
  // The first rank of a machine has statistics; others, and a single machine, have none.
  ProtocolStatistics statistics() const;

 private:
  MachineCollectives(MachineGroup group, const Seating& seating, std::uint32_t rank)
      : group_(std::move(group)), seating_(seating), machine_(seating.machine_of(rank)) {}

  Result<void> agree(std::uint64_t what, const Result<void>& mine, Time until);
  void publish();
  Result<void> run_pieces(const Call& call, const Deadline& until);
  Result<void> run_piece(const Call& call, const Deadline& until);
  Result<void> gather(const Call& call, const Deadline& until);
  Result<void> between(const Call& call, const Deadline& until);
  // Ends what goes between the machines once this one's ranks cannot give anything more: otherwise
  // the other machines would wait for it as for one that is late.
  void end_with_group();
  void leave_out(const Call& call);
  void take(const Call& call);
  bool is_root(const Call& call) const;
  Call call_between(Call call);
  Error explained(const Error& error) const;

  MachineGroup group_;
  Seating seating_;
  std::uint32_t machine_;
  std::optional<Communicator> communicator_{};  // of the first rank
  Between known_;
};

}  // namespace tributary::host
