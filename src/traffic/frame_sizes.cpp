// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/frame_sizes.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <string_view>

namespace tributary::traffic {
namespace {

std::optional<std::uint32_t> size_of(std::string_view text, std::uint32_t smallest) {
  std::uint32_t value = 0;
  const auto* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  const bool good =
      error == std::errc{} && rest == end && value >= smallest && value <= FrameSizes::size_max;
  return good ? std::optional(value) : std::nullopt;
}

std::uint16_t in_buffer(std::uint32_t size) {
  return static_cast<std::uint16_t>(size - FrameSizes::check_bytes);
}

// Returns every size once. The step has no divisor in common with their number, and large and small
// ones alternate.
std::vector<std::uint16_t> range(std::uint32_t first, std::uint32_t last) {
  const std::uint32_t count = last - first + 1;
  std::uint32_t step = std::max(count * 5 / 8, 1u);
  while (std::gcd(step, count) != 1) {
    ++step;
  }
  std::vector<std::uint16_t> cycle;
  for (std::uint32_t i = 0; i < count; ++i) {
    cycle.push_back(in_buffer(first + i * step % count));
  }
  return cycle;
}

std::vector<std::uint16_t> imix(std::uint32_t smallest) {
  std::vector<std::uint16_t> cycle;
  constexpr std::uint32_t middle = 570;
  constexpr std::uint32_t full = 1518;
  for (const auto size : {smallest, middle, smallest, smallest, middle, smallest, full, smallest,
                          middle, smallest, smallest, middle}) {
    cycle.push_back(in_buffer(size));
  }
  return cycle;
}

}  // namespace

tl::expected<FrameSizes, std::string> FrameSizes::parse(const std::string& text,
                                                        std::uint32_t smallest) {
  if (text == "imix") {
    return FrameSizes(imix(smallest));
  }
  const auto dash = text.find('-');
  const auto first = size_of(std::string_view(text).substr(0, dash), smallest);
  const auto last = dash == std::string::npos
                        ? first
                        : size_of(std::string_view(text).substr(dash + 1), smallest);
  if (!first || !last || *first > *last) {
    const auto least = std::to_string(smallest);
    return tl::unexpected("\"" + text + "\" is no frame size; say " + least + ", " + least +
                          "-1518 or imix, from " + least + " to " + std::to_string(size_max) +
                          " bytes with the check sequence");
  }
  return FrameSizes(range(*first, *last));
}

std::uint32_t FrameSizes::largest_bytes() const {
  return *std::max_element(cycle_.begin(), cycle_.end());
}

}  // namespace tributary::traffic
