// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <span>
#include <string>

#include "host/communicator.h"
#include "host/error.h"
#include "host/statistics.h"
#include "wire/element.h"

namespace tributary {

// Rank 0's count on all ranks, as does its communicator's stall timeout or deadline, whichever is
// shorter: for so long a collective that some rank has not posted is waited for.
struct CollectiveQueueOptions {
  // Allreduces of one type and operator that are ready together are carried out as one, of at most
  // so many bytes (tensor fusion), but not by a handler; 0: each by itself, as sums and products of
  // floats always are that are to be reproducible.
  std::size_t fusion_bytes = std::size_t{1} << 20;
  static constexpr std::size_t fusion_bytes_max = std::size_t{64} << 20;
  // When others have waited for so long, a line names the ranks that have not posted a collective:
  // to CommunicatorOptions::on_notice, by the queue's thread.
  std::chrono::nanoseconds stall_warning = std::chrono::seconds(10);
};

// Collectives that ranks post by name, each rank in an order of its own. The ranks find an order
// for all of them, and a thread of the queue carries out what all have posted.
//
// Under one name all ranks post the same collective, type, operator, count and root; where they do
// not, it is an error for all of them. A name is free again when its collective is over: the n-th
// time that one rank posts it belongs to the n-th time of every other. What some rank does not post
// is given up, on all ranks; so it is at once when that rank has closed its queue. Where a
// collective of the communicator itself fails, everything outstanding does, and the queue ends.
//
// Any thread may call anything at any time, but for construction, move and destruction. Buffers
// stay alive, and are left alone, until the future is ready.
class CollectiveQueue {
 public:
  // Ready when the collective is over. It may be thrown away: flush() waits as well.
  using Outcome = std::future<Result<void>>;

  // On all ranks. The communicator is the queue's from now on.
  static Result<CollectiveQueue> create(Communicator communicator,
                                        const CollectiveQueueOptions& options = {});
  CollectiveQueue(CollectiveQueue&&) noexcept;
  CollectiveQueue& operator=(CollectiveQueue&&) noexcept;
  // Closes it.
  ~CollectiveQueue();

  // As the communicator's. A name has 1 to 255 bytes.
  Outcome allreduce(const std::string& name, const void* in, void* out, std::size_t count,
                    wire::ElementType type, wire::Operator op);
  Outcome reduce(const std::string& name, const void* in, void* out, std::size_t count,
                 wire::ElementType type, wire::Operator op, std::uint32_t root);
  Outcome broadcast(const std::string& name, void* inout, std::size_t count, wire::ElementType type,
                    std::uint32_t root);
  Outcome barrier(const std::string& name);

  template <typename T>
  Outcome allreduce(const std::string& name, std::span<T> inout,
                    wire::Operator op = wire::Operator::sum) {
    return allreduce(name, inout.data(), inout.data(), inout.size(), element_type_for<T>(), op);
  }
  // Precondition: in and out have the same size.
  template <typename T>
  Outcome allreduce(const std::string& name, std::span<const T> in, std::span<T> out,
                    wire::Operator op = wire::Operator::sum) {
    return allreduce(name, in.data(), out.data(), in.size(), element_type_for<T>(), op);
  }
  // Precondition: `out` has the size of `in` at the root.
  template <typename T>
  Outcome reduce(const std::string& name, std::span<const T> in, std::span<T> out,
                 std::uint32_t root, wire::Operator op = wire::Operator::sum) {
    return reduce(name, in.data(), out.data(), in.size(), element_type_for<T>(), op, root);
  }
  template <typename T>
  Outcome broadcast(const std::string& name, std::span<T> inout, std::uint32_t root) {
    return broadcast(name, inout.data(), inout.size(), element_type_for<T>(), root);
  }

  // Returns when nothing that was posted here is outstanding, with the first error since the last
  // flush.
  Result<void> flush();
  // Nothing more can be posted here. Returns when all ranks have closed theirs, and nothing is
  // outstanding; or with an error, when the queue has ended otherwise.
  Result<void> close();

  // To look at its rank and the like. Once close() has returned it is the caller's to use, where
  // there was no error.
  Communicator& communicator();

  // Of this rank: `cycles` in which it looked for an order with the others, `announcements` of
  // names in them, `collectives` that succeeded, and `collectives_fused`, which of these went
  // together with others.
  Figures statistics() const;

 private:
  struct State;
  explicit CollectiveQueue(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tributary
