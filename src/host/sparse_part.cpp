// SPDX-License-Identifier: BSD-3-Clause
#include "host/sparse_part.h"

#include <algorithm>

#include "host/element_types.h"
#include "host/reduce_into.h"
#include "reduce/kernel.h"
#include "reduce/scalar.h"

namespace tributary::host {
namespace {

using Index = std::uint32_t;

// Returns the number of bytes behind a header.
std::size_t body_bytes(SparseForm form, std::size_t present, wire::ElementType type) {
  const auto each = wire::element_bytes(type) + (form == SparseForm::sparse ? sizeof(Index) : 0);
  return present * each;
}

// The indices of two sparse parts, walked through together.
struct Merge {
  const std::byte* ours;
  std::size_t our_count;
  const std::byte* theirs;
  std::size_t their_count;

  // Calls f(index, i, j) for every index that either has, in order: i is its place in ours, j in
  // theirs, and `nowhere` where it is not.
  static constexpr std::size_t nowhere = ~std::size_t{0};
  template <typename F>
  void for_each(F f) const {
    constexpr std::uint64_t behind_all = std::uint64_t{1} << 32;
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < our_count || j < their_count) {
      const std::uint64_t our = i < our_count ? load<Index>(ours, i) : behind_all;
      const std::uint64_t their = j < their_count ? load<Index>(theirs, j) : behind_all;
      const bool is_ours = our <= their;
      const bool is_theirs = their <= our;
      f(static_cast<Index>(is_ours ? our : their), is_ours ? i : nowhere, is_theirs ? j : nowhere);
      i += is_ours ? 1 : 0;
      j += is_theirs ? 1 : 0;
    }
  }
};

}  // namespace

SparsePart::SparsePart(SparseRange range, wire::ElementType type, SparseForm form,
                       std::size_t present)
    : bytes_(header_bytes + body_bytes(form, present, type)), range_(range), type_(type) {
  SparsePartHeader header;
  header.form = form;
  header.elements = static_cast<std::uint32_t>(present);
  std::memcpy(bytes_.data(), &header, sizeof header);
}

SparsePart::SparsePart(const SparseBuffers& buffers, SparseRange range)
    : SparsePart(range, buffers.type, SparseForm::sparse, 0) {
  const auto& all = buffers.indices;
  const auto begin = std::lower_bound(all.begin(), all.end(), range.first);
  const auto end = std::lower_bound(begin, all.end(), range.first + range.count);
  const auto present = static_cast<std::size_t>(end - begin);
  if (present == 0) {
    return;
  }
  *this = SparsePart(range, buffers.type, SparseForm::sparse, present);
  const auto skipped = static_cast<std::size_t>(begin - all.begin());
  const auto element_bytes = wire::element_bytes(type_);
  std::memcpy(writable_indices(), all.data() + skipped, present * sizeof(Index));
  std::memcpy(writable_values(), buffers.values + skipped * element_bytes, present * element_bytes);
  if (dense_is_smaller(present, range.count, element_bytes)) {
    make_dense();
  }
}

std::optional<std::size_t> SparsePart::size_of(wire::Bytes bytes, SparseRange range,
                                               wire::ElementType type) {
  SparsePartHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  const std::size_t present = header.elements.value();
  const bool is_sparse = header.form == SparseForm::sparse &&
                         !dense_is_smaller(present, range.count, wire::element_bytes(type));
  const bool is_dense = header.form == SparseForm::dense && present == range.count;
  if (!is_sparse && !is_dense) {
    return std::nullopt;
  }
  return header_bytes + body_bytes(header.form, present, type);
}

std::optional<SparsePart> SparsePart::parse(std::vector<std::byte> bytes, SparseRange range,
                                            wire::ElementType type) {
  SparsePart part(std::move(bytes), range, type);
  if (!part.is_dense() && !part.has_sound_indices()) {
    return std::nullopt;
  }
  return part;
}

bool SparsePart::has_sound_indices() const {
  const auto count = present();
  std::size_t least = range_.first;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t index = load<Index>(indices(), i);
    if (index < least || index >= range_.first + range_.count) {
      return false;
    }
    least = index + 1;
  }
  return true;
}

// Sparse parts are merged as long as that is smaller; what is dense once stays it.
void SparsePart::add(const SparsePart& other) {
  if (!is_dense() && !other.is_dense()) {
    const auto united = united_with(other);
    if (!dense_is_smaller(united, range_.count, wire::element_bytes(type_))) {
      *this = merged_with(other, united);
      return;
    }
  }
  make_dense();
  add_in_place(other);
}

// Returns how many indices are in either of the two.
std::size_t SparsePart::united_with(const SparsePart& other) const {
  std::size_t united = 0;
  const Merge merge{indices(), present(), other.indices(), other.present()};
  merge.for_each([&united](Index, std::size_t, std::size_t) { ++united; });
  return united;
}

SparsePart SparsePart::merged_with(const SparsePart& other, std::size_t united) const {
  SparsePart merged(range_, type_, SparseForm::sparse, united);
  const Merge merge{indices(), present(), other.indices(), other.present()};
  with_sparse_type(type_, [&]<typename T>(T) {
    auto* const to_indices = merged.writable_indices();
    auto* const to = merged.writable_values();
    const auto* const ours = values();
    const auto* const theirs = other.values();
    std::size_t at = 0;
    merge.for_each([&](Index index, std::size_t i, std::size_t j) {
      T value = i == Merge::nowhere ? load<T>(theirs, j) : load<T>(ours, i);
      if (i != Merge::nowhere && j != Merge::nowhere) {
        value = reduce::plus(value, load<T>(theirs, j));
      }
      store(to_indices, at, index);
      store(to, at, value);
      ++at;
    });
  });
  return merged;
}

void SparsePart::make_dense() {
  if (!is_dense()) {
    SparsePart dense(range_, type_, SparseForm::dense, range_.count);
    dense.add_in_place(*this);
    *this = std::move(dense);
  }
}

// Precondition: this part is dense.
void SparsePart::add_in_place(const SparsePart& other) {
  auto* const ours = writable_values();
  const auto* const theirs = other.values();
  if (other.is_dense()) {
    reduce_into(reduce::kernel(type_, wire::Operator::sum), wire::element_bytes(type_), ours,
                theirs, range_.count);
    return;
  }
  with_sparse_type(type_, [&]<typename T>(T) {
    const auto count = other.present();
    for (std::size_t i = 0; i < count; ++i) {
      const auto at = load<Index>(other.indices(), i) - range_.first;
      store(ours, at, reduce::plus(load<T>(ours, at), load<T>(theirs, i)));
    }
  });
}

}  // namespace tributary::host
