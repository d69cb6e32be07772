// SPDX-License-Identifier: BSD-3-Clause
// Trees that workers send through: to take them away would cost their jobs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace tributary::controller {

// For so long switches take a silent job for alive, in seconds.
inline constexpr int silence_s = 10;

// One switch's part of a tree that is in use.
struct TreeUse {
  std::string switch_name;
  std::uint32_t job = 0;
  std::uint32_t tree = 0;
  std::optional<double> idle_s;  // since somebody below was heard; no value: not told
};

// Of a row of `tree.list`. Between two collectives a tree is not active, but its job may compute
// only: it counts as in use as long as the switches take a silent one for alive.
std::optional<TreeUse> use_of(const nlohmann::json& row);

}  // namespace tributary::controller
