// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace tributary::host {

// The means by which a collective is carried out.
enum class By : std::uint8_t { carrier, ring };

// What carries a call. `by_plan`: the ring has it because it is faster, though the carrier could
// carry it.
struct Means {
  By by = By::carrier;
  bool by_plan = false;

  bool operator==(const Means&) const = default;
};

// Tells what carries a call that goes in pieces: each chooses by its own size, and perhaps none as
// the whole call would. The largest counts, and of several the first.
class LargestPiece {
 public:
  // `otherwise` counts where no piece is begun.
  explicit LargestPiece(Means otherwise) : means_(otherwise) {}

  void begin(Means means, std::size_t bytes) {
    if (bytes > bytes_) {
      means_ = means;
      bytes_ = bytes;
    }
  }
  const Means& means() const { return means_; }

 private:
  Means means_;
  std::size_t bytes_ = 0;
};

}  // namespace tributary::host
