// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/handlers/expression.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "reduce/handlers/expression/allocation.h"
#include "reduce/handlers/expression/operations.h"
#include "reduce/handlers/expression/parser.h"
#include "reduce/handlers/expression/primitives.h"
#include "reduce/handlers/expression/program.h"

namespace tributary::reduce {
namespace {

// Runs a sound program over a few elements at a time: an instruction is a call for all of them.
class Expression final : public Handler {
 public:
  Expression(Program program, std::string name)
      : program_(std::move(program)),
        name_(std::move(name)),
        mark_(mark_of(program_)),
        element_bytes_(wire::element_bytes(program_.type)),
        conversion_(conversion(program_.type)),
        fill_(primitives(program_.lanes).fill) {
    const bool is_wide = program_.lanes == Lanes::i64 || program_.lanes == Lanes::f64;
    lanes_max_ = register_bytes / (is_wide ? 8 : 4);
    const auto& known = primitives(program_.lanes);
    for (const auto& instruction : program_.instructions) {
      const auto operation = static_cast<std::size_t>(instruction.operation);
      steps_.push_back({known.of[operation], instruction.to, instruction.from});
    }
  }

  void combine(void* accumulator, const void* elements, std::size_t n) const override {
    Registers registers;
    fill_constants(registers, std::min(n, lanes_max_));
    auto* to = static_cast<std::byte*>(accumulator);
    const auto* from = static_cast<const std::byte*>(elements);
    while (n > 0) {
      const auto lanes = std::min(n, lanes_max_);
      conversion_.load(registers.of[Program::accumulator], to, lanes);
      conversion_.load(registers.of[Program::element], from, lanes);
      for (const auto& step : steps_) {
        step.run(registers.of[step.to], registers.of[step.from[0]], registers.of[step.from[1]],
                 registers.of[step.from[2]], lanes);
      }
      conversion_.store(to, registers.of[program_.result], lanes);
      to += lanes * element_bytes_;
      from += lanes * element_bytes_;
      n -= lanes;
    }
  }
  wire::ElementType type() const override { return program_.type; }
  const std::string& name() const override { return name_; }
  std::uint64_t mark() const override { return mark_; }
  bool is_native() const override { return false; }

 private:
  // The registers are on the stack of the thread that combines, so that nothing is shared and
  // nothing is left over.
  struct Registers {
    alignas(register_alignment) std::byte of[registers_max][register_bytes];
  };
  struct Step {
    Primitive run;
    std::uint8_t to;
    std::array<std::uint8_t, 3> from;
  };

  void fill_constants(Registers& registers, std::size_t lanes) const {
    std::size_t number = Program::first_constant;
    for (const auto bits : program_.constants) {
      fill_(registers.of[number++], bits, lanes);
    }
  }

  Program program_;
  std::string name_;
  std::uint64_t mark_;
  std::size_t element_bytes_;
  std::size_t lanes_max_ = 0;
  Conversion conversion_;
  decltype(Primitives::fill) fill_;
  std::vector<Step> steps_;
};

// Returns the text on one line.
std::string on_one_line(std::string_view text) {
  std::string line;
  for (const char letter : text) {
    const bool is_space = letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r';
    if (!is_space) {
      line += letter;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  if (!line.empty() && line.back() == ' ') {
    line.pop_back();
  }
  return line;
}

}  // namespace

tl::expected<std::unique_ptr<Handler>, std::string> compile_expression(std::string_view text,
                                                                       wire::ElementType type) {
  if (text.size() > expression_bytes_max) {
    return tl::make_unexpected("the expression has " + std::to_string(text.size()) +
                               " bytes; write it in " + std::to_string(expression_bytes_max));
  }
  const auto lanes = lanes_of(type);
  if (!lanes) {
    return tl::make_unexpected("elements of type " + std::string(wire::name(type)) +
                               " have no expressions, as they are more than one number; choose "
                               "another type, or have the administrator load a native handler");
  }
  const auto formula = parse(text, *lanes);
  if (!formula) {
    return tl::make_unexpected(formula.error());
  }
  auto program = allocate(*formula, type, text);
  if (!program) {
    return tl::make_unexpected(program.error());
  }
  if (!is_sound(*program)) {
    return tl::make_unexpected(std::string(
        "the expression became a program that must not run, by an error in Tributary; report it "
        "with the text, and write it in another way"));
  }
  return std::make_unique<Expression>(std::move(*program), on_one_line(text));
}

}  // namespace tributary::reduce
