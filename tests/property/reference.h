// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "property/shape.h"
#include "wire/element.h"

// The expected result of a reduction, computed without any of the code under test. Floats are drawn
// so that every order of adding them up gives the same bits.
namespace tributary::test {

using Data = std::vector<std::byte>;

Data random_data(Random& random, wire::ElementType type, wire::Operator op, std::size_t elements,
                 std::uint32_t rank);

// Precondition: all inputs are equally long, and there is at least one.
Data reduced(const std::vector<Data>& inputs, wire::ElementType type, wire::Operator op);

}  // namespace tributary::test
