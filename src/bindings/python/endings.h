// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace tributary::python {

// Endings tell an event loop which of the requests have ended that are awaited in it. Threads of
// the library add to them, which have collectives to carry out and do not wait for Python's lock.
class Endings {
 public:
  // Throws OSError if there are no descriptors left.
  Endings();
  Endings(const Endings&) = delete;
  Endings& operator=(const Endings&) = delete;
  ~Endings();

  // It can be read from while there are any to be taken.
  int descriptor() const { return descriptor_; }
  void add(std::uint64_t number);
  std::vector<std::uint64_t> take();

 private:
  const int descriptor_;
  std::mutex mutex_;
  std::vector<std::uint64_t> numbers_;
};

// An End is that of one request.
class End {
 public:
  // Has it added to `endings`, by that number, when it comes; at once if it has come.
  void tell(const std::shared_ptr<Endings>& endings, std::uint64_t number);
  void come();

 private:
  std::mutex mutex_;
  bool has_come_ = false;
  std::vector<std::pair<std::shared_ptr<Endings>, std::uint64_t>> told_;
};

}  // namespace tributary::python
