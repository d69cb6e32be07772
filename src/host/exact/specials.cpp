// SPDX-License-Identifier: BSD-3-Clause
#include "host/exact/specials.h"

#include "host/element_types.h"
#include "host/exact/formats.h"

namespace tributary::host::exact {
namespace {

template <typename Of>
std::uint8_t mark_of(typename Of::Bits bits) {
  if (Of::is_finite(bits)) {
    return 0;
  }
  if (Of::is_nan(bits)) {
    return nan_mark;
  }
  return Of::is_negative(bits) ? minus_infinity_mark : plus_infinity_mark;
}

// Precondition: there is a mark.
template <typename Of>
typename Of::Bits special_of(std::uint8_t marks) {
  if (marks == plus_infinity_mark) {
    return Of::beyond;
  }
  return marks == minus_infinity_mark ? static_cast<typename Of::Bits>(Of::sign | Of::beyond)
                                      : Of::nan;
}

}  // namespace

void find_specials(std::span<std::uint8_t> marks, const std::byte* elements,
                   wire::ElementType type) {
  with_float(type, [&]<typename T>(T) {
    for (std::size_t i = 0; i < marks.size(); ++i) {
      marks[i] = mark_of<Format<T>>(load<typename Format<T>::Bits>(elements, i));
    }
  });
}

void put_specials(std::byte* elements, std::span<const std::uint8_t> marks,
                  wire::ElementType type) {
  with_float(type, [&]<typename T>(T) {
    for (std::size_t i = 0; i < marks.size(); ++i) {
      if (marks[i] != 0) {
        store(elements, i, special_of<Format<T>>(marks[i]));
      }
    }
  });
}

}  // namespace tributary::host::exact
