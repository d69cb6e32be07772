// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "host/blocks.h"
#include "host/job.h"
#include "host/outbox.h"
#include "wire/canary.h"

namespace tributary::host {

// What became of a packet that a machine was handed.
enum class Verdict : std::uint8_t {
  taken,
  malformed,
  foreign,
  stale,
  duplicate,
  mismatch,
  early,
};

// Header of a packet of `block`; the caller sets what differs and seals it.
wire::CanaryHeader header_of(const Job& job, const Blocks& blocks, std::uint32_t block);

// Whether a packet says the same about `block` as this rank does.
bool agrees(const wire::CanaryHeader& header, const Job& job, const Blocks& blocks,
            std::uint32_t block);

// The contributor's side (3.1): sends this rank's data of every block that another rank leads,
// at most a window ahead, and takes the results.
class CanaryWorker {
 public:
  // The job outlives the worker.
  explicit CanaryWorker(const Job& job) : job_(job) {}

  void begin() { next_ = 0; }

  // Puts contributions into `outbox` as far as it and the window have room.
  void poll(const Blocks& blocks, const Progress& progress, Outbox& outbox);

  // A sound result packet of this job for `block`.
  Verdict take_result(const wire::CanaryHeader& header, wire::Bytes payload, std::uint32_t block,
                      const Blocks& blocks, Progress& progress);

 private:
  std::uint64_t total_tag(const wire::CanaryHeader& header) const;

  const Job& job_;
  std::uint32_t next_ = 0;  // the first block that was not looked at yet
};

}  // namespace tributary::host
