// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "bindings/nccl/abi.h"
#include "bindings/nccl/elements.h"
#include "host/c/tributary.h"

namespace tributary::nccl {

class Comm;

// A Request is what NCCL posted as one, and asks for until it is done.
struct Request {
  Comm* comm = nullptr;
  // These collectives make it up, in their order; those before `next` have ended.
  std::vector<tributary_request*> parts;
  std::size_t next = 0;
  std::size_t bytes = 0;
  void* memories[2] = {nullptr, nullptr};
  Result result = Result::success;
};

// A Window is the part of a vector, as long as that of all ranks together, that one call is about.
struct Window {
  std::size_t bytes_per_rank = 0;
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

// NCCL calls a Comm from two threads: one that posts and tests, and one that closes.
class Comm {
 public:
  // Takes ownership of `comm`.
  explicit Comm(tributary_comm* comm) : comm_(comm, tributary_comm_destroy) {}
  // Requests that are outstanding are given up.
  ~Comm();

  // Where there is nothing to do, the request is null.
  Result allreduce(const void* in, void* out, std::size_t count, const Kind& kind, Request made,
                   void** request);
  // `window_out` has room for the window, `in` begins with what this rank gives of it.
  Result allgather(const void* in, void* window_out, const Window& window, Request made,
                   void** request);
  // `window_in` is the window, and `out` gets what this rank has of it.
  Result reduce_scatter(const void* window_in, void* out, const Window& window, const Kind& kind,
                        Request made, void** request);

  Result test(Request& request, int* done, int* bytes);
  // From now on nobody writes to `memory`. A request that uses it still is given up, and all others
  // with it.
  void release(const void* memory);

 private:
  struct Piece {
    std::uint32_t rank = 0;
    std::size_t in_window = 0;
    std::size_t bytes = 0;
  };

  bool is_possible(const Window& window) const;
  std::vector<Piece> pieces_of(const Window& window) const;
  std::uint32_t rank() const { return tributary_comm_rank(comm_.get()); }
  template <typename Post>
  Result post(Request made, void** request, Post post_parts);
  void give_up();

  const std::unique_ptr<tributary_comm, decltype(&tributary_comm_destroy)> comm_;
  std::mutex mutex_;  // guards what follows
  std::vector<std::unique_ptr<Request>> requests_;
};

}  // namespace tributary::nccl
