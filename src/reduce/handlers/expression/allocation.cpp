// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/handlers/expression/allocation.h"

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "reduce/handlers/expression/lexer.h"
#include "reduce/handlers/expression/operations.h"

namespace tributary::reduce {
namespace {

// Returns, for each value, which one is the last that is computed from it.
std::vector<std::size_t> last_uses(const Formula& formula) {
  std::vector<std::size_t> last(formula.values.size(), 0);
  for (std::size_t i = 0; i < formula.values.size(); ++i) {
    if (formula.values[i].kind == Value::Kind::computed) {
      for (const auto operand : formula.values[i].operands) {
        last[operand] = i;
      }
    }
  }
  last[formula.result] = formula.values.size();
  return last;
}

class Allocation {
 public:
  explicit Allocation(const Formula& formula)
      : formula_(formula), last_(last_uses(formula)), registers_(formula.values.size()) {
    free_.set();
  }

  // Gives constants registers that nothing is written to; returns false if there are more of them
  // than registers.
  bool place_constants(Program& program) {
    registers_[Formula::accumulator] = Program::accumulator;
    registers_[Formula::element] = Program::element;
    for (std::size_t i = 0; i < formula_.values.size(); ++i) {
      if (formula_.values[i].kind == Value::Kind::constant) {
        const auto number = Program::first_constant + program.constants.size();
        if (number >= registers_max) {
          return false;
        }
        registers_[i] = static_cast<std::uint8_t>(number);
        program.constants.push_back(formula_.values[i].bits);
      }
    }
    for (std::size_t i = 0; i < Program::first_constant + program.constants.size(); ++i) {
      free_.reset(i);
    }
    return true;
  }

  // Returns false if no register is free. What is read for the last time may be overwritten at
  // once.
  bool place(std::size_t i, Program& program) {
    Instruction instruction;
    instruction.operation = formula_.values[i].operation;
    for (std::size_t k = 0; k < instruction.from.size(); ++k) {
      const auto operand = formula_.values[i].operands[k];
      instruction.from[k] = registers_[operand];
      if (last_[operand] == i && formula_.values[operand].kind != Value::Kind::constant) {
        free_.set(registers_[operand]);
      }
    }
    std::size_t number = 0;
    while (number < registers_max && !free_[number]) {
      ++number;
    }
    if (number == registers_max) {
      return false;
    }
    free_.reset(number);
    registers_[i] = static_cast<std::uint8_t>(number);
    instruction.to = registers_[i];
    program.instructions.push_back(instruction);
    return true;
  }

  std::uint8_t register_of(std::size_t i) const { return registers_[i]; }

 private:
  const Formula& formula_;
  std::vector<std::size_t> last_;
  std::vector<std::uint8_t> registers_;
  std::bitset<registers_max> free_;
};

}  // namespace

tl::expected<Program, std::string> allocate(const Formula& formula, wire::ElementType type,
                                            std::string_view text) {
  Program program;
  program.type = type;
  program.lanes = lanes_of(type).value_or(Lanes::f32);
  Allocation allocation(formula);
  if (!allocation.place_constants(program)) {
    return tl::make_unexpected("there are more than " +
                               std::to_string(registers_max - Program::first_constant) +
                               " different numbers in it; leave some out");
  }
  for (std::size_t i = 0; i < formula.values.size(); ++i) {
    const auto& value = formula.values[i];
    if (value.kind == Value::Kind::computed && !allocation.place(i, program)) {
      return tl::make_unexpected(place_of(text, value.at) + "here are more than " +
                                 std::to_string(registers_max) +
                                 " values that are needed later, numbers included; use some of "
                                 "them earlier");
    }
  }
  program.result = allocation.register_of(formula.result);
  return program;
}

}  // namespace tributary::reduce
