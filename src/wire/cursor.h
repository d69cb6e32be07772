// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace tributary::wire {

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

// A cursor is the one way to look into received bytes: take<T>() yields a header that lies wholly
// inside the buffer, or nullptr. Headers have alignment 1, so any offset will do.
template <typename Byte>
class BasicCursor {
 public:
  explicit constexpr BasicCursor(std::span<Byte> bytes) : rest_(bytes) {}

  template <typename Header>
  constexpr auto take() {
    static_assert(alignof(Header) == 1, "wire headers are packed");
    using Pointer = std::conditional_t<std::is_const_v<Byte>, const Header*, Header*>;
    if (rest_.size() < sizeof(Header)) {
      return Pointer{nullptr};
    }
    auto* header = reinterpret_cast<Pointer>(rest_.data());
    rest_ = rest_.subspan(sizeof(Header));
    return header;
  }

  constexpr bool skip(std::size_t bytes) {
    if (rest_.size() < bytes) {
      return false;
    }
    rest_ = rest_.subspan(bytes);
    return true;
  }

  constexpr std::span<Byte> rest() const { return rest_; }

 private:
  std::span<Byte> rest_;
};

using Cursor = BasicCursor<const std::byte>;
using MutableCursor = BasicCursor<std::byte>;

}  // namespace tributary::wire
