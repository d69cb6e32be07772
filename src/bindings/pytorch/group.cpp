// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/pytorch/group.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <chrono>
#include <exception>
#include <utility>

#include "bindings/pytorch/kind.h"
#include "bindings/pytorch/tensors.h"
#include "bindings/pytorch/without_gil.h"

namespace tributary::pytorch {
namespace {

using c10d::OpType;
// A group that closes waits so long for what nobody has waited for.
constexpr auto patience = std::chrono::seconds(2);

}  // namespace

// A Draft becomes an operation when it is posted.
struct Group::Draft {
  std::string what;
  OpType type;
  const char* title;
  Tensors inputs;
  Tensors outputs;
  Tensors in_use;        // besides these
  bool divides = false;  // sums that become averages
  std::function<void(const std::vector<Lacking>&)> take_results = [](const auto&) {};
};

Group::Group(const c10::intrusive_ptr<c10d::Store>& store, const Place& place,
             c10::intrusive_ptr<GroupBase> rest)
    : GroupBase(place.rank, place.size),
      rest_(std::move(rest)),
      communicator_(*store, place),
      completions_(
          std::make_unique<Completions>([this](tributary_result result, const std::string& reason) {
            return explain(result, reason);
          })) {
  if (place.size > 1) {
    watch_ = std::make_unique<Watch>(rest_, [this] { tributary_comm_abort(communicator_.get()); });
  }
}

// The threads that end here may want Python's lock, which its garbage collector holds.
Group::~Group() {
  const WithoutGil without_gil;
  close();
  rest_.reset();
}

// The watch goes last: with it, ranks that have died are not waited for.
void Group::close() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(closed_, true)) {
      return;
    }
  }
  if (!completions_->wait_for(patience)) {
    tributary_comm_abort(communicator_.get());
  }
  completions_.reset();
  watch_.reset();
  const std::unique_lock nobody_asks(communicator_in_use_);
  communicator_.close();
}

std::string Group::algorithm() {
  const std::lock_guard lock(mutex_);
  TORCH_CHECK(!closed_, "the process group is closed");
  return tributary_comm_algorithm(communicator_.get());
}

// The answer comes when the collective that is under way has ended, and others are posted
// meanwhile.
std::uint64_t Group::statistic(const std::string& name) {
  const std::shared_lock asks(communicator_in_use_);
  {
    const std::lock_guard lock(mutex_);
    TORCH_CHECK(!closed_, "the process group is closed");
  }
  std::uint64_t value = 0;
  const auto result = tributary_comm_statistic(communicator_.get(), name.c_str(), &value);
  TORCH_CHECK(result == TRIBUTARY_SUCCESS, failure_text(result));
  return value;
}

// If the watch has ended the collective, its text is all there is to tell.
std::string Group::explain(tributary_result result, const std::string& reason) const {
  const auto gone = watch_ ? watch_->gone() : "";
  if (gone.empty()) {
    return reason;
  }
  return result == TRIBUTARY_ABORTED ? gone : reason + " (" + gone + ")";
}

WorkPtr Group::post(Draft draft, const std::vector<Post>& posts) {
  const std::lock_guard lock(mutex_);
  TORCH_CHECK(!closed_, draft.what, ": the process group is closed");
  auto* const comm = communicator_.get();
  Operation operation;
  operation.what =
      draft.what + " on rank " + std::to_string(rank_) + " of " + std::to_string(size_);
  operation.take_results = std::move(draft.take_results);
  operation.work =
      c10::make_intrusive<PendingWork>(rank_, draft.type, draft.title, draft.inputs, draft.outputs);
  operation.in_use = std::move(draft.in_use);
  for (const auto* tensors : {&draft.inputs, &draft.outputs}) {
    operation.in_use.insert(operation.in_use.end(), tensors->begin(), tensors->end());
  }
  operation.requests.reserve(posts.size());
  WorkPtr work = operation.work;
  std::string refusal;
  const bool grouped = posts.size() > 1 && tributary_group_begin(comm) == TRIBUTARY_SUCCESS;
  try {
    for (const auto& one : posts) {
      tributary_request* request = nullptr;
      if (const auto result = one(comm, &request); result != TRIBUTARY_SUCCESS) {
        refusal = failure_text(result);
        break;
      }
      operation.requests.push_back(request);
      if (draft.divides) {
        operation.lacking.push_back(lacking_of(comm, request));
      }
    }
  } catch (const std::exception& error) {
    refusal = error.what();
  }
  if (grouped) {
    tributary_group_end(comm);
  }
  if (!refusal.empty()) {
    // What was posted before the refusal is in use until it ends; then nobody takes its results.
    operation.what += " was refused: " + refusal;
    operation.take_results = [](const auto&) {};
  }
  completions_->add(std::move(operation));
  TORCH_CHECK(refusal.empty(), draft.what, " failed: ", refusal);
  return work;
}

WorkPtr Group::allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) {
  const auto& tensor = the_one(tensors, "all_reduce");
  const auto kind = kind_of(tensor.scalar_type(), options.reduceOp);
  if (!kind || !is_dense(tensor)) {
    return rest_->allreduce(tensors, options);
  }
  expect_cpu(tensor, "all_reduce");
  const auto flat = flattened(tensor);
  Draft draft{described("all_reduce", tensor, options.reduceOp),
              OpType::ALLREDUCE,
              "tributary:all_reduce",
              tensors,
              tensors,
              {flat}};
  draft.divides = kind->divides;
  draft.take_results = [=, ranks = size_](const auto& lacking) {
    if (kind->divides) {
      divide(flat, ranks, lacking.front());
    }
    copy_back(tensor, flat);
  };
  return post(std::move(draft), {[=](tributary_comm* comm, tributary_request** request) {
                return tributary_iallreduce(comm, flat.data_ptr(), flat.data_ptr(), count_of(flat),
                                            kind->type, kind->op, request);
              }});
}

// The tensors are one group, which libtributary carries as one vector if they are small.
WorkPtr Group::allreduce_coalesced(Tensors& tensors,
                                   const c10d::AllreduceCoalescedOptions& options) {
  TORCH_CHECK(!tensors.empty(), "all_reduce_coalesced takes at least one tensor");
  std::vector<Post> posts;
  Draft draft{described("all_reduce_coalesced", tensors.front(), options.reduceOp) + " and others",
              OpType::ALLREDUCE_COALESCED,
              "tributary:all_reduce_coalesced",
              tensors,
              tensors,
              {}};
  std::vector<std::function<void(const std::vector<Lacking>&)>> takings;
  for (const auto& tensor : tensors) {
    const auto kind = kind_of(tensor.scalar_type(), options.reduceOp);
    if (!kind || !is_dense(tensor)) {
      return rest_->allreduce_coalesced(tensors, options);
    }
    expect_cpu(tensor, "all_reduce_coalesced");
    const auto flat = flattened(tensor);
    draft.in_use.push_back(flat);
    posts.emplace_back([=](tributary_comm* comm, tributary_request** request) {
      return tributary_iallreduce(comm, flat.data_ptr(), flat.data_ptr(), count_of(flat),
                                  kind->type, kind->op, request);
    });
    draft.divides = kind->divides;
    takings.emplace_back([=, ranks = size_, place = takings.size()](const auto& lacking) {
      if (kind->divides) {
        divide(flat, ranks, lacking[place]);
      }
      copy_back(tensor, flat);
    });
  }
  draft.take_results = [takings](const auto& lacking) {
    for (const auto& take : takings) {
      take(lacking);
    }
  };
  return post(std::move(draft), posts);
}

WorkPtr Group::reduce(Tensors& tensors, const c10d::ReduceOptions& options) {
  const auto& tensor = the_one(tensors, "reduce");
  const auto kind = kind_of(tensor.scalar_type(), options.reduceOp);
  if (!kind || !is_dense(tensor)) {
    return rest_->reduce(tensors, options);
  }
  expect_cpu(tensor, "reduce");
  const auto flat = flattened(tensor);
  const bool is_root = rank_ == options.rootRank;
  Draft draft{described("reduce", tensor, options.reduceOp),
              OpType::REDUCE,
              "tributary:reduce",
              tensors,
              tensors,
              {flat}};
  draft.divides = kind->divides;
  draft.take_results = [=, ranks = size_](const auto& lacking) {
    if (is_root && kind->divides) {
      divide(flat, ranks, lacking.front());
    }
    if (is_root) {
      copy_back(tensor, flat);
    }
  };
  return post(std::move(draft), {[=, root = static_cast<std::uint32_t>(options.rootRank)](
                                     tributary_comm* comm, tributary_request** request) {
                return tributary_ireduce(comm, flat.data_ptr(), is_root ? flat.data_ptr() : nullptr,
                                         count_of(flat), kind->type, kind->op, root, request);
              }});
}

WorkPtr Group::broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) {
  const auto& tensor = the_one(tensors, "broadcast");
  if (!is_dense(tensor)) {
    return rest_->broadcast(tensors, options);
  }
  expect_cpu(tensor, "broadcast");
  const auto flat = flattened(tensor);
  Draft draft{described("broadcast", tensor),
              OpType::BROADCAST,
              "tributary:broadcast",
              tensors,
              tensors,
              {flat}};
  draft.take_results = [=, is_root = rank_ == options.rootRank](const auto&) {
    if (!is_root) {
      copy_back(tensor, flat);
    }
  };
  return post(std::move(draft), {[=, root = static_cast<std::uint32_t>(options.rootRank)](
                                     tributary_comm* comm, tributary_request** request) {
                return tributary_ibroadcast(comm, flat.data_ptr(), bytes_of(flat), TRIBUTARY_I8,
                                            root, request);
              }});
}

WorkPtr Group::barrier(const c10d::BarrierOptions& /*options*/) {
  Draft draft{"barrier", OpType::BARRIER, "tributary:barrier", {}, {}, {}};
  return post(std::move(draft), {tributary_ibarrier});
}

WorkPtr Group::allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                         const c10d::AllgatherOptions& options) {
  const auto& input = the_one(inputs, "all_gather");
  TORCH_CHECK(outputs.size() == 1, "all_gather over Tributary takes one list of tensors");
  if (!is_dense(input)) {
    return rest_->allgather(outputs, inputs, options);
  }
  expect_cpu(input, "all_gather");
  expect_alike(outputs.front(), input, static_cast<std::size_t>(size_), "all_gather");
  const auto flat = flattened(input);
  const auto all = at::empty({size_, flat.numel()}, flat.options());
  Draft draft{described("all_gather", input),
              OpType::ALLGATHER,
              "tributary:all_gather",
              inputs,
              outputs.front(),
              {flat, all}};
  draft.take_results = [all, parts = outputs.front()](const auto&) {
    for (std::size_t rank = 0; rank < parts.size(); ++rank) {
      const auto& part = parts[rank];
      part.copy_(all[static_cast<std::int64_t>(rank)].view(part.sizes()));
    }
  };
  return post(std::move(draft), {[=](tributary_comm* comm, tributary_request** request) {
                return tributary_iallgather(comm, flat.data_ptr(), all.data_ptr(), bytes_of(flat),
                                            TRIBUTARY_I8, request);
              }});
}

WorkPtr Group::_allgather_base(at::Tensor& output, at::Tensor& input,
                               const c10d::AllgatherOptions& /*options*/) {
  expect_cpu(input, "all_gather_into_tensor");
  expect_cpu(output, "all_gather_into_tensor");
  expect_share(output, input, size_, "all_gather_into_tensor");
  const auto flat = flattened(input);
  const auto all = flattened(output);
  Draft draft{described("all_gather_into_tensor", input),
              OpType::_ALLGATHER_BASE,
              "tributary:all_gather",
              {input},
              {output},
              {flat, all}};
  draft.take_results = [=](const auto&) { copy_back(output, all); };
  return post(std::move(draft), {[=](tributary_comm* comm, tributary_request** request) {
                return tributary_iallgather(comm, flat.data_ptr(), all.data_ptr(), bytes_of(flat),
                                            TRIBUTARY_I8, request);
              }});
}

WorkPtr Group::reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                              const c10d::ReduceScatterOptions& options) {
  const auto& output = the_one(outputs, "reduce_scatter");
  TORCH_CHECK(inputs.size() == 1, "reduce_scatter over Tributary takes one list of tensors");
  const auto kind = kind_of(output.scalar_type(), options.reduceOp);
  if (!kind || !is_dense(output)) {
    return rest_->reduce_scatter(outputs, inputs, options);
  }
  expect_cpu(output, "reduce_scatter");
  expect_alike(inputs.front(), output, static_cast<std::size_t>(size_), "reduce_scatter");
  const at::NoGradGuard no_grad;
  Tensors rows;
  for (const auto& input : inputs.front()) {
    rows.push_back(input.reshape({1, output.numel()}));
  }
  auto all = at::cat(rows);
  at::Tensor part = output;
  return _reduce_scatter_base(part, all, options);
}

WorkPtr Group::_reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                    const c10d::ReduceScatterOptions& options) {
  const auto kind = kind_of(output.scalar_type(), options.reduceOp);
  if (!kind) {
    return rest_->_reduce_scatter_base(output, input, options);
  }
  expect_cpu(input, "reduce_scatter_tensor");
  expect_cpu(output, "reduce_scatter_tensor");
  expect_share(input, output, size_, "reduce_scatter_tensor");
  const auto all = flattened(input);
  const auto part = flattened(output);
  Draft draft{described("reduce_scatter", input, options.reduceOp),
              OpType::_REDUCE_SCATTER_BASE,
              "tributary:reduce_scatter",
              {input},
              {output},
              {all, part}};
  draft.divides = kind->divides;
  draft.take_results = [=, to = output, ranks = size_](const auto& lacking) {
    if (kind->divides) {
      divide(part, ranks, lacking.front());
    }
    copy_back(to, part);
  };
  return post(std::move(draft), {[=](tributary_comm* comm, tributary_request** request) {
                return tributary_ireduce_scatter(comm, all.data_ptr(), part.data_ptr(),
                                                 count_of(part), kind->type, kind->op, request);
              }});
}

}  // namespace tributary::pytorch
