// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/transparent_pages.h"

#include <cstdint>
#include <sys/mman.h>

namespace tributary::dataplane {
namespace {

// Of x86-64, and of Arm where small pages have 4 KiB.
constexpr std::size_t page_bytes = std::size_t{2} << 20;

std::size_t to_page(std::size_t bytes) {
  return (bytes + page_bytes - 1) & ~(page_bytes - 1);
}

}  // namespace

std::span<char> map_transparent_pages(std::size_t bytes) {
  const auto length = to_page(bytes);
  // There is a whole page more than needed, so that the memory can begin at a page.
  void* const mapped = mmap(nullptr, length + page_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    return {};
  }
  auto* const before = static_cast<char*>(mapped);
  const auto surplus =
      to_page(reinterpret_cast<std::uintptr_t>(before)) - reinterpret_cast<std::uintptr_t>(before);
  auto* const begin = before + surplus;
  if (surplus > 0) {
    munmap(before, surplus);
  }
  munmap(begin + length, page_bytes - surplus);
  madvise(begin, length, MADV_HUGEPAGE);
  return {begin, length};
}

void unmap_transparent_pages(void* begin, std::size_t bytes) noexcept {
  munmap(begin, bytes);
}

}  // namespace tributary::dataplane
