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

// Rank 0's options count on all ranks. So does the stall timeout or deadline of its communicator,
// whichever is shorter: for so long a collective that some rank has not posted is waited for.
struct CollectiveQueueOptions {
  // Allreduces of one type and operator that are ready together are carried out as one, of at most
  // so many bytes (tensor fusion), unless a handler is the operator. 0: each is carried out by
  // itself. Sums and products of floats always are if they are to be reproducible.
  std::size_t fusion_bytes = std::size_t{1} << 20;
  static constexpr std::size_t fusion_bytes_max = std::size_t{64} << 20;
  // When others have waited for so long, the queue's thread gives CommunicatorOptions::on_notice a
  // line that names the ranks that have not posted a collective.
  std::chrono::nanoseconds stall_warning = std::chrono::seconds(10);
};

// Carries out collectives that ranks post by name, each rank in an order of its own. The ranks find
// an order for all of them, and a thread of the queue carries out what all have posted.
//
// Under one name all ranks post the same collective, type, operator, count and root; where they do
// not, it is an error for all of them. A name is free again when its collective is over: the n-th
// time that one rank posts it belongs to the n-th time of every other rank. A collective that some
// rank does not post is given up on all ranks, and at once if that rank has closed its queue. Where
// a collective of the communicator itself fails, everything outstanding fails, and the queue ends.
//
// Any thread may call anything at any time, but for construction, move and destruction. Buffers
// stay alive, and are left alone, until the future is ready.
class CollectiveQueue {
 public:
  // It is ready when the collective is over. It may be thrown away, as flush() also waits for it.
  using Outcome = std::future<Result<void>>;

  // All ranks call it. The communicator belongs to the queue from now on.
  static Result<CollectiveQueue> create(Communicator communicator,
                                        const CollectiveQueueOptions& options = {});
  CollectiveQueue(CollectiveQueue&&) noexcept;
  CollectiveQueue& operator=(CollectiveQueue&&) noexcept;
  // Closes the queue.
  ~CollectiveQueue();

  // These post what the communicator's functions of the same names carry out. A name has 1 to 255
  // bytes.
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

  // Returns when nothing that this rank posted is outstanding, with the first error since the last
  // flush.
  Result<void> flush();
  // Nothing more can be posted on this rank. Returns when all ranks have closed their queues and
  // nothing is outstanding, or with an error when the queue has ended otherwise.
  Result<void> close();

  // The communicator tells its rank and the like. Once close() has returned without an error, the
  // caller may use it.
  Communicator& communicator();

  // Counts on this rank: `cycles` in which it looked for an order with the others, `announcements`
  // of names in them, `collectives` that succeeded, and `collectives_fused`, those of them that
  // went together with others.
  Figures statistics() const;

 private:
  struct State;
  explicit CollectiveQueue(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tributary
