// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "protocols/netreduce/host/flow.h"
#include "protocols/netreduce/host/link.h"
#include "protocols/netreduce/host/plan.h"
#include "reduce/kernel.h"
#include "wire/cursor.h"

namespace tributary::host {

// Runs the ring allreduce that hosts do by themselves (reduce-scatter, then all-gather), over the
// same links as NetReduce, so that the two can be compared. A vector has as many chunks as there
// are ranks; in step s this rank sends chunk (rank - s), and gets the one before that, to which it
// adds its own until it is complete.
//
// A message is taken out of its slot as soon as it arrives, so an acknowledgement means that the
// slot is free. That is true of connections made in software, whose acknowledgements follow
// arrived().
class RingFlow final : public Flow {
 public:
  RingFlow(Job job, const NetReducePlan& plan, Link& link);

  // Precondition: an allreduce.
  Result<void> begin(const Call& call) override;
  void skip(const Call&) override {
    if (broken_.empty()) {
      broken_ = "this rank refused a call";
    }
  }
  void abandon(const std::string& why) override;
  Result<void> arrived(std::uint32_t message, std::uint32_t bytes) override;
  Result<void> acknowledged(std::uint32_t messages) override;

  // What is to be sent lies in the caller's buffer until it is posted, so that is awaited, too.
  bool running() const override { return received_ != end_ || posted_ != end_; }
  std::uint32_t messages_posted() const override { return posted_; }
  std::string diagnose() const override;
  const Job& job() const override { return job_; }
  const Call& call() const override { return call_; }

 private:
  // A piece of the vector, in bytes, is what one message carries.
  struct Piece {
    std::size_t offset = 0;
    std::size_t bytes = 0;
  };
  Piece piece_of(std::uint32_t message, std::uint32_t first_chunk) const;
  std::uint32_t step_of(std::uint32_t message) const {
    return (message - first_) / messages_per_step_;
  }
  Result<void> post_more();
  Result<void> take_early();
  Result<void> take_next(wire::Bytes message);
  bool fits(std::size_t bytes) const;
  tl::unexpected<Error> mismatch();
  void take(wire::Bytes message);
  void add(const std::byte* mine, const std::byte* theirs, std::byte* sum, std::size_t bytes);

  Job job_;
  NetReducePlan plan_;
  Link& link_;
  Call call_;
  const reduce::Kernel* kernel_ = nullptr;
  std::vector<std::byte> wide_;  // for elements that are added in another format
  std::size_t chunk_bytes_ = 0;
  std::uint32_t messages_per_step_ = 1;
  std::string broken_;

  // These are numbers of messages.
  std::uint32_t first_ = 0;  // of the collective
  std::uint32_t end_ = 0;    // behind its last
  std::uint32_t posted_ = 0;
  std::uint32_t received_ = 0;
  std::uint32_t acknowledged_ = 0;
  std::deque<std::vector<std::byte>> early_;  // of a collective that this rank has not begun
};

}  // namespace tributary::host
