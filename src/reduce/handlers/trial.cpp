// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/handlers/trial.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "wire/element.h"

namespace tributary::reduce {
namespace {

constexpr std::byte guard{0xa5};
constexpr std::size_t guard_bytes = 64;

// A Block has elements between guards, at an address that is aligned to nothing, or to everything.
class Block {
 public:
  Block(std::size_t bytes, bool aligned)
      : bytes_(bytes),
        storage_(bytes + 3 * guard_bytes, guard),
        at_(offset_of(storage_.data(), aligned)) {}

  std::byte* data() { return storage_.data() + at_; }
  void fill(std::byte first, unsigned step) {
    for (std::size_t i = 0; i < bytes_; ++i) {
      data()[i] = static_cast<std::byte>(static_cast<unsigned>(first) + step * i);
    }
  }
  bool operator==(const Block& other) const {
    const auto* const ours = storage_.data() + at_;
    return std::equal(ours, ours + bytes_, other.storage_.data() + other.at_);
  }
  bool is_intact_around() const {
    const auto is_guard = [](std::byte byte) { return byte == guard; };
    const auto first = storage_.begin() + static_cast<std::ptrdiff_t>(at_);
    const auto last = first + static_cast<std::ptrdiff_t>(bytes_);
    return std::all_of(storage_.begin(), first, is_guard) &&
           std::all_of(last, storage_.end(), is_guard);
  }

 private:
  static std::size_t offset_of(const std::byte* storage, bool aligned) {
    const auto past = reinterpret_cast<std::uintptr_t>(storage) % guard_bytes;
    return 2 * guard_bytes - past + (aligned ? 0 : 3);
  }

  std::size_t bytes_;
  std::vector<std::byte> storage_;
  std::size_t at_;
};

std::string try_contents(const Handler& handler, std::size_t n, std::byte first, unsigned step) {
  const auto bytes = n * wire::element_bytes(handler.type());
  Block accumulator(bytes, n % 2 == 0);
  Block elements(bytes, n % 2 == 0);
  Block before(bytes, true);
  accumulator.fill(first, step);
  elements.fill(first, step);
  before.fill(first, step);
  handler.combine(accumulator.data(), elements.data(), n);
  if (!accumulator.is_intact_around() || !elements.is_intact_around()) {
    return "combine wrote beyond its " + std::to_string(n) + " elements; mend that";
  }
  return elements == before ? "" : "combine wrote to the elements; it may write to the accumulator";
}

// Tries the identity on a few elements, which are aligned as a handler may require.
std::string try_identity(const Handler& handler, void (*identity)(void*, std::size_t)) {
  constexpr std::size_t n = 17;
  const auto bytes = n * wire::element_bytes(handler.type());
  Block accumulator(bytes, true);
  Block elements(bytes, true);
  identity(accumulator.data(), n);
  identity(elements.data(), n);
  if (!accumulator.is_intact_around()) {
    return "identity wrote beyond its elements; mend that";
  }
  handler.combine(accumulator.data(), elements.data(), n);
  return accumulator == elements
             ? ""
             : "combine of its identity with itself is something else; mend one of them, or leave "
               "out identity";
}

}  // namespace

std::string try_out(const Handler& handler, void (*identity)(void* elements, std::size_t n)) {
  for (const std::size_t n : {0u, 1u, 2u, 7u, 64u, 255u}) {
    for (const auto& [first, step] : {std::pair{std::byte{0}, 0u}, std::pair{std::byte{0xff}, 0u},
                                      std::pair{std::byte{1}, 1u}}) {
      if (auto complaint = try_contents(handler, n, first, step); !complaint.empty()) {
        return complaint;
      }
    }
  }
  return identity != nullptr ? try_identity(handler, identity) : "";
}

}  // namespace tributary::reduce
