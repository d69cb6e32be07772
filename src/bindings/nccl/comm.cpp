// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/nccl/comm.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "bindings/nccl/log.h"

namespace tributary::nccl {
namespace {

Result result_of(tributary_result result) {
  switch (result) {
    case TRIBUTARY_SUCCESS:
      return Result::success;
    case TRIBUTARY_INVALID_ARGUMENT:
    case TRIBUTARY_MISMATCH:
      return Result::invalid_usage;
    case TRIBUTARY_TIMEOUT:
    case TRIBUTARY_NETWORK:
      return Result::remote_error;
    default:
      return Result::system_error;
  }
}

Result said(const char* what, tributary_result result) {
  if (result != TRIBUTARY_SUCCESS) {
    warn(std::string(what) + " failed: " + tributary_last_error());
  }
  return result_of(result);
}

std::byte* at(void* data, std::size_t offset) {
  return static_cast<std::byte*>(data) + offset;
}
const std::byte* at(const void* data, std::size_t offset) {
  return static_cast<const std::byte*>(data) + offset;
}

}  // namespace

Comm::~Comm() {
  give_up();
}

// What was posted is in use until it ends, even if what comes behind it cannot be posted.
template <typename Post>
Result Comm::post(Request made, void** request, Post post_parts) {
  const std::lock_guard lock(mutex_);
  *request = nullptr;
  made.comm = this;
  requests_.push_back(std::make_unique<Request>(std::move(made)));
  auto& kept = *requests_.back();
  const auto add = [&](tributary_result result, tributary_request* part) {
    if (result == TRIBUTARY_SUCCESS) {
      kept.parts.push_back(part);
    }
    return result;
  };
  const auto posted = post_parts(add);
  if (posted == TRIBUTARY_SUCCESS && !kept.parts.empty()) {
    *request = &kept;
    return Result::success;
  }
  if (kept.parts.empty()) {
    requests_.pop_back();
  }
  return said("a collective", posted);
}

Result Comm::allreduce(const void* in, void* out, std::size_t count, const Kind& kind, Request made,
                       void** request) {
  made.bytes = count * kind.bytes();
  return post(std::move(made), request, [&](auto add) {
    if (count == 0) {
      return TRIBUTARY_SUCCESS;
    }
    tributary_request* part = nullptr;
    const auto result =
        tributary_iallreduce(comm_.get(), in, out, count, kind.type, kind.op, &part);
    return add(result, part);
  });
}

bool Comm::is_possible(const Window& window) const {
  const std::size_t ranks = tributary_comm_size(comm_.get());
  return window.bytes_per_rank <= std::numeric_limits<std::size_t>::max() / ranks &&
         window.offset <= ranks * window.bytes_per_rank &&
         window.bytes <= ranks * window.bytes_per_rank - window.offset;
}

// Precondition: the window is possible.
std::vector<Comm::Piece> Comm::pieces_of(const Window& window) const {
  std::vector<Piece> pieces;
  for (std::size_t done = 0; done < window.bytes;) {
    const auto place = window.offset + done;
    const auto left_of_rank = window.bytes_per_rank - place % window.bytes_per_rank;
    const auto bytes = std::min(left_of_rank, window.bytes - done);
    pieces.push_back({static_cast<std::uint32_t>(place / window.bytes_per_rank), done, bytes});
    done += bytes;
  }
  return pieces;
}

// Each rank's piece is that rank's broadcast. What this rank gives may lie where it is wanted.
Result Comm::allgather(const void* in, void* window_out, const Window& window, Request made,
                       void** request) {
  if (!is_possible(window)) {
    return Result::internal_error;
  }
  made.bytes = window.bytes;
  return post(std::move(made), request, [&](auto add) {
    for (const auto& piece : pieces_of(window)) {
      auto* const place = at(window_out, piece.in_window);
      if (piece.rank == rank() && in != place) {
        std::memmove(place, in, piece.bytes);
      }
      tributary_request* part = nullptr;
      const auto posted =
          tributary_ibroadcast(comm_.get(), place, piece.bytes, TRIBUTARY_I8, piece.rank, &part);
      if (add(posted, part) != TRIBUTARY_SUCCESS) {
        return posted;
      }
    }
    return TRIBUTARY_SUCCESS;
  });
}

// Each rank's piece is a reduction to that rank.
Result Comm::reduce_scatter(const void* window_in, void* out, const Window& window,
                            const Kind& kind, Request made, void** request) {
  if (!is_possible(window) || window.bytes_per_rank % kind.bytes() != 0 ||
      window.offset % kind.bytes() != 0 || window.bytes % kind.bytes() != 0) {
    return Result::internal_error;
  }
  made.bytes = window.bytes;
  return post(std::move(made), request, [&](auto add) {
    for (const auto& piece : pieces_of(window)) {
      tributary_request* part = nullptr;
      const auto posted = tributary_ireduce(
          comm_.get(), at(window_in, piece.in_window), piece.rank == rank() ? out : nullptr,
          piece.bytes / kind.bytes(), kind.type, kind.op, piece.rank, &part);
      if (add(posted, part) != TRIBUTARY_SUCCESS) {
        return posted;
      }
    }
    return TRIBUTARY_SUCCESS;
  });
}

Result Comm::test(Request& request, int* done, int* bytes) {
  const std::lock_guard lock(mutex_);
  *done = 0;
  while (request.result == Result::success && request.next < request.parts.size()) {
    const auto result = tributary_test(&request.parts[request.next]);
    if (result == TRIBUTARY_IN_PROGRESS) {
      return Result::success;
    }
    request.result = said("a collective", result);
    ++request.next;
  }
  if (request.result != Result::success) {
    return request.result;
  }
  *done = 1;
  if (bytes != nullptr) {
    *bytes = static_cast<int>(request.bytes);
  }
  std::erase_if(requests_, [&](const auto& one) { return one.get() == &request; });
  return Result::success;
}

// NCCL frees memory without asking what has become of the requests, when one of them failed, or the
// program has had enough.
void Comm::release(const void* memory) {
  const std::lock_guard lock(mutex_);
  const auto uses = [&](const std::unique_ptr<Request>& one) {
    return one->memories[0] == memory || one->memories[1] == memory;
  };
  if (std::ranges::any_of(requests_, uses)) {
    give_up();
  }
}

// All requests end within a second.
void Comm::give_up() {
  if (requests_.empty()) {
    return;
  }
  tributary_comm_abort(comm_.get());
  for (const auto& request : requests_) {
    for (; request->next < request->parts.size(); ++request->next) {
      const auto result = tributary_wait(&request->parts[request->next]);
      request->result = request->result == Result::success ? result_of(result) : request->result;
    }
  }
}

}  // namespace tributary::nccl
