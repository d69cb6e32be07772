// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string_view>
#include <vector>

#include "input.h"
#include "reduce/handlers/expression.h"
#include "support/expression_reference.h"

// What a tenant may say: a type, how many elements, and a text. Nothing may crash or write beyond
// the elements; what compiles does what an evaluator of its own makes of the text, twice.
namespace {

using namespace tributary;

constexpr std::byte guard{0xa5};
constexpr std::size_t guard_bytes = 67;  // so that nothing is aligned
constexpr std::size_t elements_max = 40;

template <typename T>
class Elements {
 public:
  Elements(std::size_t n, std::uint8_t seed)
      : n_(n), bytes_(n * sizeof(T) + 2 * guard_bytes, guard) {
    for (std::size_t i = 0; i < n * sizeof(T); ++i) {
      data()[i] = static_cast<std::byte>((i + 1) * (seed | 1u) >> 2);
    }
  }
  std::byte* data() { return bytes_.data() + guard_bytes; }
  T operator[](std::size_t i) const {
    T element;
    std::memcpy(&element, bytes_.data() + guard_bytes + i * sizeof element, sizeof element);
    return element;
  }
  bool is_intact_around() const {
    const auto is_guard = [](std::byte byte) { return byte == guard; };
    const auto first = bytes_.begin() + guard_bytes;
    const auto last = first + static_cast<std::ptrdiff_t>(n_ * sizeof(T));
    return std::all_of(bytes_.begin(), first, is_guard) &&
           std::all_of(last, bytes_.end(), is_guard);
  }

 private:
  std::size_t n_;
  std::vector<std::byte> bytes_;
};

template <typename T>
void run(const reduce::Handler& handler, std::string_view text, std::size_t n, std::uint8_t seed) {
  Elements<T> acc(n, seed);
  Elements<T> in(n, static_cast<std::uint8_t>(seed * 7 + 3));
  for (int turn = 0; turn < 2; ++turn) {
    const auto acc_before = acc;
    const auto in_before = in;
    handler.combine(acc.data(), in.data(), n);
    assert(acc.is_intact_around() && in.is_intact_around());
    for (std::size_t i = 0; i < n; ++i) {
      const T theirs = in[i];
      const T before = in_before[i];
      assert(std::memcmp(&theirs, &before, sizeof theirs) == 0);
      assert(test::is_same(acc[i], test::expected<T>(text, acc_before[i], theirs)));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input({data, size});
  constexpr std::size_t facts = 3;
  const auto choice = input.next();
  const std::size_t n = input.next() % elements_max;
  const auto seed = input.next();
  const auto* const letters = reinterpret_cast<const char*>(data) + std::min(size, facts);
  const std::string_view text(letters, size - std::min(size, facts));
  const auto type = test::expression_types[choice % std::size(test::expression_types)];
  const auto handler = reduce::compile_expression(text, type);
  if (!handler) {
    assert(!handler.error().empty());
    return 0;
  }
  assert((*handler)->mark() != 0 && (*handler)->type() == type);
  test::with_expression_type(
      type, [&](auto element) { run<decltype(element)>(**handler, text, n, seed); });
  return 0;
}
