// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

#include "host/call.h"
#include "host/sparse_vector.h"
#include "reduce/scalar.h"
#include "unit/host/values.h"

namespace tributary::host::test {

// Whether a rank has an element.
using Presence = std::function<bool(std::uint32_t rank, std::size_t index)>;

// Returns a presence of so many elements in a thousand, drawn for each rank independently.
inline Presence drawn(std::uint32_t permille) {
  return [permille](std::uint32_t rank, std::size_t index) {
    const auto mixed = (index + 1) * 0x9e3779b97f4a7c15ULL ^ (rank + 1) * 0xd1b54a32d192ed03ULL;
    return (mixed * 0xd6e8feb86659fd93ULL >> 33) % 1000 < permille;
  };
}

// Small whole numbers, zeros among them: the sum of up to 16 is exact in every type of floats.
inline int whole_number(std::uint32_t rank, std::size_t index) {
  return static_cast<int>((index * 7 + rank * 13) % 17) - 8;
}

template <typename T>
T from_whole(int number) {
  if constexpr (reduce::is_float16<T>) {
    return T(static_cast<float>(number));
  } else {
    return static_cast<T>(number);
  }
}

// The inputs of all ranks of a sparse allreduce.
class SparseVectors {
 public:
  SparseVectors(std::uint32_t ranks, std::size_t count, wire::ElementType type,
                const Presence& is_present)
      : count_(count), type_(type), indices_(ranks), values_(ranks), sum_(count) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      for (std::size_t index = 0; index < count; ++index) {
        if (is_present(rank, index)) {
          indices_[rank].push_back(static_cast<std::uint32_t>(index));
          sum_[index] += whole_number(rank, index);
        }
      }
      values_[rank] = elements(indices_[rank].size(), [&](std::size_t i) {
        return whole_number(rank, indices_[rank][i]);
      });
    }
  }

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(indices_.size()); }
  SparseBuffers of(std::uint32_t rank) const {
    return {indices_[rank], values_[rank].data(), count_, type_, wire::Operator::sum};
  }
  // Returns all elements of the sum, added up without the code under test.
  Elements sum() const {
    return elements(count_, [this](std::size_t i) { return sum_[i]; });
  }

 private:
  Elements elements(std::size_t count, const std::function<int(std::size_t)>& number) const {
    Elements bytes(count * wire::element_bytes(type_));
    with_sparse_type(type_, [&]<typename T>(T) {
      for (std::size_t i = 0; i < count; ++i) {
        store(bytes.data(), i, from_whole<T>(number(i)));
      }
    });
    return bytes;
  }

  std::size_t count_;
  wire::ElementType type_;
  std::vector<std::vector<std::uint32_t>> indices_;
  std::vector<Elements> values_;
  std::vector<int> sum_;
};

inline Elements expanded(const SparseElements& sparse) {
  Elements bytes(sparse.count * wire::element_bytes(sparse.type));
  sparse.expand(bytes.data());
  return bytes;
}

}  // namespace tributary::host::test
