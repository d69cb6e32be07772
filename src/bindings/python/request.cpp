// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/python/request.h"

#include <algorithm>
#include <cmath>

#include "bindings/python/errors.h"

namespace tributary::python {

namespace py = pybind11;

namespace {

using Clock = std::chrono::steady_clock;

// How long a signal waits for its handler at most.
constexpr std::chrono::nanoseconds slice = std::chrono::milliseconds(100);

std::chrono::nanoseconds duration_of(double seconds) {
  constexpr double longest = 1e9;
  if (std::isnan(seconds) || seconds < 0) {
    throw py::value_error("a timeout is a number of seconds from 0 on, or None");
  }
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(std::min(seconds, longest)));
}

[[noreturn]] void time_out(double seconds) {
  PyErr_Format(
      PyExc_TimeoutError, "%s",
      ("not done within " + std::to_string(seconds) + " s; it goes on, and can be waited for again")
          .c_str());
  throw py::error_already_set();
}

}  // namespace

bool Posted::wait_for(std::chrono::nanoseconds duration) {
  const std::lock_guard lock(mutex_);
  if (result_ == TRIBUTARY_IN_PROGRESS) {
    result_ = tributary_wait_for(&request_, static_cast<std::uint64_t>(duration.count()));
    if (result_ != TRIBUTARY_SUCCESS && result_ != TRIBUTARY_IN_PROGRESS) {
      message_ = tributary_last_error();
    }
  }
  return result_ != TRIBUTARY_IN_PROGRESS;
}

void Posted::check() const {
  if (result_ != TRIBUTARY_SUCCESS) {
    raise(result_, message_);
  }
}

bool Request::poll(std::chrono::nanoseconds duration) {
  if (!done_) {
    bool ended = false;
    {
      const py::gil_scoped_release others_run;
      ended = posted_->wait_for(duration);
    }
    if (ended) {
      posted_->release();
      done_ = true;
    }
  }
  return done_;
}

bool Request::test() {
  if (!poll({})) {
    return false;
  }
  posted_->check();
  return true;
}

py::object Request::wait(std::optional<double> seconds) {
  const auto limit = seconds ? std::optional(Clock::now() + duration_of(*seconds)) : std::nullopt;
  for (;;) {
    const auto left = limit ? std::max(*limit - Clock::now(), Clock::duration::zero()) : slice;
    if (poll(std::min<std::chrono::nanoseconds>(left, slice))) {
      posted_->check();
      return result_;
    }
    if (PyErr_CheckSignals() != 0) {
      throw py::error_already_set();
    }
    if (limit && Clock::now() >= *limit) {
      time_out(*seconds);
    }
  }
}

void Request::wait_uninterrupted() {
  while (!poll(slice)) {
  }
}

}  // namespace tributary::python
