// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <pybind11/pybind11.h>
#include <string>
#include <vector>

#include "bindings/python/view.h"
#include "host/c/tributary.h"

namespace tributary::python {

// A collective that was posted, with the memory that it reads and writes.
class Posted {
 public:
  Posted(tributary_request* request, std::vector<View> views)
      : request_(request), views_(std::move(views)) {}
  Posted(const Posted&) = delete;
  Posted& operator=(const Posted&) = delete;
  ~Posted() { tributary_request_free(&request_); }

  // Whether it has ended, by then. Without the GIL.
  bool wait_for(std::chrono::nanoseconds duration);
  // Lets go of the memory. Precondition: it has ended. With the GIL.
  void release() { views_.clear(); }
  // Throws what it ended with, if that is no success. Precondition: it has ended.
  void check() const;

 private:
  std::mutex mutex_;
  tributary_request* request_;
  tributary_result result_ = TRIBUTARY_IN_PROGRESS;
  std::string message_;
  std::vector<View> views_;
};

// What Python has of it.
class Request {
 public:
  Request(std::shared_ptr<Posted> posted, pybind11::object result)
      : posted_(std::move(posted)), result_(std::move(result)) {}

  bool test();
  // Throws TimeoutError if it takes longer; it goes on then. Signals interrupt it, too.
  pybind11::object wait(std::optional<double> seconds);
  // Whatever signals come.
  void wait_uninterrupted();
  // Whether it was seen to have ended.
  bool is_done() const { return done_; }

 private:
  bool poll(std::chrono::nanoseconds duration);

  std::shared_ptr<Posted> posted_;
  pybind11::object result_;  // where the outcome is
  bool done_ = false;
};

}  // namespace tributary::python
