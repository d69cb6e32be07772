// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <any>
#include <array>
#include <cstddef>
#include <utility>

#include "packet/fate.h"

namespace tributary::engine {

// Settings are what the protocols of one logical switch are set to. Each that is on has a structure
// of its own, whose `row` is its place here. Packets of the others are ordinary traffic.
class Settings {
 public:
  // Switches a protocol on.
  template <typename Config>
  Config& emplace(Config config = {}) {
    return place<Config>().template emplace<Config>(std::move(config));
  }
  template <typename Config>
  void reset() {
    place<Config>().reset();
  }

  // Returns null where the protocol is off.
  template <typename Config>
  const Config* find() const {
    return std::any_cast<Config>(&of(index<Config>));
  }
  template <typename Config>
  Config* find() {
    return std::any_cast<Config>(&place<Config>());
  }
  // Precondition of both: the protocol is on.
  template <typename Config>
  const Config& get() const {
    return *find<Config>();
  }
  template <typename Config>
  Config& get() {
    return *find<Config>();
  }

  // Returns the settings of the protocol in that row; they have no value where it is off.
  const std::any& of(std::size_t row) const { return rows_[row]; }
  std::any& of(std::size_t row) { return rows_[row]; }
  bool empty() const {
    return std::none_of(rows_.begin(), rows_.end(),
                        [](const std::any& row) { return row.has_value(); });
  }

 private:
  template <typename Config>
  static constexpr auto index = static_cast<std::size_t>(Config::row);

  template <typename Config>
  std::any& place() {
    return of(index<Config>);
  }

  std::array<std::any, protocols_max> rows_;
};

}  // namespace tributary::engine
