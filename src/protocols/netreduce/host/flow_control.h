// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "host/call.h"
#include "host/error.h"
#include "host/job.h"
#include "host/reduction.h"
#include "protocols/netreduce/host/flow.h"
#include "protocols/netreduce/host/link.h"
#include "protocols/netreduce/host/plan.h"
#include "protocols/netreduce/wire.h"
#include "wire/cursor.h"

namespace tributary::host {

// This is the flow control module of section 3.1: it runs one rank's part in the collectives of one
// ring, one after the other. It cuts a collective into messages, has no more than a window of them
// open, and takes the sums out of those of the rank before. It does no I/O: whoever moves the link
// tells it what came.
//
// Messages are counted through the run, that is, from the first collective to the last. After a
// failure ranks may disagree about the count, so the run is over then.
class FlowControl final : public Flow {
 public:
  // Precondition: at least two ranks, which agree on everything in `job` and `plan`. The link
  // outlives this object.
  FlowControl(Job job, const NetReducePlan& plan, Link& link);

  // Starts a collective, and posts what the window allows. The first is a barrier: message 0 of a
  // run has one packet, and nothing follows it before its sum is there, so that the switch has met
  // all ranks by then. Afterwards `in` is needed until running() is false.
  Result<void> begin(const Call& call) override;
  void skip(const Call& call) override { calls_ += Reduction(call, job_.rank).is_empty() ? 0 : 1; }
  // Ends the run, too.
  void abandon(const std::string& why) override;
  Result<void> arrived(std::uint32_t message, std::uint32_t bytes) override;
  Result<void> acknowledged(std::uint32_t messages) override;

  bool running() const override { return consumed_ != end_; }
  // Returns whether all that was posted was acknowledged.
  bool settled() const { return acknowledged_ == posted_ || !broken_.empty(); }
  std::uint32_t messages_posted() const override { return posted_; }
  std::string diagnose() const override;
  // Returns what may keep the message that is due from coming, as the end of an error; nothing if
  // it has no full packets, or none came to pass before. Precondition: it is running.
  const char* likely_cause() const;

  const Job& job() const override { return job_; }
  const Call& call() const override { return reduction_.call(); }
  const NetReducePlan& plan() const { return plan_; }

 private:
  // These are the elements of one of the collective's messages, in the caller's buffers.
  struct Piece {
    std::size_t offset = 0;  // bytes
    std::size_t bytes = 0;
    std::uint32_t packets = 0;
    std::uint32_t length = 0;  // of the whole message
  };
  Piece piece_of(std::uint32_t message) const;

  Result<void> post_more();
  bool may_post() const;
  void assemble(std::uint32_t message, const Piece& piece);
  wire::InaHeader header_of(std::uint32_t message, const Piece& piece) const;

  Result<void> take(std::uint32_t message, std::uint32_t bytes);
  Result<void> take_packets(const Piece& piece, wire::Bytes message);
  std::uint32_t rank_before() const {
    return (job_.rank + job_.world_size() - 1) % job_.world_size();
  }
  std::string not_added(std::uint32_t message) const;
  tl::unexpected<Error> not_the_sum(std::uint32_t packet, std::uint64_t got) const;

  Job job_;
  NetReducePlan plan_;
  Link& link_;
  std::uint32_t run_;

  std::uint64_t calls_;  // those of each run have numbers of their own
  JobKey key_{};         // of the call
  Reduction reduction_;
  std::string broken_;  // why the run is over; empty while it goes on

  // These are numbers of messages, counted through the run.
  std::uint32_t first_ = 0;  // of the collective
  std::uint32_t end_ = 0;    // behind its last
  std::uint32_t posted_ = 0;
  std::uint32_t consumed_ = 0;
  std::uint32_t acknowledged_ = 0;
};

}  // namespace tributary::host
