// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/host/opening.h"

#include <cstddef>
#include <span>

namespace tributary::host {
namespace {

// Returns the least number, where the greatest negated is given. (What ranks say is negated without
// an overflow, too.)
std::uint64_t least_of(std::int64_t greatest_negated) {
  return 0 - static_cast<std::uint64_t>(greatest_negated);
}

bool is_alike(std::int64_t greatest, std::int64_t greatest_negated) {
  return static_cast<std::uint64_t>(greatest) == least_of(greatest_negated);
}

}  // namespace

Call FlareOpening::call_for(const SparseBuffers& vector, std::uint64_t next_block) {
  const auto count = static_cast<std::int64_t>(vector.count);
  const auto count_negated = static_cast<std::int64_t>(least_of(count));
  const auto type = static_cast<std::int64_t>(vector.type);
  numbers_ = {static_cast<std::int64_t>(vector.indices.size()),
              static_cast<std::int64_t>(next_block),
              count,
              count_negated,
              type,
              -type};
  auto* const bytes = std::as_writable_bytes(std::span(numbers_)).data();
  return {Collective::allreduce,
          {bytes, bytes, numbers_.size(), wire::ElementType::i64, wire::Operator::max},
          0};
}

std::optional<std::string> FlareOpening::disagreement() const {
  const auto& [present, first_block, count, count_negated, type, type_negated] = numbers_;
  if (!is_alike(count, count_negated)) {
    return "the ranks' vectors differ in length, from " + std::to_string(least_of(count_negated)) +
           " to " + std::to_string(count) + " elements; all must give the same count";
  }
  if (!is_alike(type, type_negated)) {
    return "the ranks' vectors differ in type; all must have elements of the same one";
  }
  return std::nullopt;
}

}  // namespace tributary::host
