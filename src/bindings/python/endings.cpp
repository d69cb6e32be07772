// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/python/endings.h"

#include <pybind11/pybind11.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace tributary::python {

Endings::Endings() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (descriptor_ < 0) {
    PyErr_SetFromErrno(PyExc_OSError);
    throw pybind11::error_already_set();
  }
}

Endings::~Endings() {
  ::close(descriptor_);
}

void Endings::add(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  numbers_.push_back(number);
  ::eventfd_write(descriptor_, 1);
}

std::vector<std::uint64_t> Endings::take() {
  const std::lock_guard lock(mutex_);
  eventfd_t count = 0;
  ::eventfd_read(descriptor_, &count);
  return std::exchange(numbers_, {});
}

void End::tell(const std::shared_ptr<Endings>& endings, std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  if (has_come_) {
    endings->add(number);
  } else {
    told_.emplace_back(endings, number);
  }
}

void End::come() {
  const std::lock_guard lock(mutex_);
  has_come_ = true;
  for (const auto& [endings, number] : std::exchange(told_, {})) {
    endings->add(number);
  }
}

}  // namespace tributary::python
