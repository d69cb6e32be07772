// SPDX-License-Identifier: BSD-3-Clause
#include "host/c/tasks.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "host/c/objects.h"
#include "host/call.h"
#include "host/text.h"
#include "wire/element.h"

namespace tributary::host::c {
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

}  // namespace

Result<Task> allreduce_task(const void* in, void* out, std::size_t count, tributary_type type,
                            tributary_operator op) {
  const auto kind = kind_of(type, op);
  if (!kind) {
    return refused_task(kind.error(), [=](Communicator& by) {
      return by.allreduce(in, out, count, no_type, wire::Operator::sum);
    });
  }
  return task_of(call_of(Collective::allreduce, in, out, count, kind->type, kind->op));
}

Result<Task> reduce_task(const void* in, void* out, std::size_t count, tributary_type type,
                         tributary_operator op, std::uint32_t root) {
  const auto kind = kind_of(type, op);
  if (!kind) {
    return refused_task(kind.error(), [=](Communicator& by) {
      return by.reduce(in, out, count, no_type, wire::Operator::sum, root);
    });
  }
  return task_of(call_of(Collective::reduce, in, out, count, kind->type, kind->op, root));
}

Result<Task> broadcast_task(void* inout, std::size_t count, tributary_type type,
                            std::uint32_t root) {
  const auto kind = kind_of(type);
  if (!kind) {
    return refused_task(
        kind.error(), [=](Communicator& by) { return by.broadcast(inout, count, no_type, root); });
  }
  return task_of(call_of(Collective::broadcast, inout, inout, count, kind->type, kind->op, root));
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

}  // namespace tributary::host::c
