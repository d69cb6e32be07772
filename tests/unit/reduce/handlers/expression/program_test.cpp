// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/handlers/expression/program.h"

#include <functional>

#include <gtest/gtest.h>

#include "wire/element.h"

namespace tributary::reduce {
namespace {

// acc = acc + in * 3.
Program sound() {
  Program program;
  program.type = wire::ElementType::i8;
  program.lanes = Lanes::i32;
  program.constants = {3};
  program.instructions = {{Operation::multiply, 3, {1, 2, 1}}, {Operation::add, 0, {0, 3, 0}}};
  program.result = 0;
  return program;
}

// Makes it a program of floats, of 33 such instructions.
void assign_floats(Program& program, Operation operation) {
  program.type = wire::ElementType::f32;
  program.lanes = Lanes::f32;
  program.instructions.assign(33, {operation, 0, {0, 1, 0}});
}

TEST(Program, WhatKeepsToTheRulesIsSound) {
  EXPECT_TRUE(is_sound(sound()));
  Program nothing;
  nothing.result = Program::element;
  EXPECT_TRUE(is_sound(nothing));
  auto floats = sound();
  assign_floats(floats, Operation::add);
  EXPECT_TRUE(is_sound(floats));
}

TEST(Program, WhateverElseIsNot) {
  const std::function<void(Program&)> damages[] = {
      [](Program& p) { p.lanes = Lanes::i64; },
      [](Program& p) { p.type = wire::ElementType::opaque8; },
      [](Program& p) { p.constants.resize(registers_max); },
      [](Program& p) { p.instructions[0].operation = static_cast<Operation>(operation_count); },
      [](Program& p) { p.instructions[0].operation = Operation::square_root; },
      [](Program& p) { p.instructions[0].to = 2; },
      [](Program& p) { p.instructions[0].to = registers_max; },
      [](Program& p) { p.instructions[0].to = 255; },
      [](Program& p) { p.instructions[0].from[0] = 3; },
      [](Program& p) { p.instructions[0].from[1] = registers_max; },
      [](Program& p) { p.instructions[0].from[2] = 255; },
      [](Program& p) { p.instructions.resize(instructions_max + 1, p.instructions[1]); },
      [](Program& p) {
        p.instructions.assign(5, {Operation::divide, 0, {0, 1, 0}});
      },
      [](Program& p) { assign_floats(p, Operation::divide); },
      [](Program& p) { assign_floats(p, Operation::square_root); },
      [](Program& p) { p.result = 4; },
      [](Program& p) { p.result = 255; },
  };
  for (const auto& damage : damages) {
    auto program = sound();
    damage(program);
    EXPECT_FALSE(is_sound(program)) << &damage - damages;
  }
}

TEST(Program, MarkDependsOnEverything) {
  const std::function<void(Program&)> changes[] = {
      [](Program& p) { p.type = wire::ElementType::i16; },
      [](Program& p) { p.constants[0] = 4; },
      [](Program& p) { p.instructions[0].operation = Operation::add; },
      [](Program& p) { p.instructions[0].to = 4; },
      [](Program& p) { p.instructions[0].from[0] = 0; },
      [](Program& p) { p.instructions[0].from[1] = 1; },
      [](Program& p) { p.instructions[0].from[2] = 0; },
      [](Program& p) { p.instructions.pop_back(); },
      [](Program& p) { p.result = 3; },
  };
  EXPECT_EQ(mark_of(sound()), mark_of(sound()));
  for (const auto& change : changes) {
    auto program = sound();
    change(program);
    EXPECT_NE(mark_of(program), mark_of(sound())) << &change - changes;
  }
}

}  // namespace
}  // namespace tributary::reduce
