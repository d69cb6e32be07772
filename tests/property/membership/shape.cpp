// SPDX-License-Identifier: BSD-3-Clause
#include "property/membership/shape.h"

#include <algorithm>
#include <charconv>
#include <random>
#include <sstream>

#include "property/simplest.h"

namespace tributary::test {
namespace {

struct Field {
  std::string_view name;
  std::uint64_t MembershipShape::*value;
  std::uint64_t harmless;
};

constexpr Field fields[] = {
#define TRIBUTARY_ENTRY(name, harmless) {#name, &MembershipShape::name, harmless},
    TRIBUTARY_MEMBERSHIP_SHAPE(TRIBUTARY_ENTRY)
#undef TRIBUTARY_ENTRY
};

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}

  bool one_in(std::uint64_t n) { return random_() % n == 0; }
  std::uint64_t any_of(std::initializer_list<std::uint64_t> values) {
    return values.begin()[random_() % values.size()];
  }
  // Draws the field in one of `n` shapes.
  void sometimes(std::uint64_t n, std::uint64_t& field,
                 std::initializer_list<std::uint64_t> values) {
    const auto drawn = any_of(values);
    if (one_in(n)) {
      field = drawn;
    }
  }

 private:
  std::mt19937_64 random_;
};

bool is_possible(const MembershipShape& shape) {
  return shape.keepers >= 1 && shape.founders >= 1 && shape.span_ms >= 1 && shape.elements >= 1 &&
         shape.patience_ms >= 1;
}

}  // namespace

MembershipShape random_membership_shape(std::uint64_t seed) {
  Dice dice(seed);
  MembershipShape shape;
  shape.seed = seed;
  shape.keepers = dice.any_of({1, 1, 1, 2, 3});
  shape.secret = dice.any_of({0, 1});
  shape.founders = dice.any_of({1, 2, 2, 3, 4, 5, 8});
  shape.span_ms = dice.any_of({20, 300, 2000, 10'000, 30'000});
  dice.sometimes(2, shape.joins, {1, 2, 3, 6, 12});
  dice.sometimes(2, shape.deaths, {1, 2, 3, 6});
  dice.sometimes(3, shape.silences, {1, 2});
  dice.sometimes(3, shape.freezes, {1, 2, 4});
  shape.freeze_ms = dice.any_of({100, 1000, 5000, 20'000});
  dice.sometimes(4, shape.hangs, {1, 2});
  dice.sometimes(3, shape.leaves, {1, 2, 4});
  dice.sometimes(2, shape.regroups, {1, 2, 5, 10});
  shape.wish = dice.any_of({0, 0, 1, 3, 30});
  shape.patience_ms = dice.any_of({1, 100, 1000, 5000, 20'000});
  dice.sometimes(4, shape.foundings, {1, 3, 6});
  dice.sometimes(6, shape.restarts, {1, 2});
  dice.sometimes(3, shape.strangers, {1, 5, 20});
  dice.sometimes(4, shape.tampered, {1, 3});
  shape.word_us = dice.any_of({1, 100, 5000, 300'000, 2'000'000});
  shape.pieces = dice.any_of({0, 1});
  shape.calls_ms = dice.any_of({1, 20, 300});
  shape.elements = dice.any_of({1, 8, 40});
  dice.sometimes(3, shape.loss, {1, 20, 100});
  dice.sometimes(3, shape.duplicate, {1, 100});
  dice.sometimes(3, shape.stray, {10, 200});
  shape.stray_ms = dice.any_of({10, 1000, 5000});
  return shape;
}

std::string to_text(const MembershipShape& shape) {
  std::string text;
  for (const auto& field : fields) {
    if (shape.*field.value != field.harmless) {
      text += (text.empty() ? "" : " ") + std::string(field.name) + "=" +
              std::to_string(shape.*field.value);
    }
  }
  return text;
}

std::optional<MembershipShape> membership_shape_of(std::string_view text) {
  MembershipShape shape;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    const auto equals = std::min(word.find('='), word.size());
    const auto* const field = std::ranges::find(fields, word.substr(0, equals), &Field::name);
    if (field == std::end(fields) || equals == word.size()) {
      return std::nullopt;
    }
    const auto* const end = word.data() + word.size();
    const auto read = std::from_chars(word.data() + equals + 1, end, shape.*field->value);
    if (read.ec != std::errc{} || read.ptr != end) {
      return std::nullopt;
    }
  }
  return is_possible(shape) ? std::optional(shape) : std::nullopt;
}

MembershipShape shrink(const MembershipShape& shape,
                       const std::function<bool(const MembershipShape&)>& fails) {
  return simplest(shape, fields, [&](const MembershipShape& simpler) {
    return is_possible(simpler) && fails(simpler);
  });
}

}  // namespace tributary::test
