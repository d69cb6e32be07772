// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/python/request.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "bindings/python/errors.h"

namespace tributary::python {

namespace py = pybind11;

namespace {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;

// A signal waits so long for its handler at most.
constexpr std::chrono::nanoseconds slice = std::chrono::milliseconds(100);

std::chrono::nanoseconds duration_of(double seconds, const std::string& name) {
  constexpr double longest = 1e9;
  if (std::isnan(seconds) || seconds < 0) {
    throw py::value_error("a " + name + " is a number of seconds from 0 on, or None");
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

// Polls for a slice of the remaining time at a time, between which signals have their handlers.
// Returns false if it took too long.
template <typename Poll>
bool wait_in_slices(std::optional<double> seconds, Poll poll) {
  const auto until = seconds ? Clock::now() + duration_of(*seconds, "timeout") : Time::max();
  for (;;) {
    const auto left = std::max(until - Clock::now(), Clock::duration::zero());
    if (poll(std::min<std::chrono::nanoseconds>(left, slice))) {
      return true;
    }
    if (PyErr_CheckSignals() != 0) {
      throw py::error_already_set();
    }
    if (Clock::now() >= until) {
      return false;
    }
  }
}

}  // namespace

std::optional<std::chrono::nanoseconds> deadline_of(const py::object& given) {
  if (given.is_none()) {
    return std::nullopt;
  }
  const bool is_delta = py::isinstance(given, py::module_::import("datetime").attr("timedelta"));
  const py::object seconds = is_delta ? py::object(given.attr("total_seconds")()) : given;
  if (PyNumber_Check(seconds.ptr()) == 0) {
    throw py::type_error("a deadline is a number of seconds, a datetime.timedelta, or None");
  }
  return duration_of(py::float_(seconds), "deadline");
}

// The library calls the function once, at the latest when the communicator ends, whether the
// request is here still or not.
Posted::Posted(tributary_request* request, std::vector<View> views)
    : request_(request), views_(std::move(views)) {
  const auto come = [](void* context, tributary_result) {
    const std::unique_ptr<std::shared_ptr<End>> end(static_cast<std::shared_ptr<End>*>(context));
    (*end)->come();
  };
  python::check(tributary_request_on_completion(
      request_, come, std::make_unique<std::shared_ptr<End>>(end_).release()));
}

void Posted::tell(const std::shared_ptr<Endings>& endings, std::uint64_t number) {
  if (is_of_the_parent()) {
    endings->add(number);
  } else {
    end_->tell(endings, number);
  }
}

void Posted::note(tributary_result result) {
  result_ = result;
  if (result_ != TRIBUTARY_SUCCESS && result_ != TRIBUTARY_IN_PROGRESS) {
    message_ = tributary_last_error();
  }
}

bool Posted::is_of_the_parent() {
  if (process_ == ::getpid()) {
    return false;
  }
  result_ = TRIBUTARY_INVALID_ARGUMENT;
  message_ = "the request was made before this process forked, by its parent";
  return true;
}

bool Posted::wait_for(std::chrono::nanoseconds duration) {
  if (is_of_the_parent()) {
    return true;
  }
  const auto until = Clock::now() + duration;
  const std::unique_lock lock(mutex_, until);
  if (!lock) {
    return false;
  }
  if (result_ == TRIBUTARY_IN_PROGRESS) {
    const auto left = std::max(until - Clock::now(), Clock::duration::zero());
    note(tributary_wait_for(&request_, static_cast<std::uint64_t>(left.count())));
  }
  return result_ != TRIBUTARY_IN_PROGRESS;
}

void Posted::set_deadline(std::chrono::nanoseconds from_now) {
  const std::lock_guard lock(mutex_);
  if (result_ == TRIBUTARY_IN_PROGRESS) {
    python::check(
        tributary_request_deadline(request_, static_cast<std::uint64_t>(from_now.count())));
    deadline_ = Clock::now() + from_now;
  }
}

// Precondition: each of `posted` is locked, and is not known to have ended.
Posted* Posted::first_failed(const std::vector<Posted*>& posted) {
  for (auto* const one : posted) {
    if (const auto result = tributary_wait_for(&one->request_, 0);
        result != TRIBUTARY_IN_PROGRESS) {
      one->note(result);
      return one;
    }
  }
  return nullptr;
}

// Those for which other threads wait are left out: what these learn is seen the next time.
Posted* Posted::wait_any(std::vector<Posted*> posted, std::chrono::nanoseconds duration) {
  const auto until = Clock::now() + duration;
  std::ranges::sort(posted, std::less<>());
  posted.erase(std::unique(posted.begin(), posted.end()), posted.end());
  const auto parents = std::ranges::find_if(posted, &Posted::is_of_the_parent);
  if (parents != posted.end()) {
    return *parents;
  }
  std::vector<std::unique_lock<std::timed_mutex>> locks;
  std::vector<Posted*> locked;
  std::vector<tributary_request*> requests;
  for (auto* const one : posted) {
    std::unique_lock lock(one->mutex_, std::try_to_lock);
    if (!lock) {
      continue;
    }
    if (one->result_ != TRIBUTARY_IN_PROGRESS) {
      return one;
    }
    locks.push_back(std::move(lock));
    locked.push_back(one);
    requests.push_back(one->request_);
  }
  if (locked.empty()) {
    auto& first = *posted.front();
    const std::unique_lock lock(first.mutex_, until);
    return lock && first.result_ != TRIBUTARY_IN_PROGRESS ? &first : nullptr;
  }
  std::size_t index = 0;
  const auto result = tributary_wait_any_for(requests.data(), requests.size(), &index,
                                             static_cast<std::uint64_t>(duration.count()));
  if (index == requests.size()) {
    if (result == TRIBUTARY_IN_PROGRESS) {
      return nullptr;
    }
    return first_failed(locked);  // one of them cannot be waited for, and the others can
  }
  locked[index]->request_ = nullptr;
  locked[index]->note(result);
  return locked[index];
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

std::optional<double> Request::seconds_left() const {
  if (!posted_->deadline()) {
    return std::nullopt;
  }
  const std::chrono::duration<double> left = *posted_->deadline() - Clock::now();
  return std::max(left.count(), 0.0);
}

py::object Request::wait(std::optional<double> seconds) {
  if (!wait_in_slices(seconds,
                      [this](std::chrono::nanoseconds duration) { return poll(duration); })) {
    time_out(*seconds);
  }
  posted_->check();
  return result_;
}

py::object Request::wait_any(const py::iterable& requests, std::optional<double> seconds) {
  std::vector<std::pair<py::object, std::shared_ptr<Posted>>> given;
  std::vector<Posted*> posted;
  for (const auto& one : requests) {
    if (!py::isinstance<Request>(one)) {
      throw py::type_error("tributary.wait_any() waits for requests, and nothing else");
    }
    given.emplace_back(py::reinterpret_borrow<py::object>(one), one.cast<Request&>().posted_);
    posted.push_back(given.back().second.get());
  }
  if (given.empty()) {
    throw py::value_error("there are no requests to wait for");
  }
  Posted* ended = nullptr;
  const auto poll = [&](std::chrono::nanoseconds duration) {
    const py::gil_scoped_release others_run;
    ended = Posted::wait_any(posted, duration);
    return ended != nullptr;
  };
  if (!wait_in_slices(seconds, poll)) {
    time_out(*seconds);
  }
  return std::ranges::find_if(given, [&](const auto& one) { return one.second.get() == ended; })
      ->first;
}

void Request::wait_uninterrupted() {
  while (!poll(slice)) {
  }
}

}  // namespace tributary::python
