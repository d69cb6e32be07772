// SPDX-License-Identifier: BSD-3-Clause
#include "property/partial_sums.h"

#include <algorithm>
#include <bit>

namespace tributary::test {
namespace {

Data slice(const Data& data, std::size_t from, std::size_t bytes) {
  const auto begin = data.begin() + static_cast<std::ptrdiff_t>(from);
  return {begin, begin + static_cast<std::ptrdiff_t>(bytes)};
}

std::vector<Data> without(const std::vector<Data>& inputs, std::uint32_t missing) {
  std::vector<Data> some;
  for (std::size_t rank = 0; rank < inputs.size(); ++rank) {
    if ((missing >> rank & 1) == 0) {
      some.push_back(inputs[rank]);
    }
  }
  return some;
}

}  // namespace

bool PartialSums::can_be(const Data& result) {
  for (std::size_t from = 0; from < result.size(); from += reduction_.packet_bytes) {
    const auto bytes = std::min(reduction_.packet_bytes, result.size() - from);
    if (!can_be(from, slice(result, from, bytes))) {
      return false;
    }
  }
  return true;
}

bool PartialSums::can_be(std::size_t from, const Data& packet) {
  auto& known = known_[from];
  if (std::find(known.begin(), known.end(), packet) != known.end()) {
    return true;
  }
  std::vector<Data> inputs;
  for (const auto& input : reduction_.inputs) {
    inputs.push_back(slice(input, from, packet.size()));
  }
  const auto missing_max = inputs.size() - reduction_.quorum;
  for (std::uint32_t missing = 0; missing >> inputs.size() == 0; ++missing) {
    if (static_cast<std::size_t>(std::popcount(missing)) <= missing_max &&
        reduced(without(inputs, missing), reduction_.type, reduction_.op) == packet) {
      known.push_back(packet);
      return true;
    }
  }
  return false;
}

}  // namespace tributary::test
