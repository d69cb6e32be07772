// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/call.h"
#include "host/error.h"
#include "host/ring/announcement.h"
#include "reduce/kernel.h"
#include "wire/cursor.h"

namespace tributary::host {

// One step of a rank: whom it is with, and which way the vector goes.
struct DoublingStep {
  enum class Kind : std::uint8_t {
    give,      // ours to them
    add,       // theirs to us, who add it
    exchange,  // both ways, and both add it
    take,      // theirs, which is the sum
  };
  std::uint32_t peer = 0;
  Kind kind = Kind::exchange;

  bool sends() const { return kind == Kind::give || kind == Kind::exchange; }
  bool receives() const { return kind != Kind::give; }
  friend bool operator==(const DoublingStep&, const DoublingStep&) = default;
};

// Returns the steps of a rank in their order. Where the number of ranks is no power of two, the
// first ranks are pairs, one of which adds for both.
std::vector<DoublingStep> doubling_steps(std::uint32_t rank, std::uint32_t world_size);

// A vector behind the announcement of its collective, on its way both ways, without I/O.
class Exchange {
 public:
  // `ours` may be empty, which is not sent, and so may `theirs`, which is not waited for.
  Exchange(const RingAnnouncement& mine, wire::Bytes ours, wire::MutableBytes theirs)
      : mine_(mine), ours_(ours), theirs_(theirs) {}

  // These are the same as in RingSchedule.
  wire::Bytes sendable() const { return ours_.subspan(sent_); }
  void sent(std::size_t bytes) { sent_ += bytes; }
  wire::MutableBytes receivable() const { return theirs_.subspan(received_); }
  void received(std::size_t bytes) { received_ += bytes; }
  // Waking up is worth while as soon as anything comes: to ask for more takes as long as to look
  // once more.
  std::size_t worthwhile() const { return 1; }
  bool all_sent() const { return sent_ == ours_.size(); }
  bool finished() const { return all_sent() && received_ == theirs_.size(); }
  std::uint64_t bytes_received() const { return received_; }
  std::uint64_t bytes_expected() const { return theirs_.size(); }

  // Checks whether what came until now belongs to the same collective.
  Result<void> check(const std::string& who) const;

 private:
  const RingAnnouncement& mine_;
  wire::Bytes ours_;
  wire::MutableBytes theirs_;
  std::size_t sent_ = 0;
  std::size_t received_ = 0;
};

// One rank's part in an allreduce by recursive doubling (Thakur, Rabenseifner and Gropp,
// "Optimization of Collective Communication Operations in MPICH", 2005, section 4.1), without I/O:
// each step is an exchange, after which what it brought is added or taken. Every sum is that of
// neighbouring ranks in their order, so that all ranks come to the same bits, and an operator need
// not commute. Floats of 16 and 8 bits are added in f32 and rounded in every step.
class DoublingSchedule {
 public:
  // `mine` outlives it. `grain`: the same as in RingSchedule.
  DoublingSchedule(const RingAnnouncement& mine, const Buffers& buffers, std::size_t grain = 1);

  Exchange exchange(const DoublingStep& step);
  // Adds or takes what came in the exchange of a step, on rank `rank`, when all of it has come.
  void complete(const DoublingStep& step, std::uint32_t rank);
  // Puts the sum where it is wanted, after the last step.
  void finish() const;

 private:
  void add(std::vector<std::byte>& target, const std::vector<std::byte>& source) const;

  const RingAnnouncement& mine_;
  Buffers buffers_;
  const reduce::Kernel& kernel_;
  std::size_t grain_;
  std::size_t begin_;  // of the announcement, which ends where the vector begins
  std::vector<std::byte> ours_;
  std::vector<std::byte> theirs_;
};

}  // namespace tributary::host
