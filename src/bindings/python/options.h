// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <pybind11/pybind11.h>

#include "host/c/tributary.h"

namespace tributary::python {

// A Notice is told what people should know, by any thread.
struct Notice {
  pybind11::object told;
};

struct Options {
  struct Destroy {
    void operator()(tributary_options* options) const { tributary_options_destroy(options); }
  };
  std::unique_ptr<tributary_options, Destroy> handle;
  // The notice lives as long as any communicator that was made with the options, and the parts of
  // that.
  std::shared_ptr<Notice> notice;
};

// Makes options of keyword arguments, each of which stands for a variable: algorithm="ring",
// rank=0.
Options options_of(const pybind11::dict& keywords);

}  // namespace tributary::python
