// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <pybind11/pybind11.h>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "bindings/python/endings.h"
#include "bindings/python/view.h"
#include "host/c/tributary.h"

namespace tributary::python {

// A Posted is a collective that was posted, with the memory that it reads and writes.
class Posted {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Posted(tributary_request* request, std::vector<View> views);
  Posted(const Posted&) = delete;
  Posted& operator=(const Posted&) = delete;
  ~Posted() { tributary_request_free(&request_); }

  // Returns whether it is known to have ended, by then: another thread may wait for it and learn
  // that first. Is called without the GIL.
  bool wait_for(std::chrono::nanoseconds duration);
  // Is called once, before other threads have it.
  void set_deadline(std::chrono::nanoseconds from_now);
  std::optional<Time> deadline() const { return deadline_; }
  // Has `endings` get that number when it ends.
  void tell(const std::shared_ptr<Endings>& endings, std::uint64_t number);
  // Returns the first of them that has ended, by then, or null. Is called without the GIL.
  static Posted* wait_any(std::vector<Posted*> posted, std::chrono::nanoseconds duration);
  // Lets go of the memory. Precondition: it has ended. Is called with the GIL.
  void release() { views_.clear(); }
  // Throws what it ended with, if that is no success. Precondition: it has ended.
  void check() const;

 private:
  void note(tributary_result result);
  // A forked process has no threads of its parent, but the locks that these held.
  bool is_of_the_parent();
  static Posted* first_failed(const std::vector<Posted*>& posted);

  const pid_t process_ = ::getpid();
  std::timed_mutex mutex_;  // of whoever waits for it
  tributary_request* request_;
  tributary_result result_ = TRIBUTARY_IN_PROGRESS;
  std::string message_;
  std::vector<View> views_;
  std::optional<Time> deadline_;
  std::shared_ptr<End> end_ = std::make_shared<End>();
};

// A Request is what Python has of it.
class Request {
 public:
  Request(std::shared_ptr<Posted> posted, pybind11::object result)
      : posted_(std::move(posted)), result_(std::move(result)) {}

  bool test();
  // Throws TimeoutError if it takes longer; it goes on then. Signals interrupt it, too.
  pybind11::object wait(std::optional<double> seconds);
  // Waits whatever signals come.
  void wait_uninterrupted();
  // Returns whether it was seen to have ended.
  bool is_done() const { return done_; }
  // Returns whether it has ended, whichever way.
  bool has_ended() { return poll({}); }
  std::optional<double> seconds_left() const;
  void tell(const std::shared_ptr<Endings>& endings, std::uint64_t number) const {
    posted_->tell(endings, number);
  }

  // Returns the first of them that has ended, whichever way. Throws TimeoutError if it takes
  // longer.
  static pybind11::object wait_any(const pybind11::iterable& requests,
                                   std::optional<double> seconds);

 private:
  bool poll(std::chrono::nanoseconds duration);

  std::shared_ptr<Posted> posted_;
  pybind11::object result_;  // has the outcome
  bool done_ = false;
};

// Returns a call's deadline: seconds, or a datetime.timedelta, from now on; None is no value.
// Throws ValueError or TypeError for what is neither.
std::optional<std::chrono::nanoseconds> deadline_of(const pybind11::object& given);

}  // namespace tributary::python
