// SPDX-License-Identifier: BSD-3-Clause
#include "host/stream/stream.h"

#include "host/clock.h"
#include "host/safely.h"
#include "host/thread.h"
#include "wire/element.h"

namespace tributary::host {
namespace {

// This call stands for a collective that goes alone.
constexpr Call alone{Collective::barrier, {}, 0};

tl::unexpected<Error> refuse_lent() {
  return fail(Error::Code::invalid_argument,
              "the communicator belongs to an exchange of gradients until that is closed");
}

}  // namespace

Result<std::unique_ptr<Stream>> Stream::over(const Make& make) {
  std::unique_ptr<Stream> stream(new Stream);
  const auto ready = start_thread([stream = stream.get()] {
                       stream->serve();
                     }).map([&](std::thread thread) { stream->thread_ = std::move(thread); });
  return make(ready).map([&](Communicator communicator) {
    stream->communicator_.emplace(std::move(communicator));
    return std::move(stream);
  });
}

Stream::~Stream() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) {
    thread_.join();
  }
}

void Stream::post(std::vector<Posted> group) {
  std::unique_lock lock(mutex_);
  if (!lent_) {
    posted_.push_back(std::move(group));
    changed_.notify_all();
    return;
  }
  lock.unlock();
  for (const auto& one : group) {
    one.posting->end(refuse_lent());
  }
}

// A thread that has to wait anyway carries the task out itself, which saves the other one's waking
// up.
Result<void> Stream::run(const Task& task) {
  std::unique_lock lock(mutex_);
  if (lent_) {
    return refuse_lent();
  }
  if (busy_ || !posted_.empty()) {
    const Posted behind{task};
    posted_.push_back({behind});
    changed_.notify_all();
    lock.unlock();
    behind.posting->wait(never);
    return behind.posting->outcome();
  }
  begin_turn();
  lock.unlock();
  const auto done = safely([&] { return carry_out(task); });
  end_turn();
  return done;
}

void Stream::abort() {
  communicator_->abort();
}

Result<void> Stream::lend(std::function<Result<void>(Communicator&)> use) {
  const Posted behind{{std::nullopt, std::move(use)}};
  {
    const std::lock_guard lock(mutex_);
    if (lent_) {
      return refuse_lent();
    }
    lent_ = true;
    posted_.push_back({behind});
    changed_.notify_all();
  }
  behind.posting->wait(never);
  auto done = behind.posting->outcome();
  if (!done) {
    take_back();
  }
  return done;
}

void Stream::take_back() {
  const std::lock_guard lock(mutex_);
  lent_ = false;
}

Result<void> Stream::is_here() const {
  const std::lock_guard lock(mutex_);
  return lent_ ? refuse_lent() : Result<void>();
}

void Stream::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock,
                  [this] { return !busy_ && waiting_ == 0 && (ending_ || !posted_.empty()); });
    if (posted_.empty()) {
      return;
    }
    const auto group = std::move(posted_.front());
    posted_.pop_front();
    begin_turn();
    lock.unlock();
    carry_out(group);
    end_turn();
    lock.lock();
  }
}

void Stream::carry_out(const Group& group) {
  std::vector<bool> ended(group.size());
  const auto done = safely([&]() -> Result<void> {
    std::vector<Call> calls;
    for (const auto& one : group) {
      calls.push_back(one.task.call.value_or(alone));
    }
    // Where sums may lack ranks, each collective is one by itself, which knows whom it lacks.
    const auto bytes_max = communicator_->may_lack_ranks() ? 0 : fused_bytes_max;
    for (const auto& batch : fuse(calls, bytes_max, communicator_->reproducible())) {
      const auto outcome = carry_out(group, calls, batch);
      for (const auto place : batch.calls) {
        group[place].posting->end(outcome);
        ended[place] = true;
      }
      communicator_->limit().lift();
    }
    return {};
  });
  for (std::size_t place = 0; place < group.size(); ++place) {
    if (!ended[place]) {
      group[place].posting->end(done);
    }
  }
  communicator_->limit().lift();
}

// The earliest deadline of a batch is that of all: it is one collective. What was given up before
// its turn counts as well, and its buffers are the caller's again: the communicator leaves them
// alone where the limit has passed.
Result<void> Stream::carry_out(const Group& group, const std::vector<Call>& calls,
                               const Batch& batch) {
  for (const auto place : batch.calls) {
    group[place].posting->begin(communicator_->limit());
  }
  if (batch.calls.size() == 1) {
    return carry_out(group[batch.calls.front()].task);
  }
  return run_as_one(calls, batch).map([&] { fused_ += batch.calls.size(); });
}

Result<void> Stream::carry_out(const Task& task) {
  return task.call ? communicator_->run(*task.call) : task.run(*communicator_);
}

template <typename Run>
Result<void> Stream::safely(Run run) {
  return host::safely(run, [this] { communicator_->abort(); });
}

Result<void> Stream::run_as_one(const std::vector<Call>& calls, const Batch& batch) {
  if (communicator_->is_late()) {
    return call_without_buffers(calls, batch);
  }
  if (auto checked = check_all(calls, batch); !checked) {
    return checked;
  }
  const auto all = gather(calls, batch, buffer_);
  return communicator_->run(all).map([&] { scatter(buffer_, calls, batch); });
}

// Checks the parts of a vector. If one is refused, the whole vector is, as one call, so that ranks
// stay in step.
Result<void> Stream::check_all(const std::vector<Call>& calls, const Batch& batch) {
  for (const auto place : batch.calls) {
    if (auto checked = communicator_->check(calls[place]); !checked) {
      (void)call_without_buffers(calls, batch);
      return checked;
    }
  }
  return {};
}

// Makes the call without buffers, which counts, and is refused.
Result<void> Stream::call_without_buffers(const std::vector<Call>& calls, const Batch& batch) {
  const auto& buffers = calls[batch.calls.front()].buffers;
  const auto elements = batch.bytes / wire::element_bytes(buffers.type);
  return communicator_->allreduce(nullptr, nullptr, elements, buffers.type, buffers.op);
}

void Stream::take_turn() {
  std::unique_lock lock(mutex_);
  ++waiting_;
  changed_.wait(lock, [this] { return !busy_; });
  --waiting_;
  begin_turn();
}

// Is called with the lock.
void Stream::begin_turn() {
  busy_ = true;
  owner_ = std::this_thread::get_id();
}

bool Stream::is_mine() const {
  const std::lock_guard lock(mutex_);
  return busy_ && owner_ == std::this_thread::get_id();
}

void Stream::end_turn() {
  const std::lock_guard lock(mutex_);
  busy_ = false;
  changed_.notify_all();
}

}  // namespace tributary::host
