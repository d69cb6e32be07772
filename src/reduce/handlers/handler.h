// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "wire/element.h"

namespace tributary::reduce {

// A Handler is an operator that somebody brought: a table (handlers/table.h) has it under a number.
class Handler {
 public:
  Handler() = default;
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;
  virtual ~Handler() = default;

  // Computes accumulator = accumulator op elements, of n elements each, which may be none. Nothing
  // need be aligned; the two do not overlap. It may run on several cores at once.
  virtual void combine(void* accumulator, const void* elements, std::size_t n) const = 0;
  virtual wire::ElementType type() const = 0;
  // Returns a name for people: what a native handler calls itself, or the text of an expression.
  virtual const std::string& name() const = 0;
  // Returns a digest of what the handler computes, the same on every machine; never 0.
  virtual std::uint64_t mark() const = 0;
  // Returns whether this is machine code that the administrator vouches for.
  virtual bool is_native() const = 0;
};

}  // namespace tributary::reduce
