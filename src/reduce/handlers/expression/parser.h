// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "reduce/handlers/expression/program.h"

namespace tributary::reduce {

// A Value is one value of an expression. Each is computed once, behind those that it is computed
// from.
struct Value {
  enum class Kind : std::uint8_t { accumulator, element, constant, computed };

  Kind kind = Kind::computed;
  Operation operation = Operation::add;  // of a computed one
  std::array<std::uint16_t, 3> operands{};
  std::uint64_t bits = 0;  // of a constant
  std::size_t at = 0;      // in the text
};

struct Formula {
  static constexpr std::uint16_t accumulator = 0;
  static constexpr std::uint16_t element = 1;

  std::vector<Value> values;
  std::uint16_t result = 0;
};

// Returns what a text means where elements are computed in such lanes. An error says where it is in
// the text.
tl::expected<Formula, std::string> parse(std::string_view text, Lanes lanes);

}  // namespace tributary::reduce
