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
  // A share is a share of the ranks.
  enum class Kind : std::uint8_t { number, share, on_or_off, duration, word, text, list };

  std::string_view name;
  Kind kind = Kind::number;
  std::string_view otherwise = "";  // the default; empty: there is none
  std::string_view help = "";
  std::string_view option = "";  // of tributary-bench, if it has one
  bool agreed = false;           // the same on all ranks, which they compare when they meet
  std::uint32_t least = 0;       // of a number
  std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  std::span<const std::string_view> words{};  // the words that it may be
};

// "TRIBUTARY_TREES"
std::string variable_of(const Parameter& parameter);

// Returns what its text has to be: "a number from 1 to 15", "on or off"; empty: anything.
std::string wanted(const Parameter& parameter);
bool is_valid(const Parameter& parameter, const std::string& text);
// Checks the same, with an error that names the variable.
Result<void> check(const Parameter& parameter, const std::string& text);

// The values of a protocol's parameters, as they were given or by default. Preconditions: those
// that were given are checked, and those that are asked for are the protocol's.
class Values {
 public:
  Values(const Parameters& given, std::span<const Parameter> parameters)
      : given_(given), parameters_(parameters) {}

  bool given(std::string_view name) const { return given_.find(name) != given_.end(); }
  // Numbers and durations that are not given, and have no default, are 0.
  std::uint32_t number(std::string_view name) const;
  double share(std::string_view name) const;
  bool on(std::string_view name) const;
  std::chrono::nanoseconds duration(std::string_view name) const;
  std::vector<std::string> list(std::string_view name) const;
  std::string text(std::string_view name) const;

  // Returns a number for each parameter that has to be agreed on, in their order, by which ranks
  // compare them. Texts that mean the same have the same number.
  std::vector<std::uint32_t> agreed(std::uint32_t world_size) const;

 private:
  std::uint32_t compared_by(const Parameter& parameter, std::uint32_t world_size) const;

  const Parameters& given_;
  std::span<const Parameter> parameters_;
};

// Returns what is said where another rank's value differs from rank 0's: "was started with ...",
// "differs in ..."
std::string difference(const Parameter& parameter, std::uint32_t theirs, std::uint32_t rank_0s);

}  // namespace tributary::host
