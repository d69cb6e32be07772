// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/handlers/expression/program.h"

#include <bitset>

#include "reduce/handlers/digest.h"
#include "reduce/handlers/expression/operations.h"

namespace tributary::reduce {
namespace {

using Registers = std::bitset<registers_max>;

bool is_written(const Registers& written, std::uint8_t number) {
  return number < registers_max && written[number];
}

bool is_sound(const Instruction& instruction, Lanes lanes, const Registers& written) {
  if (static_cast<std::size_t>(instruction.operation) >= operation_count ||
      !lanes_have(lanes, instruction.operation)) {
    return false;
  }
  for (const auto from : instruction.from) {
    if (!is_written(written, from)) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool is_sound(const Program& program) {
  const std::size_t fixed = Program::first_constant + program.constants.size();
  if (fixed > registers_max || lanes_of(program.type) != program.lanes) {
    return false;
  }
  Registers written;
  for (std::size_t number = 0; number < fixed; ++number) {
    written.set(number);
  }
  std::size_t weight_of_all = 0;
  for (const auto& instruction : program.instructions) {
    const bool is_constant = instruction.to >= Program::first_constant && instruction.to < fixed;
    if (!is_sound(instruction, program.lanes, written) || is_constant ||
        instruction.to >= registers_max) {
      return false;
    }
    written.set(instruction.to);
    weight_of_all += weight(program.lanes, instruction.operation);
  }
  return program.instructions.size() <= instructions_max && weight_of_all <= weight_max &&
         is_written(written, program.result);
}

std::uint64_t mark_of(const Program& program) {
  Digest digest;
  digest.add(static_cast<std::uint64_t>(program.type));
  digest.add(program.constants.size());
  for (const auto constant : program.constants) {
    digest.add(constant);
  }
  for (const auto& [operation, to, from] : program.instructions) {
    digest.add(static_cast<std::uint64_t>(operation) << 32 | std::uint64_t{to} << 24 |
               std::uint64_t{from[0]} << 16 | std::uint64_t{from[1]} << 8 | from[2]);
  }
  digest.add(program.result);
  return digest.value();
}

}  // namespace tributary::reduce
