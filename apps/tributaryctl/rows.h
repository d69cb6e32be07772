// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "columns.h"

namespace tributary::ctl {

// Returns a value as people read it, "-" if there is none.
std::string plain(const nlohmann::json& value);

// Prints a table on standard output.
void print_rows(const nlohmann::json& rows, std::span<const Column> columns);

// Returns the rows of a result, without those of other switches.
nlohmann::json rows_of(const nlohmann::json& result, const std::string& switch_name);

}  // namespace tributary::ctl
