// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/element.h"

namespace tributary::host::exact {

// Marks tell what integers cannot carry of a float. There is a byte for each element, of which a
// bitwise or over all ranks tells what becomes of their sum.
inline constexpr std::uint8_t nan_mark = 1;
inline constexpr std::uint8_t plus_infinity_mark = 2;
inline constexpr std::uint8_t minus_infinity_mark = 4;

// Finds one mark for each element of a float type; 0 for what is finite.
void find_specials(std::span<std::uint8_t> marks, const std::byte* elements,
                   wire::ElementType type);
// Replaces the elements that have a mark: by the infinity, or by the NaN whose sign is plus and
// whose payload is empty where a NaN or both infinities are added up.
void put_specials(std::byte* elements, std::span<const std::uint8_t> marks, wire::ElementType type);

}  // namespace tributary::host::exact
