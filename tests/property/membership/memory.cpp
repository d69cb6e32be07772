// SPDX-License-Identifier: BSD-3-Clause
#include "property/membership/memory.h"

#include <cstdlib>
#include <malloc.h>
#include <new>

namespace {

thread_local std::ptrdiff_t allocated = 0;

void* allocate(std::size_t bytes) {
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  allocated += static_cast<std::ptrdiff_t>(::malloc_usable_size(memory));
  return memory;
}

void release(void* memory) noexcept {
  allocated -= static_cast<std::ptrdiff_t>(::malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) {
  return allocate(bytes);
}
void* operator new[](std::size_t bytes) {
  return allocate(bytes);
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete[](void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  release(memory);
}

namespace tributary::test {

std::ptrdiff_t allocated_bytes() {
  return allocated;
}

}  // namespace tributary::test
