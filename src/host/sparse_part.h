// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "host/call.h"
#include "wire/cursor.h"
#include "wire/element.h"
#include "wire/endian.h"

namespace tributary::host {

// Tells whether all `count` elements take fewer bytes than `present` of them with an index each.
constexpr bool dense_is_smaller(std::size_t present, std::size_t count, std::size_t element_bytes) {
  return present * (sizeof(std::uint32_t) + element_bytes) > count * element_bytes;
}

// The `count` elements of a vector from `first` on.
struct SparseRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

enum class SparseForm : std::uint8_t { sparse, dense };

struct [[gnu::packed]] SparsePartHeader {
  SparseForm form = SparseForm::sparse;
  std::uint8_t reserved[3] = {};
  wire::be32 elements;
};
static_assert(sizeof(SparsePartHeader) == 8);

// A range of a vector as it goes from rank to rank, in one piece: a header; then indices in the
// vector, and behind them the elements that have these; or all elements of the range, where that
// takes fewer bytes. Indices and elements are little-endian.
class SparsePart {
 public:
  static constexpr std::size_t header_bytes = sizeof(SparsePartHeader);

  // Takes the elements that lie in the range.
  SparsePart(const SparseBuffers& buffers, SparseRange range);

  // Returns the bytes of the part that begins with this header; nothing if the range has no such
  // part.
  static std::optional<std::size_t> size_of(wire::Bytes header, SparseRange range,
                                            wire::ElementType type);
  // Returns the part that came; nothing unless its indices are strictly increasing and in the
  // range. Precondition: `bytes` are as many as size_of() says.
  static std::optional<SparsePart> parse(std::vector<std::byte> bytes, SparseRange range,
                                         wire::ElementType type);

  wire::Bytes bytes() const { return bytes_; }
  SparseRange range() const { return range_; }
  bool is_dense() const { return header().form == SparseForm::dense; }
  std::size_t present() const { return header().elements.value(); }
  // Returns the index in the vector of element i of those that are present.
  std::size_t index(std::size_t i) const {
    if (is_dense()) {
      return range_.first + i;
    }
    std::uint32_t index;
    std::memcpy(&index, indices() + i * sizeof index, sizeof index);
    return index;
  }
  const std::byte* values() const { return bytes_.data() + values_offset(); }

  // Adds a part of the same range and type.
  void add(const SparsePart& other);

 private:
  SparsePart(SparseRange range, wire::ElementType type, SparseForm form, std::size_t present);
  SparsePart(std::vector<std::byte> bytes, SparseRange range, wire::ElementType type)
      : bytes_(std::move(bytes)), range_(range), type_(type) {}

  const SparsePartHeader& header() const {
    return *reinterpret_cast<const SparsePartHeader*>(bytes_.data());
  }
  std::size_t values_offset() const {
    return header_bytes + (is_dense() ? 0 : present() * sizeof(std::uint32_t));
  }
  const std::byte* indices() const { return bytes_.data() + header_bytes; }
  std::byte* writable_indices() { return bytes_.data() + header_bytes; }
  std::byte* writable_values() { return bytes_.data() + values_offset(); }
  bool has_sound_indices() const;
  std::size_t united_with(const SparsePart& other) const;
  SparsePart merged_with(const SparsePart& other, std::size_t united) const;
  void make_dense();
  void add_in_place(const SparsePart& other);

  std::vector<std::byte> bytes_;
  SparseRange range_;
  wire::ElementType type_;
};

}  // namespace tributary::host
