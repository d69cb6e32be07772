// SPDX-License-Identifier: BSD-3-Clause
// Stands in for glibc's allocator and says so before each call; operator new comes by here too.
#include "interpose_allocations.h"

#include <cerrno>
#include <cstddef>

extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming): glibc's own
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* old, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)

void* malloc(std::size_t bytes) noexcept {
  tributary::perf::note_allocation();
  return __libc_malloc(bytes);
}

void* calloc(std::size_t count, std::size_t bytes) noexcept {
  tributary::perf::note_allocation();
  return __libc_calloc(count, bytes);
}

void* realloc(void* old, std::size_t bytes) noexcept {
  tributary::perf::note_allocation();
  return __libc_realloc(old, bytes);
}

void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  tributary::perf::note_allocation();
  return __libc_memalign(alignment, bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  return memalign(alignment, bytes);
}

int posix_memalign(void** out, std::size_t alignment, std::size_t bytes) noexcept {
  void* storage = memalign(alignment, bytes);
  if (storage == nullptr) {
    return ENOMEM;
  }
  *out = storage;
  return 0;
}

}  // extern "C"
