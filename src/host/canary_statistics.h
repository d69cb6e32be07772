// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tributary {

// What a communicator's Canary packets amounted to. Bytes are those of header and payload.
// Every datagram received is counted in exactly one of the *_received and ignored_* figures.
struct CanaryStatistics {
  std::uint64_t contributions_sent = 0;
  std::uint64_t results_sent = 0;
  std::uint64_t restorations_sent = 0;
  std::uint64_t bytes_sent = 0;

  std::uint64_t contributions_received = 0;  // packets; a switch may have summed up several
  std::uint64_t collisions_received = 0;     // of these: passed by a switch that had no room
  std::uint64_t results_received = 0;
  std::uint64_t bytes_received = 0;

  std::uint64_t ignored_malformed = 0;  // not a sound Canary packet
  std::uint64_t ignored_foreign = 0;    // another job, another host, or not for hosts
  std::uint64_t ignored_stale = 0;      // of an earlier collective
  std::uint64_t ignored_duplicate = 0;  // of a block that is done
  std::uint64_t ignored_mismatch = 0;   // type, operator, length or hosts differ
  std::uint64_t ignored_early = 0;      // too far ahead of this rank
  std::uint64_t stashed = 0;            // kept for the next collective, counted again there

  std::uint64_t ignored() const {
    return ignored_malformed + ignored_foreign + ignored_stale + ignored_duplicate +
           ignored_mismatch + ignored_early;
  }
};

}  // namespace tributary
