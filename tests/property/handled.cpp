// SPDX-License-Identifier: BSD-3-Clause
#include "property/handled.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "host/handlers.h"
#include "reduce/handlers/table.h"
#include "support/handlers.h"

namespace tributary::test {
namespace {

using wire::ElementType;

constexpr unsigned saturating = 0;
constexpr unsigned one_less = 1;
constexpr unsigned one_more = 2;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "the handlers of the test: %s\n", why.c_str());
  std::abort();
}

bool load_all() {
  const auto expression = [](unsigned number, const char* text) {
    if (auto loaded = load_handler(number, HandlerExpression{text, handled_type(number)});
        !loaded) {
      give_up(loaded.error().message);
    }
  };
  expression(saturating, "acc = min(acc + in, 127);");
  expression(one_more, "acc = acc + in + 1;");
  if (auto loaded = reduce::handlers().load(one_less, std::make_unique<OneLess>()); !loaded) {
    give_up(loaded.error());
  }
  return true;
}

template <typename T, typename Sum>
Data summed(const std::vector<Data>& inputs, Sum each_time, Sum most) {
  Data result(inputs.front().size());
  for (std::size_t at = 0; at < result.size(); at += sizeof(T)) {
    auto sum = static_cast<Sum>(each_time * static_cast<Sum>(inputs.size() - 1));
    for (const auto& input : inputs) {
      T value{};
      std::memcpy(&value, input.data() + at, sizeof value);
      sum += static_cast<Sum>(value);
    }
    const auto value = static_cast<T>(std::min(sum, most));
    std::memcpy(result.data() + at, &value, sizeof value);
  }
  return result;
}

}  // namespace

void load_handlers() {
  static const bool loaded = load_all();
  (void)loaded;
}

ElementType handled_type(unsigned number) {
  constexpr ElementType types[handled_kinds] = {ElementType::i8, ElementType::i32,
                                                ElementType::f32};
  return types[number];
}

// Saturating sums do not depend on the order as long as no element is below 0.
Data handled_data(Random& random, unsigned number, std::size_t elements, std::uint32_t rank) {
  auto data = random_data(random, handled_type(number), wire::Operator::sum, elements, rank);
  if (number == saturating) {
    std::for_each(data.begin(), data.end(), [](std::byte& byte) { byte &= std::byte{0x3f}; });
  }
  return data;
}

Data handled(const std::vector<Data>& inputs, unsigned number) {
  switch (number) {
    case saturating:
      return summed<std::int8_t, std::int64_t>(inputs, 0, 127);
    case one_less:  // modulo 2^32
      return summed<std::int32_t, std::int64_t>(inputs, -1, INT64_MAX);
    default:
      return summed<float, double>(inputs, 1, 1e30);
  }
}

}  // namespace tributary::test
