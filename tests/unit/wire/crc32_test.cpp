// SPDX-License-Identifier: BSD-3-Clause
#include "wire/crc32.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>
#include <zlib.h>

#include "unit/wire/random_bytes.h"

// wire/crc32.cpp defines the same.
#define HWY_WANT_AVX3_DL

#include <gtest/gtest.h>

#include "support/simd_targets.h"

namespace tributary::wire {
namespace {

using test::for_each_target;

std::uint32_t crc_of_zlib(std::uint32_t crc, Bytes bytes) {
  // With null zlib would return its initial value.
  static constexpr Bytef nothing = 0;
  const auto* at = bytes.empty() ? &nothing : reinterpret_cast<const Bytef*>(bytes.data());
  return static_cast<std::uint32_t>(::crc32_z(crc, at, bytes.size()));
}

TEST(Crc32, check_value_of_the_polynomial) {
  constexpr std::string_view text = "123456789";
  for_each_target([&](const std::string& target) {
    EXPECT_EQ(crc32(0, std::as_bytes(std::span(text))), 0xcbf43926U) << target;
  });
}

TEST(Crc32, of_nothing_is_what_it_continues) {
  for_each_target([](const std::string& target) {
    EXPECT_EQ(crc32(0, {}), 0U) << target;
    EXPECT_EQ(crc32(0x12345678, {}), 0x12345678U) << target;
  });
}

TEST(Crc32, agrees_with_zlib_at_every_length_offset_and_start) {
  std::mt19937 random(4);
  const auto bytes = random_bytes(1100 + 63, random);
  for_each_target([&](const std::string& target) {
    for (std::size_t length = 0; length <= 1100; ++length) {
      for (std::size_t offset = 0; offset < 64; ++offset) {
        const auto part = Bytes(bytes).subspan(offset, length);
        const auto start = static_cast<std::uint32_t>(random());
        ASSERT_EQ(crc32(start, part), crc_of_zlib(start, part))
            << target << ' ' << length << '+' << offset;
      }
    }
  });
}

TEST(Crc32, agrees_with_zlib_on_jumbo_frames) {
  std::mt19937 random(5);
  const auto bytes = random_bytes(9100, random);
  for_each_target([&](const std::string& target) {
    for (std::size_t length = 1100; length <= bytes.size(); length += 37) {
      const auto part = Bytes(bytes).last(length);
      ASSERT_EQ(crc32(0, part), crc_of_zlib(0, part)) << target << ' ' << length;
    }
  });
}

// One bit of a thousand bytes: a wrong constant, or a bit that is left out, shows.
TEST(Crc32, every_single_bit_counts) {
  std::vector<std::byte> bytes(1000);
  for_each_target([&](const std::string& target) {
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      bytes[bit / 8] = std::byte{1} << bit % 8;
      ASSERT_EQ(crc32(0, bytes), crc_of_zlib(0, bytes)) << target << ' ' << bit;
      bytes[bit / 8] = std::byte{0};
    }
  });
}

// Messages cut into parts of any lengths, none included, and continued from part to part.
TEST(Crc32, of_parts_is_that_of_the_whole) {
  std::mt19937 random(6);
  for_each_target([&](const std::string& target) {
    for (unsigned message = 0; message < 500; ++message) {
      const auto bytes = random_bytes(random() % 3000, random);
      const unsigned longest = 1U << random() % 12;
      std::uint32_t crc = 0;
      for (Bytes rest = bytes; !rest.empty();) {
        const auto part = std::min<std::size_t>(random() % (longest + 1), rest.size());
        crc = crc32(crc, rest.first(part));
        rest = rest.subspan(part);
      }
      ASSERT_EQ(crc, crc_of_zlib(0, bytes)) << target << ' ' << bytes.size() << '/' << longest;
    }
  });
}

// A page between two that are not accessible.
class LonelyPage {
 public:
  LonelyPage() {
    mprotect(pages_, bytes_, PROT_NONE);
    mprotect(pages_ + 2 * bytes_, bytes_, PROT_NONE);
    std::memset(pages_ + bytes_, 0x5a, bytes_);
  }
  ~LonelyPage() { munmap(pages_, 3 * bytes_); }
  LonelyPage(const LonelyPage&) = delete;
  LonelyPage& operator=(const LonelyPage&) = delete;

  Bytes bytes() const { return {pages_ + bytes_, bytes_}; }

 private:
  std::size_t bytes_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::byte* pages_ = static_cast<std::byte*>(
      mmap(nullptr, 3 * bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
};

TEST(Crc32, reads_nothing_outside) {
  const LonelyPage page;
  for_each_target([&](const std::string& target) {
    for (std::size_t length = 0; length <= 600; ++length) {
      const auto expected = crc_of_zlib(0, page.bytes().first(length));
      ASSERT_EQ(crc32(0, page.bytes().first(length)), expected) << target << ' ' << length;
      ASSERT_EQ(crc32(0, page.bytes().last(length)), expected) << target << ' ' << length;
    }
  });
}

TEST(Crc32Pair, are_those_of_both) {
  std::mt19937 random(7);
  const auto bytes = random_bytes(3000, random);
  for_each_target([&](const std::string& target) {
    for (unsigned turn = 0; turn < 2000; ++turn) {
      const auto first = Bytes(bytes).subspan(random() % 64, random() % 200);
      const auto second = Bytes(bytes).subspan(random() % 256, random() % 2700);
      const Crc32Pair expected{crc_of_zlib(0, first), crc_of_zlib(0, second)};
      ASSERT_EQ(crc32_pair(first, second), expected)
          << target << ' ' << first.size() << ", " << second.size();
    }
  });
}

TEST(Crc32Joint, joins_what_was_looked_at_apart) {
  std::mt19937 random(5);
  for (const std::size_t length : {0u, 1u, 8u, 992u, 1024u, 4096u}) {
    const Crc32Joint joint(length);
    for (const std::size_t before : {1u, 40u, 1000u}) {
      const auto whole = random_bytes(before + length, random);
      const auto first = Bytes(whole).first(before);
      const auto second = Bytes(whole).subspan(before);
      EXPECT_EQ(joint(crc32(0, first), crc32(0, second)), crc32(0, whole)) << length;
    }
  }
}

}  // namespace
}  // namespace tributary::wire
