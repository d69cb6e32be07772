// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

namespace tributary::fuzz {

// What a fuzzer gave, byte by byte; zeros when it is used up.
class Input {
 public:
  explicit Input(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  bool empty() const { return bytes_.empty(); }
  std::uint8_t next() {
    if (bytes_.empty()) {
      return 0;
    }
    const auto value = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return value;
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

}  // namespace tributary::fuzz
