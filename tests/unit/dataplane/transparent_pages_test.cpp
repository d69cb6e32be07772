// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/transparent_pages.h"

#include <cerrno>
#include <cstdint>
#include <sys/mman.h>

#include <gtest/gtest.h>

namespace tributary::dataplane {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

bool is_mapped(const char* page) {
  unsigned char resident = 0;
  return mincore(const_cast<char*>(page), 1, &resident) == 0 || errno != ENOMEM;
}

TEST(TransparentPages, BeginAndEndAtHugePages) {
  for (const std::size_t bytes : {std::size_t{1}, huge_page, huge_page + 1, 7 * huge_page}) {
    const auto pages = map_transparent_pages(bytes);
    ASSERT_GE(pages.size(), bytes);
    EXPECT_LT(pages.size(), bytes + huge_page);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pages.data()) % huge_page, 0u);
    EXPECT_EQ(pages.size() % huge_page, 0u);
    pages.front() = 1;
    pages.back() = 2;
    unmap_transparent_pages(pages.data(), pages.size());
    EXPECT_FALSE(is_mapped(pages.data()));
    EXPECT_FALSE(is_mapped(pages.data() + pages.size() - huge_page));
  }
}

TEST(TransparentPages, AreNoneWhereThereIsNoSuchMemory) {
  EXPECT_TRUE(map_transparent_pages(std::size_t{1} << 50).empty());
}

}  // namespace
}  // namespace tributary::dataplane
