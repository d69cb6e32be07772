// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/communicator_options.h"
#include "host/error.h"

namespace tributary::host {

// An option of a protocol. It is given as text: in CommunicatorOptions::parameters, by a variable,
// or to tributary-bench.
struct Parameter {
  // A share is one of the ranks.
  enum class Kind : std::uint8_t { number, share, on_or_off, duration, word, text, list };

  std::string_view name;
  Kind kind = Kind::number;
  std::string_view otherwise = "";  // where it is not given; empty: there is none then
  std::string_view help = "";
  std::string_view option = "";  // of tributary-bench, if it has one
  bool agreed = false;           // the same on all ranks, which is seen to when they meet
  std::uint32_t least = 0;       // of a number
  std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  std::span<const std::string_view> words{};  // that there are, of a word
};

// "TRIBUTARY_TREES"
std::string variable_of(const Parameter& parameter);

// What its text is to be: "a number from 1 to 15", "on or off"; empty: anything.
std::string wanted(const Parameter& parameter);
bool is_valid(const Parameter& parameter, const std::string& text);
// The same, with an error that names the variable.
Result<void> check(const Parameter& parameter, const std::string& text);

// A share of so many ranks, rounded up: 0.8 of 5 are 4.
std::uint32_t ranks_of(double share, std::uint32_t world_size);

// What a protocol's parameters are: as they were given, or else by default. Preconditions: those
// that were given are checked, and those that are asked for are the protocol's.
class Values {
 public:
  Values(const Parameters& given, std::span<const Parameter> parameters)
      : given_(given), parameters_(parameters) {}

  bool given(std::string_view name) const { return given_.find(name) != given_.end(); }
  // Of numbers and durations that there are not: 0.
  std::uint32_t number(std::string_view name) const;
  double share(std::string_view name) const;
  bool on(std::string_view name) const;
  std::chrono::nanoseconds duration(std::string_view name) const;
  std::vector<std::string> list(std::string_view name) const;
  std::string text(std::string_view name) const;

  // Of all that have to be agreed on, in their order: by this number ranks compare them. It is the
  // same for what means the same.
  std::vector<std::uint32_t> agreed(std::uint32_t world_size) const;

 private:
  std::uint32_t compared_by(const Parameter& parameter, std::uint32_t world_size) const;

  const Parameters& given_;
  std::span<const Parameter> parameters_;
};

// What is said where another rank's differs from rank 0's: "was started with ...", "differs in ..."
std::string difference(const Parameter& parameter, std::uint32_t theirs, std::uint32_t rank_0s);

}  // namespace tributary::host
