// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/handlers/expression/parser.h"

#include <algorithm>
#include <utility>

#include "reduce/handlers/expression/lexer.h"
#include "reduce/handlers/expression/literal.h"
#include "reduce/handlers/expression/operations.h"

namespace tributary::reduce {
namespace {

using Kind = Token::Kind;
using Index = std::uint16_t;  // of a value

constexpr unsigned nesting_max = 32;

// Tells people what a literal has to be.
std::string literal_of(Lanes lanes) {
  if (is_float(lanes)) {
    return "number that fits; write 2, 1.5 or 1e-3";
  }
  const std::string bits = lanes == Lanes::i32 ? "32" : "64";
  return "integer of " + bits + " bits; write 127 or 0x7f";
}

// Counts a level of nesting for as long as it lives: the parser calls itself no deeper.
class Nesting {
 public:
  explicit Nesting(unsigned& depth) : depth_(depth) { ++depth_; }
  ~Nesting() { --depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  unsigned& depth_;
};

// The parser goes through the text once. Behind the first error nothing is left to read, so that
// every loop comes to an end.
class Parser {
 public:
  Parser(std::string_view text, Lanes lanes) : text_(text), lanes_(lanes) {
    formula_.values = {Value{Value::Kind::accumulator}, Value{Value::Kind::element}};
    advance();
  }
  tl::expected<Formula, std::string> parse();

 private:
  struct Name {
    Token token;
    Index value = 0;
    bool is_used = false;
  };

  bool parse_statement();
  void assign(const Token& name, Index value);
  Index parse_conditional();
  Index parse_infixes(unsigned least_rank);
  const Infix* next_infix(unsigned least_rank) const;
  Index parse_prefixed();
  Index parse_primary();
  Index parse_call(const Token& name);
  Index value_of(const Token& name);

  Index constant(std::uint64_t bits);
  Index literal(const Token& token, bool negative);
  Index compute(const Token& token, Operation operation, Index a, Index b, Index c);
  Index append(Value value);

  bool failed() const { return !error_.empty(); }
  Index fail(std::size_t at, const std::string& why);
  void advance() { token_ = next_token(text_, token_.at + token_.text.size()); }
  bool take(std::string_view symbol);
  void expect(std::string_view symbol);
  std::string names() const;

  std::string_view text_;
  Lanes lanes_;
  Token token_;
  Formula formula_;
  std::vector<Name> names_;
  std::size_t instructions_ = 0;
  std::size_t weight_ = 0;
  unsigned depth_ = 0;
  std::string error_;
};

tl::expected<Formula, std::string> Parser::parse() {
  bool has_result = false;
  while (token_.kind != Kind::end) {
    if (has_result) {
      fail(token_.at, "nothing comes behind the assignment to acc; move this before it");
    } else {
      has_result = parse_statement();
    }
  }
  if (!has_result) {
    fail(text_.size(), "nothing is assigned to acc; end with `acc = ...;`");
  }
  for (const auto& name : names_) {
    if (!name.is_used) {
      fail(name.token.at, "nothing uses " + quoted(name.token) + "; use it, or leave it out");
    }
  }
  if (failed()) {
    return tl::make_unexpected(std::move(error_));
  }
  return std::move(formula_);
}

// Returns whether it was the statement that assigns acc.
bool Parser::parse_statement() {
  const Token name = token_;
  if (name.kind != Kind::name) {
    fail(name.at,
         "a statement begins with a name, as in `acc = acc + in;`, and not with " + quoted(name));
    return false;
  }
  advance();
  expect("=");
  const auto value = parse_conditional();
  if (token_.kind != Kind::end) {
    expect(";");
  }
  if (name.text == "acc") {
    formula_.result = value;
    return true;
  }
  assign(name, value);
  return false;
}

void Parser::assign(const Token& name, Index value) {
  const auto is_name = [&](const Name& known) { return known.token.text == name.text; };
  if (name.text == "in" || function_of(name.text) != nullptr) {
    fail(name.at, quoted(name) + " means something else; choose another name");
  } else if (std::any_of(names_.begin(), names_.end(), is_name)) {
    fail(name.at, quoted(name) + " has a value, and keeps it; choose another name");
  } else if (names_.size() == temporaries_max) {
    fail(name.at, "there are more than " + std::to_string(temporaries_max) +
                      " names; write what is used once where it is used");
  }
  names_.push_back({name, value, false});
}

Index Parser::parse_conditional() {
  const Nesting nesting(depth_);
  if (depth_ > nesting_max) {
    return fail(token_.at, "this is nested too deeply; give parts of it names");
  }
  const auto condition = parse_infixes(1);
  const Token question = token_;
  if (!take("?")) {
    return condition;
  }
  const auto yes = parse_conditional();
  expect(":");
  const auto no = parse_conditional();
  return compute(question, Operation::select, condition, yes, no);
}

Index Parser::parse_infixes(unsigned least_rank) {
  auto left = parse_prefixed();
  while (const Infix* infix = next_infix(least_rank)) {
    const Token token = token_;
    advance();
    const auto right = parse_infixes(infix->rank + 1);
    const auto first = infix->turned ? right : left;
    const auto second = infix->turned ? left : right;
    left = compute(token, infix->operation, first, second, first);
  }
  return left;
}

const Infix* Parser::next_infix(unsigned least_rank) const {
  const auto* infix = token_.kind == Kind::symbol ? infix_of(token_.text) : nullptr;
  return infix != nullptr && infix->rank >= least_rank ? infix : nullptr;
}

Index Parser::parse_prefixed() {
  const Nesting nesting(depth_);
  if (depth_ > nesting_max) {
    return fail(token_.at, "this is nested too deeply; give parts of it names");
  }
  const Token token = token_;
  if (take("-")) {
    if (token_.kind == Kind::number) {
      const Token number = token_;
      advance();
      return literal(number, true);
    }
    const auto value = parse_prefixed();
    return compute(token, Operation::negate, value, value, value);
  }
  if (take("!")) {
    const auto value = parse_prefixed();
    return compute(token, Operation::equal, value, constant(bits_of(0, lanes_)), value);
  }
  if (take("~")) {
    const auto value = parse_prefixed();
    return compute(token, Operation::bit_xor, value, constant(bits_of(-1, lanes_)), value);
  }
  return parse_primary();
}

Index Parser::parse_primary() {
  const Token token = token_;
  if (take("(")) {
    const auto value = parse_conditional();
    expect(")");
    return value;
  }
  if (token.kind == Kind::number) {
    advance();
    return literal(token, false);
  }
  if (token.kind == Kind::name) {
    advance();
    return token_.is("(") ? parse_call(token) : value_of(token);
  }
  return fail(token.at, "a name, a number or `(` has to be here, and not " + quoted(token));
}

Index Parser::parse_call(const Token& name) {
  const auto* const function = function_of(name.text);
  if (function == nullptr) {
    return fail(name.at, "there is no function " + quoted(name) +
                             "; there are min, max, abs, sqrt and clamp");
  }
  expect("(");
  std::array<Index, 3> operands{};
  for (std::size_t i = 0; i < function->operands; ++i) {
    if (i != 0) {
      expect(",");
    }
    operands[i] = parse_conditional();
  }
  expect(")");
  const auto [first, second, third] = operands;
  if (function->name == clamp_name) {
    const auto raised = compute(name, Operation::maximum, first, second, first);
    return compute(name, Operation::minimum, raised, third, raised);
  }
  return compute(name, function->operation, first, function->operands > 1 ? second : first, first);
}

Index Parser::value_of(const Token& name) {
  if (name.text == "acc") {
    return Formula::accumulator;
  }
  if (name.text == "in") {
    return Formula::element;
  }
  for (auto& known : names_) {
    if (known.token.text == name.text) {
      known.is_used = true;
      return known.value;
    }
  }
  return fail(name.at, "there is no " + quoted(name) + "; there are " + names());
}

std::string Parser::names() const {
  std::string list = names_.empty() ? "acc and in" : "acc, in";
  for (const auto& name : names_) {
    list += ", " + std::string(name.token.text);
  }
  return list;
}

Index Parser::constant(std::uint64_t bits) {
  for (std::size_t i = 0; i < formula_.values.size(); ++i) {
    const auto& value = formula_.values[i];
    if (value.kind == Value::Kind::constant && value.bits == bits) {
      return static_cast<Index>(i);
    }
  }
  Value value;
  value.kind = Value::Kind::constant;
  value.bits = bits;
  return append(value);
}

Index Parser::literal(const Token& token, bool negative) {
  const auto bits = bits_of_literal(token.text, negative, lanes_);
  if (!bits) {
    return fail(token.at, quoted(token) + " is no " + literal_of(lanes_));
  }
  return constant(*bits);
}

Index Parser::compute(const Token& token, Operation operation, Index a, Index b, Index c) {
  if (!lanes_have(lanes_, operation)) {
    return fail(token.at, is_float(lanes_)
                              ? quoted(token) + " is for integers, and these are floats"
                              : quoted(token) + " is for floats, and these are integers");
  }
  if (++instructions_ > instructions_max) {
    return fail(token.at, "up to here there are more than " + std::to_string(instructions_max) +
                              " instructions; leave something out, or name what is computed twice");
  }
  weight_ += weight(lanes_, operation);
  if (weight_ > weight_max) {
    return fail(token.at, "up to here it takes as long as more than " + std::to_string(weight_max) +
                              " additions, as " + quoted(token) + " counts as " +
                              std::to_string(weight(lanes_, operation)) +
                              "; leave divisions and roots out, or name what is computed twice");
  }
  Value value;
  value.operation = operation;
  value.operands = {a, b, c};
  value.at = token.at;
  return append(value);
}

Index Parser::append(Value value) {
  formula_.values.push_back(value);
  return static_cast<Index>(formula_.values.size() - 1);
}

Index Parser::fail(std::size_t at, const std::string& why) {
  if (!failed()) {
    error_ = place_of(text_, at) + why;
  }
  token_ = {Kind::end, {}, text_.size()};
  return 0;
}

bool Parser::take(std::string_view symbol) {
  const bool is_there = token_.is(symbol);
  if (is_there) {
    advance();
  }
  return is_there;
}

void Parser::expect(std::string_view symbol) {
  if (!take(symbol)) {
    fail(token_.at, "`" + std::string(symbol) + "` has to be here, and not " + quoted(token_));
  }
}

}  // namespace

tl::expected<Formula, std::string> parse(std::string_view text, Lanes lanes) {
  return Parser(text, lanes).parse();
}

}  // namespace tributary::reduce
