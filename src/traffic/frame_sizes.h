// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace tributary::traffic {

// Plain frames take these sizes in turn. As in RFC 2544 a size counts the check sequence, which the
// buffers do not hold.
class FrameSizes {
 public:
  static constexpr std::uint32_t check_bytes = 4;
  static constexpr std::uint32_t size_min = 64;
  static constexpr std::uint32_t size_max = 9018;

  // Parses "64", "64-1518" (every size in between, in a mixed order) and "imix" (7 of the smallest,
  // 4 of 570, 1 of 1518 bytes).
  static tl::expected<FrameSizes, std::string> parse(const std::string& text,
                                                     std::uint32_t smallest = size_min);

  // Returns the next size without the check sequence.
  std::uint32_t next_bytes() {
    const auto bytes = cycle_[next_];
    next_ = next_ + 1 == cycle_.size() ? 0 : next_ + 1;
    return bytes;
  }
  std::uint32_t largest_bytes() const;

 private:
  explicit FrameSizes(std::vector<std::uint16_t> cycle) : cycle_(std::move(cycle)) {}

  std::vector<std::uint16_t> cycle_;
  std::size_t next_ = 0;
};

}  // namespace tributary::traffic
