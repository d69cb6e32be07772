// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <initializer_list>

namespace tributary::test {

// Returns a simpler shape that fails as well, found by trying harmless and smaller values of one
// field after the other, except the seed. Each field has `value`, a pointer to the member of the
// shape, and `harmless`, its simplest value.
template <typename Shape, typename Fields, typename Fails>
Shape simplest(const Shape& shape, const Fields& fields, const Fails& fails) {
  auto best = shape;
  for (bool better = true; better;) {
    better = false;
    for (const auto& field : fields) {
      const auto now = best.*field.value;
      if (field.value == &Shape::seed || now == field.harmless) {
        continue;
      }
      const auto towards = now > field.harmless ? field.harmless + (now - field.harmless) / 2 : now;
      for (const auto candidate : {field.harmless, towards, now - (now > field.harmless ? 1 : 0)}) {
        auto simpler = best;
        simpler.*field.value = candidate;
        if (candidate != now && fails(simpler)) {
          best = simpler;
          better = true;
          break;
        }
      }
    }
  }
  return best;
}

}  // namespace tributary::test
