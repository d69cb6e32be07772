// SPDX-License-Identifier: BSD-3-Clause
#include "property/partial_sums.h"

#include <algorithm>

namespace tributary::test {
namespace {

Data slice(const Data& data, std::size_t from, std::size_t bytes) {
  const auto begin = data.begin() + static_cast<std::ptrdiff_t>(from);
  return {begin, begin + static_cast<std::ptrdiff_t>(bytes)};
}

// Returns the reduction of those elements without the ranks that they lack.
Data reduced_without(const Exercise& exercise, const PartialResult& lacking) {
  const auto element = wire::element_bytes(exercise.type);
  std::vector<Data> present;
  for (std::uint32_t rank = 0; rank < exercise.inputs.size(); ++rank) {
    if (std::count(lacking.missing.begin(), lacking.missing.end(), rank) == 0) {
      present.push_back(
          slice(exercise.inputs[rank], lacking.first * element, lacking.count * element));
    }
  }
  return reduced(present, exercise.type, exercise.op);
}

}  // namespace

bool is_partial_sum(const Exercise& exercise, const Data& result,
                    const std::vector<PartialResult>& partial, std::size_t missing_max) {
  auto expected = exercise.expected;
  for (const auto& lacking : partial) {
    if (lacking.missing.empty() || lacking.missing.size() > missing_max ||
        lacking.first + lacking.count > exercise.elements) {
      return false;
    }
    const auto elements = reduced_without(exercise, lacking);
    const auto first = lacking.first * wire::element_bytes(exercise.type);
    std::copy(elements.begin(), elements.end(),
              expected.begin() + static_cast<std::ptrdiff_t>(first));
  }
  return result == expected;
}

}  // namespace tributary::test
