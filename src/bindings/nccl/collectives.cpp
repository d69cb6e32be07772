// SPDX-License-Identifier: BSD-3-Clause
// NCCL finds the collectives by these tables, and asks for the newest one that it knows.
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <system_error>

#include "bindings/nccl/abi.h"
#include "bindings/nccl/comm.h"
#include "bindings/nccl/device.h"
#include "bindings/nccl/elements.h"
#include "bindings/nccl/guarded.h"
#include "bindings/nccl/listener.h"
#include "bindings/nccl/log.h"
#include "bindings/nccl/star.h"
#include "host/c/tributary.h"

namespace tributary::nccl {
namespace {

std::chrono::seconds patience() {
  unsigned seconds = 30;
  if (const char* const given = std::getenv("TRIBUTARY_NCCL_CONNECT_TIMEOUT")) {
    const char* const end = given + std::strlen(given);
    const auto [stopped, error] = std::from_chars(given, end, seconds);
    if (error != std::errc() || stopped != end) {
      warn(std::string("TRIBUTARY_NCCL_CONNECT_TIMEOUT=") + given +
           " is not a number of seconds; it is 30");
      return std::chrono::seconds(30);
    }
  }
  return std::chrono::seconds(seconds);
}

void tell(void*, const char* line) {
  inform(line);
}

// NCCL itself waits for ever for a rank that is late; one that is gone is missed all the same.
tributary_result be_patient(tributary_options* options) {
  constexpr auto variable = "TRIBUTARY_LATE_TIMEOUT";
  const char* const given = std::getenv(variable);
  return given != nullptr && *given != '\0' ? TRIBUTARY_SUCCESS
                                            : tributary_options_set(options, variable, "30min");
}

struct Options {
  Options() {
    const bool made = tributary_options_create(&handle) == TRIBUTARY_SUCCESS &&
                      tributary_options_on_notice(handle, tell, nullptr) == TRIBUTARY_SUCCESS &&
                      tributary_options_for_part(handle) == TRIBUTARY_SUCCESS &&
                      be_patient(handle) == TRIBUTARY_SUCCESS;
    if (!made) {
      tributary_options_destroy(handle);
      handle = nullptr;
    }
  }
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;
  ~Options() { tributary_options_destroy(handle); }

  tributary_options* handle = nullptr;
};

// What is set up for one job alone is left out: NCCL makes several communicators, and nobody knows
// here which of them is the job's. Nobody waits in vain for a rank that cannot make its options.
std::unique_ptr<Comm> create(Star& star, std::uint32_t rank, std::uint32_t ranks) {
  const Options options;
  tributary_comm* made = nullptr;
  const auto created =
      tributary_comm_create_with(&made, options.handle, rank, ranks, Star::allgather, &star);
  if (created == TRIBUTARY_SUCCESS) {
    return std::make_unique<Comm>(made);
  }
  const std::string met_in_vain = star.failure().empty() ? "" : ": " + star.failure();
  warn(std::string("no collectives by Tributary, NCCL does it by itself: ") +
       tributary_last_error() + met_in_vain);
  return nullptr;
}

// NCCL waits in this call: it takes null for a failure, after which all its ranks go on without us.
// It forgets the listener then, and does not close it.
Result join(void* handles[], int ranks, int rank, void* listener, void** comm) {
  *comm = nullptr;
  return guarded([&] {
    auto& mine = *static_cast<Listener*>(listener);
    const auto first = Handle::read(handles[0]);
    if (!first) {
      warn("rank 0 has another network plugin than this rank, or another version of it");
      mine.close();
      return Result::invalid_usage;
    }
    Star star(mine, *first, static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(ranks),
              patience());
    auto made = create(star, static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(ranks));
    mine.close();
    *comm = made.release();
    return *comm == nullptr ? Result::system_error : Result::success;
  });
}

Result reduce_support(Type type, Operator op, int* supported) {
  *supported = kind_of(type, op) ? 1 : 0;
  return Result::success;
}

Result deregister_memory(void* comm, void* memory) {
  static_cast<Comm*>(comm)->release(memory);
  return Result::success;
}

Request request_with(void* first, void* second) {
  Request request;
  request.memories[0] = first;
  request.memories[1] = second;
  return request;
}

Result refuse(const char* what) {
  warn(std::string("NCCL asks for ") + what + ", which the plugin has said that it does not have");
  return Result::internal_error;
}

template <typename Count>
Result iallreduce(void* comm, void* in, void* out, Count count, Type type, Operator op,
                  void* in_memory, void* out_memory, void** request) {
  *request = nullptr;
  return guarded([&] {
    const auto kind = kind_of(type, op);
    return kind ? static_cast<Comm*>(comm)->allreduce(in, out, static_cast<std::size_t>(count),
                                                      *kind, request_with(in_memory, out_memory),
                                                      request)
                : refuse("an operator of a type");
  });
}

template <typename Part>
Result iallgather(void* comm, void* in, int part_count, Part* parts, std::size_t bytes_per_rank,
                  std::size_t window_offset, std::size_t window_bytes, void* in_memory,
                  void** request) {
  *request = nullptr;
  return guarded([&] {
    if (part_count != 1 || parts->bytes < window_bytes) {
      return refuse("a window in several parts");
    }
    return static_cast<Comm*>(comm)->allgather(in, parts->address,
                                               {bytes_per_rank, window_offset, window_bytes},
                                               request_with(in_memory, parts->memory), request);
  });
}

template <typename Part>
Result ireduce_scatter(void* comm, int part_count, Part* parts, void* out,
                       std::size_t bytes_per_rank, std::size_t window_offset,
                       std::size_t window_bytes, Type type, Operator op, void* out_memory,
                       void** request) {
  *request = nullptr;
  return guarded([&] {
    const auto kind = kind_of(type, op);
    if (!kind) {
      return refuse("an operator of a type");
    }
    if (part_count != 1 || parts->bytes < window_bytes) {
      return refuse("a window in several parts");
    }
    return static_cast<Comm*>(comm)->reduce_scatter(
        parts->address, out, {bytes_per_rank, window_offset, window_bytes}, *kind,
        request_with(parts->memory, out_memory), request);
  });
}

// Nothing has to be flushed: what is received is in host memory, where it is seen.
Result flush_collective(void*, void*, int, void*, void** request) {
  *request = nullptr;
  return Result::success;
}

Result test_collective(void* request, int* done, int* bytes) {
  auto& posted = *static_cast<Request*>(request);
  return posted.comm->test(posted, done, bytes);
}

Result close_comm(void* comm) {
  delete static_cast<Comm*>(comm);
  return Result::success;
}

Result begin_for_one(void** context, std::uint64_t, Logger logger) {
  *context = nullptr;
  return begin(logger);
}
Result listen_for_one(void*, int device, void* handle, void** listener) {
  return listen(device, handle, listener);
}
Result end_for_one(void*) {
  return Result::success;
}

template <typename Count, typename Part>
constexpr Collectives<Count, Part> collectives{join,
                                               reduce_support,
                                               register_memory,
                                               register_dma_buffer,
                                               deregister_memory,
                                               iallreduce<Count>,
                                               iallgather<Part>,
                                               ireduce_scatter<Part>,
                                               flush_collective,
                                               test_collective,
                                               close_comm,
                                               close_listener};

constexpr CollectiveNetworkV9 of_version_9{network_name, begin,  count_devices,
                                           describe,     listen, collectives<std::size_t, PartV9>,
                                           nullptr};

}  // namespace
}  // namespace tributary::nccl

using namespace tributary::nccl;  // the names are NCCL's

extern "C" {
[[gnu::visibility("default")]] extern const CollectiveNetworkV8 ncclCollNetPlugin_v8;
[[gnu::visibility("default")]] extern const CollectiveNetworkV9 ncclCollNetPlugin_v9;
[[gnu::visibility("default")]] extern const CollectiveNetworkV9 ncclCollNetPlugin_v10;
[[gnu::visibility("default")]] extern const CollectiveNetworkV11 ncclCollNetPlugin_v11;

const CollectiveNetworkV8 ncclCollNetPlugin_v8{network_name, begin,  count_devices,
                                               describe,     listen, collectives<int, PartV8>};
const CollectiveNetworkV9 ncclCollNetPlugin_v9 = of_version_9;
const CollectiveNetworkV9 ncclCollNetPlugin_v10 = of_version_9;
const CollectiveNetworkV11 ncclCollNetPlugin_v11{network_name,   begin_for_one,
                                                 count_devices,  describe,
                                                 listen_for_one, collectives<std::size_t, PartV9>,
                                                 nullptr,        end_for_one};
}
