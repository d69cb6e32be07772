// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "wire/element.h"

namespace tributary::reduce {

// The elements of an expression are computed in lanes. Those of elements of up to 32 bits, but for
// an f32, are wider, so that a sum can be compared with a limit before it is cut back.
enum class Lanes : std::uint8_t { i32, i64, f32, f64 };

enum class Operation : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  remainder,
  minimum,
  maximum,
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right,
  less,
  less_equal,
  equal,
  not_equal,
  both,
  either,
  negate,
  absolute,
  square_root,
  select
};
inline constexpr std::size_t operation_count = 22;

// These bound a program, and so the time that it takes for each element. Its weight is that of all
// its instructions (operations.h).
inline constexpr std::size_t instructions_max = 64;
inline constexpr std::size_t weight_max = 256;
inline constexpr std::size_t temporaries_max = 16;
inline constexpr std::size_t registers_max = 32;

// A register holds as many lanes as elements are taken at a time. An operation reads as many of the
// three operands as it has; the rest repeat the first.
struct Instruction {
  Operation operation = Operation::add;
  std::uint8_t to = 0;
  std::array<std::uint8_t, 3> from{};
};

// An expression is compiled to a Program, which runs straight through, so that it ends, and names
// nothing but registers. Registers 0 and 1 hold the accumulator's and the packet's elements at the
// beginning, those behind them the constants, which no instruction writes to.
struct Program {
  static constexpr std::uint8_t accumulator = 0;
  static constexpr std::uint8_t element = 1;
  static constexpr std::uint8_t first_constant = 2;

  wire::ElementType type = wire::ElementType::f32;
  Lanes lanes = Lanes::f32;
  std::vector<std::uint64_t> constants;  // bits of a lane
  std::vector<Instruction> instructions;
  std::uint8_t result = 0;
};

// Returns whether the program keeps to all of that: its bounds, operations that its lanes have, and
// registers that were written before they are read. No other program runs.
bool is_sound(const Program& program);

// Returns a digest of the whole program; never 0.
std::uint64_t mark_of(const Program& program);

}  // namespace tributary::reduce
