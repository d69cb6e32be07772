// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tributary::reduce {

// A Token is a word of the language, with its place in the text. A strange one is a character that
// begins no word.
struct Token {
  enum class Kind : std::uint8_t { name, number, symbol, end, strange };

  Kind kind = Kind::end;
  std::string_view text;
  std::size_t at = 0;

  bool is(std::string_view symbol) const { return kind == Kind::symbol && text == symbol; }
};

// Returns the first token at or behind `from`, in a text that outlives it.
Token next_token(std::string_view text, std::size_t from);

// Returns the token for people: in quotes, and readable whatever it is.
std::string quoted(const Token& token);

// Returns a place for people, such as "line 1, column 16: ".
std::string place_of(std::string_view text, std::size_t at);

}  // namespace tributary::reduce
