// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "support/frames.h"
#include "traffic/kind.h"

namespace tributary::test {

// Returns conditions with one port, which has one host.
inline traffic::Conditions conditions_of(traffic::Mode mode) {
  traffic::Conditions conditions;
  conditions.mode = mode;
  conditions.stations = {{mac(1), Ip{10, 0, 0, 1}, 1, {}, {}}};
  return conditions;
}

// Returns the kind of that name, with those options; null if there is none. Throws CLI::ParseError.
inline std::unique_ptr<traffic::TrafficKind> traffic_kind(std::string_view name,
                                                          traffic::Conditions& conditions,
                                                          const std::string& options) {
  for (auto& kind : traffic::traffic_kinds()) {
    if (kind->name() == name) {
      CLI::App app;
      kind->declare(app, conditions.mode);
      app.parse(options);
      kind->interpret(conditions);
      return std::move(kind);
    }
  }
  return nullptr;
}

}  // namespace tributary::test
