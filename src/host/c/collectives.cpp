// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/c/border.h"
#include "host/c/objects.h"
#include "host/c/tributary.h"
#include "host/call.h"
#include "host/clock.h"
#include "host/text.h"
#include "wire/element.h"

using namespace tributary;  // the functions are C's
using host::Call;
using host::Collective;
using host::invalid;
using host::Posted;
using host::Task;
using host::c::guarded;

namespace {

struct Kind {
  wire::ElementType type;
  wire::Operator op;
};

// No communicator has this type: a call of it is refused, and counted as others count theirs, so
// that the next one is not taken for it.
constexpr auto no_type = wire::ElementType{255};

// Returns what the communicator can look at. Whether the type has the operator is for the
// communicator to say, which is in step with the other ranks then.
Result<Kind> kind_of(tributary_type type, int op) {
  if (tributary_type_size(type) == 0) {
    return invalid("there is no element type " + std::to_string(static_cast<int>(type)));
  }
  if (op < 0 || op > std::numeric_limits<std::uint8_t>::max()) {
    return invalid("there is no operator " + std::to_string(op));
  }
  return Kind{static_cast<wire::ElementType>(type), static_cast<wire::Operator>(op)};
}

// Returns the kind of elements that are moved as they are.
Result<Kind> kind_of(tributary_type type) {
  return kind_of(type, TRIBUTARY_SUM).map([](const Kind& kind) {
    return Kind{kind.type, wire::any_operator(kind.type)};
  });
}

Task task_of(const Call& call) {
  return {call, nullptr};
}
Task task_of(std::function<Result<void>(Communicator&)> run) {
  return {std::nullopt, std::move(run)};
}

// Has the communicator refuse a call that it cannot look at; the caller is told why.
template <typename Refuse>
Task refused_task(const Error& why, Refuse refuse) {
  return task_of([=](Communicator& by) -> Result<void> {
    (void)refuse(by);
    return tl::make_unexpected(why);
  });
}

Result<Task> allreduce_task(const void* in, void* out, std::size_t count, tributary_type type,
                            tributary_operator op) {
  const auto kind = kind_of(type, op);
  if (!kind) {
    return refused_task(kind.error(), [=](Communicator& by) {
      return by.allreduce(in, out, count, no_type, wire::Operator::sum);
    });
  }
  return task_of(host::call_of(Collective::allreduce, in, out, count, kind->type, kind->op));
}

Result<Task> reduce_task(const void* in, void* out, std::size_t count, tributary_type type,
                         tributary_operator op, std::uint32_t root) {
  const auto kind = kind_of(type, op);
  if (!kind) {
    return refused_task(kind.error(), [=](Communicator& by) {
      return by.reduce(in, out, count, no_type, wire::Operator::sum, root);
    });
  }
  return task_of(host::call_of(Collective::reduce, in, out, count, kind->type, kind->op, root));
}

Result<Task> broadcast_task(void* inout, std::size_t count, tributary_type type,
                            std::uint32_t root) {
  const auto kind = kind_of(type);
  if (!kind) {
    return refused_task(
        kind.error(), [=](Communicator& by) { return by.broadcast(inout, count, no_type, root); });
  }
  return task_of(
      host::call_of(Collective::broadcast, inout, inout, count, kind->type, kind->op, root));
}

Result<Task> barrier_task() {
  return task_of(Call{Collective::barrier, {}, 0});
}

Result<Task> allgather_task(const void* in, void* out, std::size_t count, tributary_type type) {
  const auto kind = kind_of(type);
  const auto by_type = [=](wire::ElementType known) {
    return [=](Communicator& by) { return by.allgather(in, out, count, known); };
  };
  return kind ? task_of(by_type(kind->type)) : refused_task(kind.error(), by_type(no_type));
}

Result<Task> reduce_scatter_task(const void* in, void* out, std::size_t count, tributary_type type,
                                 tributary_operator op) {
  const auto kind = kind_of(type, op);
  const auto by_kind = [=](Kind known) {
    return
        [=](Communicator& by) { return by.reduce_scatter(in, out, count, known.type, known.op); };
  };
  return kind ? task_of(by_kind(*kind))
              : refused_task(kind.error(), by_kind({no_type, wire::Operator::sum}));
}

Result<Task> sketched_task(const float* in, float* out, std::size_t count,
                           const tributary_sketch* sketch) {
  if (sketch == nullptr) {
    return invalid("there is no sketch: make one for each vector, by tributary_sketch_create()");
  }
  return task_of([=, kept = sketch->sketch](Communicator& by) {
    return by.sketched_allreduce(std::span(in, count), std::span(out, count), *kept);
  });
}

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
  return run(comm, [=] { return allreduce_task(in, out, count, type, op); });
}
tributary_result tributary_reduce(tributary_comm* comm, const void* in, void* out, size_t count,
                                  tributary_type type, tributary_operator op, uint32_t root) {
  return run(comm, [=] { return reduce_task(in, out, count, type, op, root); });
}
tributary_result tributary_broadcast(tributary_comm* comm, void* inout, size_t count,
                                     tributary_type type, uint32_t root) {
  return run(comm, [=] { return broadcast_task(inout, count, type, root); });
}
tributary_result tributary_barrier(tributary_comm* comm) {
  return run(comm, [] { return barrier_task(); });
}
tributary_result tributary_allgather(tributary_comm* comm, const void* in, void* out, size_t count,
                                     tributary_type type) {
  return run(comm, [=] { return allgather_task(in, out, count, type); });
}
tributary_result tributary_reduce_scatter(tributary_comm* comm, const void* in, void* out,
                                          size_t count, tributary_type type,
                                          tributary_operator op) {
  return run(comm, [=] { return reduce_scatter_task(in, out, count, type, op); });
}

tributary_result tributary_iallreduce(tributary_comm* comm, const void* in, void* out, size_t count,
                                      tributary_type type, tributary_operator op,
                                      tributary_request** request) {
  return post(comm, request, [=] { return allreduce_task(in, out, count, type, op); });
}
tributary_result tributary_ireduce(tributary_comm* comm, const void* in, void* out, size_t count,
                                   tributary_type type, tributary_operator op, uint32_t root,
                                   tributary_request** request) {
  return post(comm, request, [=] { return reduce_task(in, out, count, type, op, root); });
}
tributary_result tributary_ibroadcast(tributary_comm* comm, void* inout, size_t count,
                                      tributary_type type, uint32_t root,
                                      tributary_request** request) {
  return post(comm, request, [=] { return broadcast_task(inout, count, type, root); });
}
tributary_result tributary_ibarrier(tributary_comm* comm, tributary_request** request) {
  return post(comm, request, [] { return barrier_task(); });
}
tributary_result tributary_iallgather(tributary_comm* comm, const void* in, void* out, size_t count,
                                      tributary_type type, tributary_request** request) {
  return post(comm, request, [=] { return allgather_task(in, out, count, type); });
}
tributary_result tributary_ireduce_scatter(tributary_comm* comm, const void* in, void* out,
                                           size_t count, tributary_type type, tributary_operator op,
                                           tributary_request** request) {
  return post(comm, request, [=] { return reduce_scatter_task(in, out, count, type, op); });
}

tributary_result tributary_sketched_allreduce(tributary_comm* comm, const float* in, float* out,
                                              size_t count, tributary_sketch* sketch) {
  return run(comm, [=] { return sketched_task(in, out, count, sketch); });
}
tributary_result tributary_isketched_allreduce(tributary_comm* comm, const float* in, float* out,
                                               size_t count, tributary_sketch* sketch,
                                               tributary_request** request) {
  return post(comm, request, [=] { return sketched_task(in, out, count, sketch); });
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
