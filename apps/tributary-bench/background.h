// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "background_peers.h"
#include "host/error.h"
#include "wire/ipv4.h"

namespace tributary::bench {

struct BackgroundOptions {
  std::vector<wire::Ipv4Address> peers;
  std::size_t self = 0;  // this host's place in `peers`
  std::uint16_t port = 0;
  Pattern pattern = Pattern::uniform;
  std::uint64_t rate_bps = 0;  // on the line, with all overhead
  std::size_t mtu = 1500;      // every packet is as large as that
  // A new peer is drawn after so many packets, or, if that is 0, at every multiple of the period
  // since the epoch: then all hosts change at once.
  std::uint64_t message_packets = 0;
  std::chrono::nanoseconds period{};
  std::uint64_t seed = 1;
  std::chrono::nanoseconds duration{};
  bool json = false;

  std::size_t line_bytes() const;  // occupied by one packet
};

struct BackgroundCounts {
  double seconds = 0;        // of sending
  std::uint64_t sent = 0;    // packets
  std::uint64_t unsent = 0;  // packets that the kernel refused to queue
  std::uint64_t peer_changes = 0;
  std::uint64_t received = 0;
  std::uint64_t lost = 0;     // gaps in the sequence numbers of what was received
  std::uint64_t foreign = 0;  // datagrams that are not of this traffic
};

// Sends and receives until the duration is over or SIGTERM or SIGINT comes.
Result<BackgroundCounts> run_background(const BackgroundOptions& options);

// Runs the subcommand, from its own name on, and returns the exit code.
int background(int argc, char** argv);

}  // namespace tributary::bench
