// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/pytorch/completions.h"

#include <c10/core/InferenceMode.h>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "bindings/pytorch/communicator.h"

namespace tributary::pytorch {
namespace {

// Returns how the first request that failed did so; all are waited for.
tributary_result wait_for_all(Operation& operation, std::string& reason) {
  auto worst = TRIBUTARY_SUCCESS;
  for (auto& request : operation.requests) {
    const auto result = tributary_wait(&request);
    if (result != TRIBUTARY_SUCCESS && worst == TRIBUTARY_SUCCESS) {
      worst = result;
      reason = failure_text(result);
    }
  }
  return worst;
}

std::exception_ptr taken(Operation& operation) {
  try {
    std::vector<Lacking> lacking;
    for (auto& answer : operation.lacking) {
      lacking.push_back(answer.get());
    }
    // Results may go into tensors that were made in it; others may be written in it, too.
    const c10::InferenceMode inference;
    operation.take_results(lacking);
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace

Completions::Completions(Explain explain) : explain_(std::move(explain)) {
  const std::lock_guard lock(mutex_);
  hand_over();
}

Completions::~Completions() {
  {
    std::unique_lock lock(mutex_);
    // What is told of one operation may itself wait for the next one, which needs a thread.
    changed_.wait(lock, [this] { return is_done(); });
    stops_ = true;
    changed_.notify_all();
  }
  // No thread begins any more.
  for (auto& thread : threads_) {
    thread.join();
  }
}

void Completions::add(Operation operation) {
  const std::lock_guard lock(mutex_);
  posted_.push_back(std::move(operation));
  changed_.notify_all();
}

bool Completions::wait_for(std::chrono::milliseconds duration) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, duration, [this] { return is_done(); });
}

void Completions::hand_over() {
  if (idle_ == 0 && !stops_) {
    try {
      threads_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {
      if (threads_.empty()) {
        throw;
      }  // else the thread that is here goes on by itself, once it has told its outcome
    }
  }
  changed_.notify_all();
}

void Completions::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock, [this] { return !is_waited_ && (stops_ || !posted_.empty()); });
    --idle_;
    if (posted_.empty()) {
      return;
    }
    auto operation = std::move(posted_.front());
    posted_.pop_front();
    is_waited_ = true;
    lock.unlock();
    const auto error = outcome_of(operation);
    lock.lock();
    is_waited_ = false;
    ++ending_ones_;
    hand_over();
    lock.unlock();
    operation.work->end(error);
    // The operation's tensors may be Python's, which has a lock of its own.
    operation = {};
    lock.lock();
    --ending_ones_;
    changed_.notify_all();
  }
}

std::exception_ptr Completions::outcome_of(Operation& operation) const {
  std::string reason;
  const auto result = wait_for_all(operation, reason);
  return result == TRIBUTARY_SUCCESS
             ? taken(operation)
             : std::make_exception_ptr(
                   std::runtime_error(operation.what + " failed: " + explain_(result, reason)));
}

}  // namespace tributary::pytorch
