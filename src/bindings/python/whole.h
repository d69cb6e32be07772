// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <pybind11/pybind11.h>

namespace tributary::python {

// The name of an argument.
template <std::size_t size>
struct Name {
  char text[size]{};

  consteval Name(const char (&given)[size]) { std::copy_n(given, size, text); }
};

// An argument that is a whole number from 0 on. pybind11 by itself answers a negative one with all
// signatures of the function.
template <typename T, Name name>
struct Whole {
  T value{};

  operator T() const { return value; }
};

// Throws ValueError or TypeError, which say what the argument may be, for all but a whole number
// from 0 to `most`; what the argument itself raises, unless that is a TypeError.
std::uint64_t whole_number(pybind11::handle given, const char* name, std::uint64_t most);

}  // namespace tributary::python

template <typename T, tributary::python::Name argument>
struct pybind11::detail::type_caster<tributary::python::Whole<T, argument>> {
  using Argument = tributary::python::Whole<T, argument>;
  PYBIND11_TYPE_CASTER(Argument, const_name("int"));

  bool load(handle given, bool /*converts*/) {
    constexpr auto most = std::numeric_limits<T>::max();
    value = {static_cast<T>(tributary::python::whole_number(given, argument.text, most))};
    return true;
  }
};
