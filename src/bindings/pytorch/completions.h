// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "bindings/pytorch/lacking.h"
#include "bindings/pytorch/work.h"
#include "host/c/tributary.h"

namespace tributary::pytorch {

// An Operation is a collective of PyTorch's, on its way: as one or several of libtributary's.
struct Operation {
  std::string what;  // for messages
  Tensors in_use;
  std::vector<tributary_request*> requests;
  // Of each request of an average, what its sum lacks.
  std::vector<std::future<Lacking>> lacking;
  // Puts the outcome where it belongs.
  std::function<void(const std::vector<Lacking>&)> take_results = [](const auto&) {};
  c10::intrusive_ptr<PendingWork> work;
};

// Waits for operations, in the order in which they were posted, and says how each one ended. What
// hangs on an operation's future may itself wait for a later operation, as DDP's hooks do: while
// one thread is busy with that, another one waits for what comes next.
class Completions {
 public:
  // An Explain tells people how a collective failed, by its result and the reason that libtributary
  // has.
  using Explain = std::function<std::string(tributary_result, const std::string& reason)>;

  explicit Completions(Explain explain);
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;
  // What was posted has to end by itself.
  ~Completions();

  void add(Operation operation);
  // Returns whether all have ended, by then.
  bool wait_for(std::chrono::milliseconds duration);

 private:
  void serve();
  // Is called with the lock.
  bool is_done() const { return posted_.empty() && !is_waited_ && ending_ones_ == 0; }
  // Has a thread look after what comes next. Is called with the lock.
  void hand_over();
  std::exception_ptr outcome_of(Operation& operation) const;

  const Explain explain_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Operation> posted_;
  bool is_waited_ = false;       // a thread waits for the first one
  std::size_t ending_ones_ = 0;  // operations whose outcome is being told
  std::size_t idle_ = 0;         // threads
  bool stops_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tributary::pytorch
