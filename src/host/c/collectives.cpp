// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/c/border.h"
#include "host/c/objects.h"
#include "host/c/tasks.h"
#include "host/c/tributary.h"
#include "host/clock.h"
#include "host/text.h"

using namespace tributary;  // the functions are C's
using host::invalid;
using host::Posted;
using host::Task;
using host::c::guarded;

namespace {

// Puts it into the group that this thread has begun; returns false if there is none.
bool put_into_group(tributary_comm& comm, const Posted& posted) {
  const std::lock_guard lock(comm.mutex);
  const auto group = comm.groups.find(std::this_thread::get_id());
  if (group == comm.groups.end()) {
    return false;
  }
  group->second.push_back(posted);
  return true;
}

bool has_group(tributary_comm& comm) {
  const std::lock_guard lock(comm.mutex);
  return comm.groups.contains(std::this_thread::get_id());
}

// Returns when the task is over.
template <typename Make>
tributary_result run(tributary_comm* comm, Make make) {
  return guarded([&]() -> Result<void> {
    if (auto usable = host::c::usable(comm); !usable) {
      return usable;
    }
    if (has_group(*comm)) {
      return invalid(
          "this would wait for what its own group has not begun: post it by the function "
          "with an i before its name, or end the group first");
    }
    return make().and_then([&](const Task& task) { return comm->stream->run(task); });
  });
}

template <typename Make>
tributary_result post(tributary_comm* comm, tributary_request** request, Make make) {
  return guarded([&]() -> Result<void> {
    if (request == nullptr) {
      return invalid("there is no place for the request");
    }
    *request = nullptr;
    if (auto usable = host::c::usable(comm); !usable) {
      return usable;
    }
    return make().map([&](Task task) {
      const Posted posted{std::move(task)};
      std::unique_ptr<tributary_request> made(new tributary_request{posted.posting});
      if (!put_into_group(*comm, posted)) {
        comm->stream->post({posted});
      }
      *request = made.release();
    });
  });
}

// Fails unless the request is there, and of this process.
Result<void> is_ours(const tributary_request* request) {
  if (request == nullptr) {
    return invalid("there is no request");
  }
  return request->process == ::getpid()
             ? Result<void>()
             : invalid("the request was made before this process forked, by its parent");
}

// Returns what the request has ended with; the request is gone then.
tributary_result take(tributary_request** request) {
  const auto result = host::c::say((*request)->posting->outcome());
  tributary_request_free(request);
  return result;
}

// Returns TRIBUTARY_IN_PROGRESS, or how the request has ended.
tributary_result await(tributary_request** request, host::Time until) {
  if (request == nullptr || *request == nullptr) {
    return TRIBUTARY_SUCCESS;
  }
  if (const auto here = is_ours(*request); !here) {
    return host::c::say(here);
  }
  return (*request)->posting->wait(until) ? take(request) : TRIBUTARY_IN_PROGRESS;
}

// Returns the postings of the requests, by their place; null where there is no request.
Result<std::vector<host::Posting*>> postings_of(std::span<tributary_request* const> requests) {
  std::vector<host::Posting*> postings;
  for (const auto* request : requests) {
    if (request != nullptr) {
      if (auto here = is_ours(request); !here) {
        return tl::make_unexpected(here.error());
      }
    }
    postings.push_back(request == nullptr ? nullptr : request->posting.get());
  }
  return postings;
}

tributary_result await_any(tributary_request** requests, std::size_t count, std::size_t* index,
                           host::Time until) {
  if (index == nullptr || (requests == nullptr && count != 0)) {
    return host::c::say(
        invalid("there is no place for the index, or there are no requests").value());
  }
  *index = count;
  const std::span all(requests, count);
  if (std::ranges::all_of(all, [](const auto* request) { return request == nullptr; })) {
    return TRIBUTARY_SUCCESS;
  }
  std::optional<std::size_t> place;
  const auto waited = guarded([&] {
    return postings_of(all).map([&](const std::vector<host::Posting*>& postings) {
      place = host::wait_any(postings, until);
    });
  });
  if (!place) {
    return waited == TRIBUTARY_SUCCESS ? TRIBUTARY_IN_PROGRESS : waited;
  }
  *index = *place;
  return take(&requests[*place]);
}

host::Time so_many_from_now(std::uint64_t nanoseconds) {
  const auto now = host::Clock::now();
  const auto longest = static_cast<std::uint64_t>((host::never - now).count());
  return nanoseconds < longest ? now + host::Duration(nanoseconds) : host::never;
}

}  // namespace

tributary_result tributary_allreduce(tributary_comm* comm, const void* in, void* out, size_t count,
                                     tributary_type type, tributary_operator op) {
  return run(comm, [=] { return host::c::allreduce_task(in, out, count, type, op); });
}
tributary_result tributary_reduce(tributary_comm* comm, const void* in, void* out, size_t count,
                                  tributary_type type, tributary_operator op, uint32_t root) {
  return run(comm, [=] { return host::c::reduce_task(in, out, count, type, op, root); });
}
tributary_result tributary_broadcast(tributary_comm* comm, void* inout, size_t count,
                                     tributary_type type, uint32_t root) {
  return run(comm, [=] { return host::c::broadcast_task(inout, count, type, root); });
}
tributary_result tributary_barrier(tributary_comm* comm) {
  return run(comm, [] { return host::c::barrier_task(); });
}
tributary_result tributary_allgather(tributary_comm* comm, const void* in, void* out, size_t count,
                                     tributary_type type) {
  return run(comm, [=] { return host::c::allgather_task(in, out, count, type); });
}
tributary_result tributary_reduce_scatter(tributary_comm* comm, const void* in, void* out,
                                          size_t count, tributary_type type,
                                          tributary_operator op) {
  return run(comm, [=] { return host::c::reduce_scatter_task(in, out, count, type, op); });
}

tributary_result tributary_iallreduce(tributary_comm* comm, const void* in, void* out, size_t count,
                                      tributary_type type, tributary_operator op,
                                      tributary_request** request) {
  return post(comm, request, [=] { return host::c::allreduce_task(in, out, count, type, op); });
}
tributary_result tributary_ireduce(tributary_comm* comm, const void* in, void* out, size_t count,
                                   tributary_type type, tributary_operator op, uint32_t root,
                                   tributary_request** request) {
  return post(comm, request, [=] { return host::c::reduce_task(in, out, count, type, op, root); });
}
tributary_result tributary_ibroadcast(tributary_comm* comm, void* inout, size_t count,
                                      tributary_type type, uint32_t root,
                                      tributary_request** request) {
  return post(comm, request, [=] { return host::c::broadcast_task(inout, count, type, root); });
}
tributary_result tributary_ibarrier(tributary_comm* comm, tributary_request** request) {
  return post(comm, request, [] { return host::c::barrier_task(); });
}
tributary_result tributary_iallgather(tributary_comm* comm, const void* in, void* out, size_t count,
                                      tributary_type type, tributary_request** request) {
  return post(comm, request, [=] { return host::c::allgather_task(in, out, count, type); });
}
tributary_result tributary_ireduce_scatter(tributary_comm* comm, const void* in, void* out,
                                           size_t count, tributary_type type, tributary_operator op,
                                           tributary_request** request) {
  return post(comm, request,
              [=] { return host::c::reduce_scatter_task(in, out, count, type, op); });
}

tributary_result tributary_sketched_allreduce(tributary_comm* comm, const float* in, float* out,
                                              size_t count, tributary_sketch* sketch) {
  return run(comm, [=] { return host::c::sketched_task(in, out, count, sketch); });
}
tributary_result tributary_isketched_allreduce(tributary_comm* comm, const float* in, float* out,
                                               size_t count, tributary_sketch* sketch,
                                               tributary_request** request) {
  return post(comm, request, [=] { return host::c::sketched_task(in, out, count, sketch); });
}

tributary_result tributary_test(tributary_request** request) {
  return await(request, host::Time{});
}

tributary_result tributary_wait(tributary_request** request) {
  return await(request, host::never);
}

tributary_result tributary_wait_for(tributary_request** request, uint64_t nanoseconds) {
  return await(request, so_many_from_now(nanoseconds));
}

tributary_result tributary_wait_any(tributary_request** requests, size_t count, size_t* index) {
  return await_any(requests, count, index, host::never);
}

tributary_result tributary_wait_any_for(tributary_request** requests, size_t count, size_t* index,
                                        uint64_t nanoseconds) {
  return await_any(requests, count, index, so_many_from_now(nanoseconds));
}

tributary_result tributary_request_deadline(tributary_request* request, uint64_t nanoseconds) {
  return guarded([&]() -> Result<void> {
    return is_ours(request).map(
        [&] { request->posting->set_deadline(so_many_from_now(nanoseconds)); });
  });
}

tributary_result tributary_request_on_completion(tributary_request* request,
                                                 tributary_completion function, void* context) {
  return guarded([&]() -> Result<void> {
    return is_ours(request).map([&] {
      request->posting->on_end(function == nullptr ? host::Posting::Told()
                                                   : [=](const Result<void>& outcome) {
                                                       function(context, host::c::say(outcome));
                                                     });
    });
  });
}

void tributary_request_free(tributary_request** request) {
  if (request != nullptr) {
    delete std::exchange(*request, nullptr);
  }
}

tributary_result tributary_group_begin(tributary_comm* comm) {
  return guarded([&]() -> Result<void> {
    if (auto usable = host::c::usable(comm); !usable) {
      return usable;
    }
    const std::lock_guard lock(comm->mutex);
    const bool is_new = comm->groups.try_emplace(std::this_thread::get_id()).second;
    return is_new ? Result<void>()
                  : invalid(
                        "this thread has begun a group already, and groups do not nest; end it "
                        "first");
  });
}

tributary_result tributary_group_end(tributary_comm* comm) {
  return guarded([&]() -> Result<void> {
    if (auto usable = host::c::usable(comm); !usable) {
      return usable;
    }
    std::unique_lock lock(comm->mutex);
    auto group = comm->groups.extract(std::this_thread::get_id());
    lock.unlock();
    if (group.empty()) {
      return invalid("this thread has begun no group");
    }
    if (!group.mapped().empty()) {
      comm->stream->post(std::move(group.mapped()));
    }
    return {};
  });
}
