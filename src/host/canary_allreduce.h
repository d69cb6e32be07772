// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/blocks.h"
#include "host/canary_leader.h"
#include "host/canary_statistics.h"
#include "host/canary_worker.h"
#include "host/clock.h"
#include "host/error.h"
#include "host/job.h"
#include "host/outbox.h"

namespace tributary::host {

// One rank's part in the Canary allreduces of one job, one after the other: contributor of most
// blocks, leader of some. Without I/O: it is handed datagrams and the time, and says what is to be
// sent. Block ids go up over collectives; packets of the next one, which come early from peers that
// are done with this one, are kept, and those of earlier ones are ignored.
class CanaryAllreduce {
 public:
  // Precondition: at least two ranks, which agreed on everything in `job` and on the first block
  // id.
  explicit CanaryAllreduce(Job job, std::uint32_t first_id = 0);
  CanaryAllreduce(const CanaryAllreduce&) = delete;
  CanaryAllreduce& operator=(const CanaryAllreduce&) = delete;

  // Starts a collective. The buffers stay alive, and `in` unchanged, until running() is false and
  // the driver has sent all that it took from the outbox. After a failure `out` is undefined.
  void begin(const Buffers& buffers, Time deadline);

  // A datagram as it came: checked here. Allowed between collectives, too.
  void receive(wire::MutableBytes datagram);

  // Puts what may be sent now into `outbox`, as far as it has room.
  void poll(Outbox& outbox);

  // When expire() has something to do: it ends the collective with an error.
  Time deadline() const { return running() ? deadline_ : never; }
  void expire(Time now);

  // The driver failed: the collective ends here.
  void abandon() { running_ = false; }

  bool running() const { return running_; }
  // Why the last collective failed, if it did.
  const std::optional<Error>& failure() const { return failure_; }

  const Job& job() const { return job_; }
  const CanaryStatistics& statistics() const { return statistics_; }
  // Of the driver, to be put into the error message: why datagrams could not be sent.
  void note_trouble(std::string trouble) { trouble_ = std::move(trouble); }

 private:
  Verdict examine(wire::MutableBytes datagram);
  Verdict dispatch(const wire::CanaryHeader& header, wire::Bytes payload,
                   wire::MutableBytes datagram);
  Verdict stash(const wire::CanaryHeader& header, wire::MutableBytes datagram);
  void count(Verdict verdict);
  void count_sent(const Datagram& datagram);
  void stop(std::optional<Error> failure);
  std::string what_is_missing() const;
  std::string describe(std::uint32_t block) const;

  const Job job_;
  CanaryWorker worker_;
  CanaryLeader leader_;
  Blocks blocks_;
  Progress progress_;
  bool running_ = false;
  std::uint32_t next_id_;  // first of the next collective
  Time deadline_ = never;
  std::optional<Error> failure_;
  std::string trouble_;
  std::vector<std::vector<std::byte>> stash_;  // contributions to the next collective, as they came
  CanaryStatistics statistics_;
};

}  // namespace tributary::host
