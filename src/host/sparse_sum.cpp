// SPDX-License-Identifier: BSD-3-Clause
#include "host/sparse_sum.h"

#include "host/element_types.h"
#include "reduce/scalar.h"

namespace tributary::host {
namespace {

// Calls f(index, value) for all that is not zero.
template <typename T, typename F>
void for_each(std::span<const SparsePart> parts, F f) {
  for (const auto& part : parts) {
    const auto present = part.present();
    const auto* const values = part.values();
    for (std::size_t i = 0; i < present; ++i) {
      if (const auto value = load<T>(values, i); !reduce::is_zero(value)) {
        f(part.index(i), value);
      }
    }
  }
}

template <typename T>
void join(std::span<const SparsePart> parts, SparseElements& sum) {
  std::size_t present = 0;
  for_each<T>(parts, [&present](std::size_t, T) { ++present; });
  if (dense_is_smaller(present, sum.count, sizeof(T))) {
    sum.values.resize(sum.count * sizeof(T));
    for_each<T>(parts,
                [&sum](std::size_t index, T value) { store(sum.values.data(), index, value); });
    return;
  }
  sum.indices.reserve(present);
  sum.values.resize(present * sizeof(T));
  for_each<T>(parts, [&sum](std::size_t index, T value) {
    store(sum.values.data(), sum.indices.size(), value);
    sum.indices.push_back(static_cast<std::uint32_t>(index));
  });
}

}  // namespace

SparseElements joined(std::span<const SparsePart> parts, std::size_t count,
                      wire::ElementType type) {
  SparseElements sum{count, type, {}, {}};
  with_sparse_type(type, [&]<typename T>(T) { join<T>(parts, sum); });
  return sum;
}

}  // namespace tributary::host
