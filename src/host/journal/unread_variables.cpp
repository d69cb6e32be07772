// SPDX-License-Identifier: BSD-3-Clause
#include "host/journal/unread_variables.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <numeric>
#include <set>
#include <string_view>
#include <unistd.h>
#include <utility>

#include "host/journal/log.h"
#include "host/protocol.h"
#include "host/variables.h"

namespace tributary::host {
namespace {

constexpr std::string_view variable_prefix = "TRIBUTARY_";

// These are read by programs, bindings, tools and tests, which share their environment with ranks.
constexpr const char* of_others[] = {
    "TRIBUTARY_ALLOCATIONS",
    "TRIBUTARY_BENCH",
    "TRIBUTARY_BUILD",
    "TRIBUTARY_LAB_LOGS",
    "TRIBUTARY_LOSSLESS_SECONDS",
    "TRIBUTARY_MPI_ENABLE",
    "TRIBUTARY_MPI_SHARE_MACHINE",
    "TRIBUTARY_MPI_THRESHOLD",
    "TRIBUTARY_NCCL_CONNECT_TIMEOUT",
    "TRIBUTARY_SOCKET",
    "TRIBUTARY_SOFT_ROCE",
    "TRIBUTARY_SSH",
    "TRIBUTARY_TESTS_OF_MPI4PY",
};

// Returns what the library looks for, whatever comes of that, and what others read.
std::set<std::string, std::less<>> known_variables() {
  const Variables variables;
  (void)settings_of(variables);
  auto known = variables.looked_for();
  known.insert(std::begin(of_others), std::end(of_others));
  return known;
}

// Returns how many letters are to be put in, left out or replaced.
std::size_t letters_apart(std::string_view one, std::string_view other) {
  std::vector<std::size_t> row(other.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < one.size(); ++i) {
    auto diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < other.size(); ++j) {
      const auto replaced = diagonal + (one[i] == other[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

// Returns null if the name is none of them misspelt.
const std::string* nearest_of(const std::string& name,
                              const std::set<std::string, std::less<>>& known) {
  constexpr std::size_t misspelt_letters_max = 3;
  const auto away = [&](const std::string& other) { return letters_apart(name, other); };
  const auto found = std::ranges::min_element(known, {}, away);
  const auto letters = (name.size() - variable_prefix.size()) / 3;
  return found != known.end() && away(*found) <= std::min(letters, misspelt_letters_max) ? &*found
                                                                                         : nullptr;
}

std::vector<std::string> variables_in_environment() {
  std::vector<std::string> names;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto name = text.substr(0, text.find('='));
    if (text.starts_with(variable_prefix) && text.size() > name.size() + 1) {
      names.emplace_back(name);
    }
  }
  std::ranges::sort(names);
  return names;
}

// "a, b and c"
std::string names_text(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  }
  return text;
}

}  // namespace

std::string unknown_variables(const std::vector<std::string>& names) {
  const auto known = known_variables();
  std::vector<std::string> unknown;
  for (const auto& name : names) {
    if (!known.contains(name)) {
      const auto* const meant = nearest_of(name, known);
      unknown.push_back(meant == nullptr ? name : name + " (is it " + *meant + "?)");
    }
  }
  return unknown.empty() ? ""
                         : "nothing reads " + names_text(unknown) +
                               " of the environment; docs/reference/library.md lists the variables "
                               "that there are";
}

std::string idle_variables(const std::vector<std::string>& names,
                           const CommunicatorOptions& options) {
  const auto* const chosen = protocol_of(options);
  if (options.algorithm == ring_algorithm || chosen == nullptr) {
    return "";  // the ring is asked for to compare, with the same environment
  }
  std::vector<std::string> idle;
  for (const auto* parameter : protocol_parameters()) {
    // The default protocol has a part in what others leave to it.
    if (!has_parameter(*chosen, parameter->name) &&
        !has_parameter(default_protocol(), parameter->name) &&
        options.parameters.contains(parameter->name) &&
        std::ranges::binary_search(names, variable_of(*parameter))) {
      idle.push_back(variable_of(*parameter));
    }
  }
  return idle.empty() ? ""
                      : "by algorithm " + options.algorithm + " " + names_text(idle) +
                            (idle.size() == 1 ? " counts" : " count") + " for nothing";
}

void tell_of_unread_variables(const CommunicatorOptions& options) {
  static std::atomic<bool> told = false;
  if (!check_parameters(options) || told.exchange(true)) {
    return;
  }
  const auto level = log_level_of(options);
  const auto names = variables_in_environment();
  const auto say = [&](LogLevel of_line, const std::string& line) {
    if (of_line <= level && !line.empty()) {
      tell(options, line);
    }
  };
  say(LogLevel::warn, unknown_variables(names));
  say(LogLevel::notice, idle_variables(names, options));
}

}  // namespace tributary::host
