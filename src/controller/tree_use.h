// SPDX-License-Identifier: BSD-3-Clause
// Workers send through these trees: to take them away would cost their jobs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace tributary::controller {

// Switches take a silent job for alive for so long, in seconds.
inline constexpr int silence_s = 10;

// This is one switch's part of a tree that is in use.
struct TreeUse {
  std::string switch_name;
  std::uint32_t job = 0;
  std::uint32_t tree = 0;
  std::optional<double> idle_s;  // since somebody below was heard; no value: not told
};

// Reads a row of `tree.list`. Between two collectives a tree is not active, but its job may only be
// computing: it counts as in use as long as the switches take a silent one for alive.
std::optional<TreeUse> use_of(const nlohmann::json& row);

}  // namespace tributary::controller
