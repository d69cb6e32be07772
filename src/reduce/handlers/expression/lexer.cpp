// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/handlers/expression/lexer.h"

#include <algorithm>
#include <iterator>

namespace tributary::reduce {
namespace {

using Kind = Token::Kind;

bool is_space(char letter) {
  return letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r';
}
bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}
bool is_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_';
}

std::size_t end_of_name(std::string_view text, std::size_t at) {
  while (at < text.size() && (is_letter(text[at]) || is_digit(text[at]))) {
    ++at;
  }
  return at;
}

// Whatever looks like part of a number is one, so that an error can show all of it: 12ab, 1e-3.
std::size_t end_of_number(std::string_view text, std::size_t at) {
  const bool is_hexadecimal = text.substr(at, 2) == "0x" || text.substr(at, 2) == "0X";
  while (at < text.size()) {
    const char letter = text[at];
    const bool has_sign = !is_hexadecimal && (letter == 'e' || letter == 'E') &&
                          at + 1 < text.size() && (text[at + 1] == '-' || text[at + 1] == '+');
    if (has_sign) {
      at += 2;
    } else if (is_letter(letter) || is_digit(letter) || letter == '.') {
      ++at;
    } else {
      break;
    }
  }
  return at;
}

std::size_t symbol_length(std::string_view text) {
  constexpr std::string_view pairs[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
  if (std::find(std::begin(pairs), std::end(pairs), text.substr(0, 2)) != std::end(pairs)) {
    return 2;
  }
  return std::string_view("=+-*/%&|^~!<>?:(),;").find(text[0]) != std::string_view::npos ? 1 : 0;
}

}  // namespace

Token next_token(std::string_view text, std::size_t from) {
  std::size_t at = std::min(from, text.size());
  while (at < text.size() && is_space(text[at])) {
    ++at;
  }
  const auto token = [&](Kind kind, std::size_t end) {
    return Token{kind, text.substr(at, end - at), at};
  };
  if (at == text.size()) {
    return token(Kind::end, at);
  }
  if (is_letter(text[at])) {
    return token(Kind::name, end_of_name(text, at));
  }
  if (is_digit(text[at]) || (text[at] == '.' && at + 1 < text.size() && is_digit(text[at + 1]))) {
    return token(Kind::number, end_of_number(text, at));
  }
  const auto length = symbol_length(text.substr(at));
  return length != 0 ? token(Kind::symbol, at + length) : token(Kind::strange, at + 1);
}

std::string quoted(const Token& token) {
  constexpr std::size_t shown_max = 40;
  if (token.kind == Kind::end) {
    return "the end";
  }
  const auto letter = static_cast<unsigned char>(token.text[0]);
  if (token.kind == Kind::strange && (letter < ' ' || letter > '~')) {
    return "byte " + std::to_string(letter);
  }
  const auto shown = token.text.substr(0, shown_max);
  return "`" + std::string(shown) + (shown.size() < token.text.size() ? "..." : "") + "`";
}

std::string place_of(std::string_view text, std::size_t at) {
  const auto before = text.substr(0, at);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const auto last_break = before.rfind('\n');
  const auto column = last_break == std::string_view::npos ? at + 1 : at - last_break;
  return "line " + std::to_string(line) + ", column " + std::to_string(column) + ": ";
}

}  // namespace tributary::reduce
