// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

namespace tributary::dataplane {

// Maps at least so many bytes of anonymous memory, which begins and ends at huge pages and for
// which the kernel is asked for some (madvise(2), MADV_HUGEPAGE); where it has none or gives none,
// pages are small. Returns nothing if there is no such memory. unmap_transparent_pages() gives it
// back.
std::span<char> map_transparent_pages(std::size_t bytes);

void unmap_transparent_pages(void* begin, std::size_t bytes) noexcept;

}  // namespace tributary::dataplane
