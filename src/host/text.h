// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/error.h"
#include "wire/element.h"

namespace tributary::host {

// These read what people write in variables and options; nothing if the text is something else.
std::optional<std::uint32_t> number_of(std::string_view text);
std::optional<std::chrono::nanoseconds> duration_of(const std::string& text);
// Reads a share of the ranks (wire/quorum.h).
std::optional<double> share_of(const std::string& text);
std::optional<bool> switch_of(std::string_view text);
// Reads a list with commas between its entries.
std::vector<std::string> list_of(const std::string& text);

inline constexpr auto a_share = "a share from 0.0001 to 1";
inline constexpr auto a_duration = "a duration as in 10s, 500ms or 2min; seconds without a unit";
// "a number from 1 to 15"
std::string a_number(std::uint32_t least, std::uint32_t most);

// "a, b or c"
std::string listed(std::span<const std::string_view> words);

// "30 s", "0.25 s": rounded to the millisecond, since what was asked for is taken up a little
// later.
std::string seconds_text(std::chrono::nanoseconds duration);
std::string milliseconds_text(std::chrono::nanoseconds duration);  // "0.210 ms"
std::string size_text(std::size_t bytes);                          // "64 KiB", of a power of two

std::string rank_text(std::uint32_t rank);  // "rank 3"
// "rank 3"; "ranks 1, 4, 5"; of many, the first ones and that there are more.
inline constexpr std::size_t ranks_shown_max = 16;
std::string ranks_text(const std::vector<std::uint32_t>& ranks);

// Returns why nobody may believe what a handler combined, and where to look. Precondition: the
// operator is a handler.
std::string different_handlers(wire::Operator op);

// Returns the error for something that the caller must not ask for.
inline tl::unexpected<Error> invalid(std::string message) {
  return fail(Error::Code::invalid_argument, std::move(message));
}
// "TRIBUTARY_SHARE=2 is not a share from 0.0001 to 1"
tl::unexpected<Error> misread(const std::string& variable, const std::string& text,
                              const std::string& wanted);

}  // namespace tributary::host
